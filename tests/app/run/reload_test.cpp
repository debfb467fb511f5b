#include "app/run/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lookout {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Configuration with_watch(double threshold, const std::string& source) {
  Configuration configuration;
  configuration.options.watches.emplace_back().name = "gate";
  configuration.options.results.threshold = threshold;
  configuration.options.camera.source = source;
  configuration.given = {{"watch.gate.model", "gate.pt"},
                         {"results.threshold", std::to_string(threshold)},
                         {"camera.source", source}};
  return configuration;
}

TEST(Reload, WhatCannotChangeAliveIsNamedAndStays) {
  const Configuration before = with_watch(0.5, "/dev/video0");
  const Configuration next = with_watch(0.7, "/dev/video1");
  const TakenOptions taken = take_options(before, next);
  EXPECT_THAT(taken.changed, ElementsAre("results.threshold"));
  EXPECT_THAT(taken.kept, ElementsAre("camera.source"));
  EXPECT_EQ(taken.options.results.threshold, 0.7);
  EXPECT_EQ(taken.options.camera.source, "/dev/video0");
}

TEST(Reload, AKeyThatIsGoneChanges) {
  const Configuration before = with_watch(0.5, "auto");
  Configuration next = before;
  next.given.erase("results.threshold");
  EXPECT_THAT(take_options(before, next).changed, ElementsAre("results.threshold"));
  EXPECT_THAT(take_options(before, before).changed, IsEmpty());
}

TEST(Reload, NamesOfWatchesBeginAndEndWithARestart) {
  const Configuration before = with_watch(0.5, "auto");
  Configuration next = before;
  next.given.erase("watch.gate.model");
  next.options.watches.clear();
  const TakenOptions taken = take_options(before, next);
  EXPECT_THAT(taken.kept, ElementsAre("watch.gate.model"));
  EXPECT_EQ(taken.options.watches.size(), 1U);
}

}  // namespace
}  // namespace lookout
