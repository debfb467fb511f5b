#include "tests/support/captured_log.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "pipeline/core/mutex.h"

namespace lookout {

class CapturedLog::Sink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  std::string text() const {
    const MutexLock lock(text_mutex_);
    return text_;
  }
  void wait_for(std::string_view part) {
    const MutexLock lock(text_mutex_);
    while (text_.find(part) == std::string::npos) logged_.wait(text_mutex_);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const MutexLock lock(text_mutex_);
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    text_.append(line.data(), line.size());
    logged_.notify_all();
  }
  void flush_() override {}

 private:
  mutable Mutex text_mutex_;
  ConditionVariable logged_;
  std::string text_ GUARDED_BY(text_mutex_);
};

CapturedLog::CapturedLog() : sink_(std::make_shared<Sink>()), before_(spdlog::default_logger()) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
}

CapturedLog::~CapturedLog() { spdlog::set_default_logger(before_); }

void CapturedLog::keep_debug() const { spdlog::default_logger()->set_level(spdlog::level::debug); }

std::string CapturedLog::text() const { return sink_->text(); }

void CapturedLog::wait_for(std::string_view part) const { sink_->wait_for(part); }

}  // namespace lookout
