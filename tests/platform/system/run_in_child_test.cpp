#include "platform/system/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

void expect_failure(ErrorKind kind, const std::string& sentence,
                    const std::function<std::string()>& work) {
  try {
    run_in_child("the work", work);
    ADD_FAILURE() << "it returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(error.what(), sentence);
  }
}

TEST(RunInChild, ReturnsTheTextAndChangesNothingHere) {
  int calls = 0;
  const std::string text = run_in_child("the work", [&calls] {
    ++calls;
    return std::string(100'000, 'x') + std::to_string(getpid());
  });
  EXPECT_EQ(text.substr(0, 100'000), std::string(100'000, 'x'));
  EXPECT_NE(text.substr(100'000), std::to_string(getpid()));
  EXPECT_EQ(calls, 0);
}

TEST(RunInChild, ThrowsTheErrorOfTheWork) {
  expect_failure(ErrorKind::kNoInput, "it is not there",
                 []() -> std::string { throw Error(ErrorKind::kNoInput, "it is not there"); });
  expect_failure(ErrorKind::kInternal, "something else",
                 []() -> std::string { throw std::runtime_error("something else"); });
}

TEST(RunInChild, NamesTheSignalOfACrash) {
  expect_failure(ErrorKind::kInternal, "the work ends with Killed (signal 9)", []() -> std::string {
    raise(SIGKILL);
    return {};
  });
}

TEST(RunInChild, EndsWorkThatNeverReturns) {
  try {
    run_in_child(
        "the work",
        []() -> std::string {
          for (;;) pause();
        },
        std::chrono::seconds(0));
    ADD_FAILURE() << "it returned";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the work takes more than 0 s");
  }
}

}  // namespace
}  // namespace lookout
