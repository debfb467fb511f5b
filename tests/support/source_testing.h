// Shared by the tests of sources.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "pipeline/core/error.h"
#include "pipeline/core/source.h"
#include "tests/support/captured_log.h"

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
