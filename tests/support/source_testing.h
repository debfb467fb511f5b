// Shared by the tests of sources.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/error.h"
#include "pipeline/mutex.h"
#include "pipeline/source.h"

namespace lookout {

// Enough for everything that does not wait.
inline constexpr std::chrono::milliseconds kTimeout{100};

// Expects an Error of that kind whose sentence matches.
inline void expect_error(ErrorKind kind, const testing::Matcher<std::string>& sentence,
                         const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_THAT(std::string(e.what()), sentence);
  }
}

// Reads until there is a frame, the end or a skipped element. A source that stays silent is a
// failure.
inline ReadStatus read_next(Source& source, Frame& frame) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const ReadStatus status = source.read(frame, kTimeout);
    if (status != ReadStatus::kTimeout) return status;
  }
  ADD_FAILURE() << "no frame came";
  return ReadStatus::kTimeout;
}

// Keeps the lines that are logged while it lives.
class CapturedLog {
 public:
  CapturedLog() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
  }
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::string text() const { return sink_->text(); }
  // Waits until the log holds `part`.
  void wait_for(std::string_view part) const { sink_->wait_for(part); }

 private:
  class Sink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
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

  std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  std::shared_ptr<spdlog::logger> before_;
};

// Like expect_error, with the action done as somebody whom file permissions concern.
inline void expect_error_unprivileged(ErrorKind kind, const std::string& part_of_sentence,
                                      const std::function<void()>& action) {
  constexpr int kNobody = 65534;
  constexpr int kNoPrivileges = 100;
  constexpr int kNothingThrown = 101;
  constexpr int kOtherSentence = 102;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      ::_exit(kNoPrivileges);
    }
    int status = kNothingThrown;
    try {
      action();
    } catch (const Error& e) {
      const bool found = std::string(e.what()).find(part_of_sentence) != std::string::npos;
      status = found ? e.exit_status() : kOtherSentence;
    }
    ::_exit(status);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoPrivileges) GTEST_SKIP() << "cannot become another user";
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(kind));
}

}  // namespace lookout
