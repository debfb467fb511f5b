#include "pipeline/torch/torch_operators.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <system_error>

#include "pipeline/archive/operator_library.h"
#include "pipeline/core/error.h"
#include "pipeline/torch/torch_network.h"

namespace lookout {
namespace {

// Of the other process. The loader's own sentence takes another way than a static initialiser's.
constexpr int kLoaded = 0;
constexpr int kRefused = 1;
constexpr int kThrew = 2;

OperatorAbi torch_abi() {
  return {Engine::kTorch, TORCH_VERSION,
          [](const std::string& version) { return version == TORCH_VERSION; }};
}

// Where the other process writes what went wrong.
int report_fd = -1;

[[noreturn]] void report(const std::string& sentence, int status) {
  const ssize_t written = ::write(report_fd, sentence.data(), sentence.size());
  ::_exit(written < 0 ? static_cast<int>(ErrorKind::kInternal) : status);
}

// Of the exception that is handled, or that ends the process.
[[noreturn]] void report_exception() {
  try {
    if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    const std::string text = first_sentence(error);
    report(text.substr(0, text.find(". ")), kThrew);
  } catch (...) {
  }
  report("it throws", kThrew);
}

[[noreturn]] void try_to_load(const std::string& library, int fd) {
  report_fd = fd;
  std::set_terminate(report_exception);  // not every exception passes the dynamic loader
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, output);
  try {
    load_operator_library(library, torch_abi());
  } catch (const Error& error) {
    report(error.what(), kRefused);
  } catch (...) {
    report_exception();
  }
  ::_exit(kLoaded);
}

// What was written until the other end is closed.
std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> piece{};
  for (ssize_t count = -1; count != 0;) {
    count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno != EINTR) break;
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void fail_to_try(const std::string& library) {
  throw Error(ErrorKind::kInternal,
              "operator library " + library +
                  " cannot be tried in another process: " + std::generic_category().message(errno));
}

void try_apart(const std::string& library) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_to_try(library);
  const pid_t child = ::fork();
  if (child == 0) try_to_load(library, ends[1]);
  ::close(ends[1]);
  const std::string sentence = child < 0 ? std::string() : read_all(ends[0]);
  ::close(ends[0]);
  if (child < 0) fail_to_try(library);
  const int status = wait_for(child);
  if (WIFSIGNALED(status)) {
    throw bad_operator_library(
        library, std::string("crashes while it is loaded (") + ::strsignal(WTERMSIG(status)) + ")");
  }
  if (WEXITSTATUS(status) == kRefused) throw Error(ErrorKind::kBadData, sentence);
  if (WEXITSTATUS(status) == kLoaded) return;
  throw bad_operator_library(library, "does not register its operators: " +
                                          (sentence.empty() ? "it ends the process" : sentence));
}

bool is_loaded(const std::string& library) {
  return ::dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

// The name that stands behind `start`, with its namespace.
std::string name_behind(const std::string& start, const std::string& message) {
  const auto found = message.find(start);
  if (found == std::string::npos) return {};
  const auto begin = found + start.size();
  const auto end = message.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.", begin);
  std::string name = message.substr(begin, end - begin);
  name.erase(name.find_last_not_of(":.") + 1);
  return name;
}

}  // namespace

void load_torch_operators(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    check_operator_library(library, torch_abi());
    if (is_loaded(library)) continue;
    try_apart(library);
    load_operator_library(library, torch_abi());
  }
}

std::string missing_operator(const std::string& message) {
  const std::string name = name_behind("Unknown builtin op: ", message);
  if (!name.empty()) return name;
  std::string type = name_behind("__torch__.torch.classes.", message);
  const auto dot = type.find('.');
  return dot == std::string::npos ? type : type.replace(dot, 1, "::");
}

}  // namespace lookout
