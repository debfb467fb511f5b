#include "platform/system/results_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace lookout {
namespace {

int kept_fd = STDOUT_FILENO;

}  // namespace

void keep_stdout_for_results() {
  const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0) return;  // no descriptor is left: opening a model will say so
  dup2(STDERR_FILENO, STDOUT_FILENO);
  // Between lines of the log, whole lines.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  kept_fd = copy;
}

int results_fd() { return kept_fd; }

}  // namespace lookout
