// A library that takes a signal when it is loaded.
#include <csignal>

extern "C" void taken(int /*signal*/) {}

namespace {

[[maybe_unused]] const auto kBefore = std::signal(SIGHUP, taken);

}  // namespace
