#include "pipeline/profile/operator_profile.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

using std::chrono::milliseconds;

OperatorProfile::Call call(const char* name, milliseconds total, milliseconds self,
                           std::uint64_t frame = 0) {
  OperatorProfile::Call made;
  made.model = "m";
  made.name = name;
  made.total = total;
  made.self = self;
  made.frame = frame;
  return made;
}

TEST(OperatorProfile, EstimatesAllCallsFromTheSampledOnes) {
  OperatorProfile profile(0.25);
  profile.add_frame();
  profile.add_frame();
  profile.add(call("conv", milliseconds(10), milliseconds(6), 3));
  profile.add(call("conv", milliseconds(30), milliseconds(12), 7));
  profile.add(call("relu", milliseconds(2), milliseconds(2), 9));
  const OperatorTable table = profile.table();
  EXPECT_EQ(table.probability, 0.25);
  EXPECT_EQ(table.frames, 2U);
  ASSERT_EQ(table.rows.size(), 2U);
  const OperatorRow& conv = table.rows[0];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_EQ(conv.sampled, 2U);
  EXPECT_EQ(conv.calls, 8);
  EXPECT_EQ(conv.total, milliseconds(160));
  EXPECT_EQ(conv.self, milliseconds(72));
  EXPECT_EQ(conv.share, 0.9);
  EXPECT_EQ(table.rows[1].self, milliseconds(8));
  EXPECT_EQ(table.rows[1].share, 0.1);
}

TEST(OperatorProfile, TheLongestCallIsAsItWasMeasured) {
  OperatorProfile profile(0.1);
  profile.add(call("conv", milliseconds(10), milliseconds(10), 3));
  profile.add(call("conv", milliseconds(30), milliseconds(1), 7));
  profile.add(call("conv", milliseconds(20), milliseconds(20), 9));
  const OperatorRow row = profile.table().rows.at(0);
  EXPECT_EQ(row.max, milliseconds(30));
  EXPECT_EQ(row.max_frame, 7U);
}

TEST(OperatorProfile, TheLargestSelfTimeComesFirst) {
  OperatorProfile profile(1);
  profile.add(call("a", milliseconds(50), milliseconds(1)));
  profile.add(call("b", milliseconds(5), milliseconds(5)));
  profile.add(call("c", milliseconds(3), milliseconds(3)));
  const OperatorTable table = profile.table();
  EXPECT_EQ(table.rows[0].name, "b");
  EXPECT_EQ(table.rows[1].name, "c");
  EXPECT_EQ(table.rows[2].name, "a");
}

TEST(OperatorProfile, CallsAreApartByModelNameAndShapes) {
  OperatorProfile profile(1, OperatorGroup::kShape);
  OperatorProfile::Call made = call("conv", milliseconds(1), milliseconds(1));
  profile.add(made);
  made.shapes = "[1, 3]";
  profile.add(made);
  made.model = "other";
  profile.add(made);
  profile.add(made);
  const OperatorTable table = profile.table();
  EXPECT_EQ(table.group, OperatorGroup::kShape);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].model, "other");
  EXPECT_EQ(table.rows[0].calls, 2);
  EXPECT_EQ(table.rows[0].shapes, "[1, 3]");
}

TEST(OperatorProfile, AddsUpWhatCallsAllocate) {
  OperatorProfile profile(0.5);
  OperatorProfile::Call made = call("conv", milliseconds(1), milliseconds(1));
  made.bytes = 100;
  profile.add(made);
  profile.add(made);
  EXPECT_EQ(profile.table().rows.at(0).bytes, 400);
  EXPECT_FALSE(profile.table().peak_live_bytes.has_value());
  profile.add_peak_live_bytes(30);
  profile.add_peak_live_bytes(20);
  EXPECT_EQ(profile.table().peak_live_bytes, 30U);
}

TEST(OperatorProfile, LayersAndLabelsAreApart) {
  OperatorProfile profile(1, OperatorGroup::kLayer);
  OperatorProfile::Call made = call("conv", milliseconds(1), milliseconds(1));
  for (const char* layer : {"features.0", "features.1"}) {
    made.layer = layer;
    profile.add(made);
  }
  made.is_label = true;
  profile.add(made);
  const OperatorTable table = profile.table();
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].layer, "features.0");
  EXPECT_TRUE(table.rows[2].is_label);
}

TEST(OperatorProfile, IsEmptyWithoutCallsAndHasNoShareWithoutTime) {
  OperatorProfile profile(0.5);
  EXPECT_TRUE(profile.table().rows.empty());
  profile.add(call("none", milliseconds(0), milliseconds(0)));
  EXPECT_EQ(profile.table().rows.at(0).share, 0);
}

}  // namespace
}  // namespace lookout
