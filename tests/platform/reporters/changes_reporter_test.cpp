#include "platform/reporters/stdout_reporters.h"

#include <gtest/gtest.h>

#include "tests/support/fakes.h"

namespace lookout {
namespace {

TEST(ChangesReporter, PassesAResultOnWhenTheStateChangedWithIt) {
  FakeReporter::Log log;
  ChangesReporter reporter(std::make_unique<FakeReporter>(log));
  Result result;
  for (const bool changed : {true, false, false, true, true, false}) {
    result.state_changed = changed;
    reporter.report(result, {});
    ++result.sequence;
  }
  EXPECT_EQ(log.sequences, (std::vector<std::uint64_t>{0, 3, 4}));
}

TEST(ChangesReporter, EverythingElseIsPassedOn) {
  FakeReporter::Log log;
  ChangesReporter reporter(std::make_unique<FakeReporter>(log));
  reporter.tick({});
  reporter.poll();
  reporter.status({false, {}});
  EXPECT_EQ(log.ticks.size(), 1U);
  EXPECT_EQ(log.beats, 1);
  EXPECT_EQ(log.statuses.size(), 1U);
}

}  // namespace
}  // namespace lookout
