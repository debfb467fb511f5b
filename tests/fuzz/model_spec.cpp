// Bytes as an archive's metadata.json, and as its labels: a spec, or Error(kBadData).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pipeline/archive/metadata.h"
#include "pipeline/core/error.h"
#include "pipeline/core/model_spec.h"

namespace {

template <typename Parse>
void try_to(Parse parse) {
  try {
    static_cast<void>(parse());
  } catch (const lookout::Error& error) {
    if (error.kind() != lookout::ErrorKind::kBadData) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_to([&text] { return lookout::parse_metadata(text); });
  try_to([&text] { return lookout::parse_labels(text); });
  return 0;
}
