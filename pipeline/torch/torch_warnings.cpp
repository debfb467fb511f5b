#include "pipeline/torch/torch_warnings.h"

#include <c10/util/Exception.h>
#include <torch/version.h>

#include <cstddef>
#include <set>
#include <string>

#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxWarnings = 100;  // that differ

class WarningLog : public c10::WarningHandler {
 public:
#if TORCH_VERSION_MAJOR < 2
  void process(const c10::SourceLocation& /*place*/, const std::string& text,
               const bool /*verbatim*/) override {
    log(text);
  }
#else
  void process(const c10::Warning& warning) override { log(warning.msg()); }
#endif

 private:
  void log(const std::string& text) EXCLUDES(mutex_) {
    const std::string line = first_line(text);
    const MutexLock lock(mutex_);
    if (logged_.size() < kMaxWarnings && logged_.insert(line).second) {
      log_info("LibTorch warns: {}", line);
    }
  }

  Mutex mutex_;
  std::set<std::string> logged_ GUARDED_BY(mutex_);
};

}  // namespace

void log_torch_warnings() {
  static WarningLog log;
#if TORCH_VERSION_MAJOR < 2
  c10::Warning::set_warning_handler(&log);
#else
  c10::WarningUtils::set_warning_handler(&log);
#endif
}

}  // namespace lookout
