#include "platform/changes_reporter.h"

#include <gtest/gtest.h>

#include "tests/fakes.h"

namespace lookout {
namespace {

class ChangesReporterTest : public testing::Test {
 protected:
  void report(const std::string& label) {
    Result result;
    result.sequence = sequence_++;
    if (!label.empty()) result.top = {{0, label, 0.9F}, {1, "second", 0.1F}};
    reporter_.report(result, {});
  }

  FakeReporter::Log log_;
  ChangesReporter reporter_{std::make_unique<FakeReporter>(log_)};
  std::uint64_t sequence_ = 0;
};

TEST_F(ChangesReporterTest, PassesAResultOnWhenTheBestLabelDiffersFromTheLast) {
  for (const char* label : {"cat", "cat", "dog", "dog", "cat", "", "", "cat"}) report(label);
  EXPECT_EQ(log_.sequences, (std::vector<std::uint64_t>{0, 2, 4, 5, 7}));
}

TEST_F(ChangesReporterTest, TheFirstResultIsNewEvenWithoutALabel) {
  report("");
  EXPECT_EQ(log_.sequences.size(), 1U);
}

TEST_F(ChangesReporterTest, SaysItAgainAfterTheCameraWasAway) {
  report("cat");
  reporter_.status({false, {}});
  reporter_.status({true, {}});
  report("cat");
  report("cat");
  EXPECT_EQ(log_.sequences, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(log_.statuses.size(), 2U);
}

TEST_F(ChangesReporterTest, StatisticsAndBeatsArePassedOn) {
  reporter_.tick({});
  reporter_.beat();
  EXPECT_EQ(log_.ticks.size(), 1U);
  EXPECT_EQ(log_.beats, 1);
}

}  // namespace
}  // namespace lookout
