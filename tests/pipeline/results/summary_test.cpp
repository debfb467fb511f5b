#include "pipeline/results/summary.h"
#include "pipeline/results/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsSupersetOf;

StatsSnapshot example_stats() {
  StatsSnapshot stats;
  stats.interval = std::chrono::seconds(3);
  stats.camera_fps = 30.3;
  stats.classified_fps = 29.9;
  stats.captured = 91;
  stats.classified = 90;
  stats.in_flight = 1;
  stats.skipped = 2;
  stats.inference = {milliseconds(2), milliseconds(14), milliseconds(23), milliseconds(1024)};
  return stats;
}

TEST(Summary, IsATableWithCounters) {
  EXPECT_THAT(summary_lines(example_stats(), 66),
              ElementsAre("summary of 3.0 s: camera 30.3 fps, classified 29.9 fps",
                          "91 captured = 90 classified + 0 dropped + 1 in flight", "2 skipped",
                          "ms               p50       p95       p99       max",
                          "age              0.0       0.0       0.0       0.0",
                          "capture          0.0       0.0       0.0       0.0",
                          "preprocess       0.0       0.0       0.0       0.0",
                          "inference        2.0      14.0      23.0    1024.0",
                          "total            0.0       0.0       0.0       0.0"));
}

TEST(Summary, OfANarrowTerminalBreaksBetweenFiguresAndHasFewerPercentiles) {
  EXPECT_THAT(summary_lines(example_stats(), 26),
              IsSupersetOf({"summary of 3.0 s:", "camera 30.3 fps,", "classified 29.9 fps",
                            "91 captured =", "90 classified +", "0 dropped + 1 in flight",
                            "ms             p50     max", "inference      2.0  1024.0"}));
  EXPECT_THAT(
      summary_lines(example_stats(), 40),
      IsSupersetOf({"ms             p50     p99     max", "inference      2.0    23.0  1024.0"}));
}

TEST(Summary, FitsTheWidth) {
  for (std::size_t columns = 26; columns < 80; ++columns) {
    for (const std::string& line : summary_lines(example_stats(), columns)) {
      EXPECT_LE(line.size(), columns) << line;
    }
  }
}

}  // namespace
}  // namespace lookout
