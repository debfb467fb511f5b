#include "platform/cameras/sensor_mode.h"

#include <gmock/gmock.h>

namespace lookout {
namespace {

using testing::Optional;

// The lists of rpicam-hello --list-cameras.
const std::vector<SensorMode> kImx219{{640, 480, 10},   {1640, 1232, 10}, {1920, 1080, 10},
                                      {3280, 2464, 10}, {640, 480, 8},    {1640, 1232, 8},
                                      {1920, 1080, 8},  {3280, 2464, 8}};
const std::vector<SensorMode> kImx708{{1536, 864, 10}, {2304, 1296, 10}, {4608, 2592, 10}};
const std::vector<SensorMode> kImx477{
    {1332, 990, 10}, {2028, 1080, 12}, {2028, 1520, 12}, {4056, 3040, 12}};
const std::vector<SensorMode> kImx477Of12Bit{
    {1332, 990, 12}, {2028, 1080, 12}, {2028, 1520, 12}, {4056, 3040, 12}};
const std::vector<SensorMode> kOv5647{
    {640, 480, 10}, {1296, 972, 10}, {1920, 1080, 10}, {2592, 1944, 10}};
const SensorSize kSmall{298, 224};

TEST(SensorModes, WholeFieldOfTheKnownCameras) {
  EXPECT_THAT(choose_sensor_mode(kImx219, {3280, 2464}, kSmall),
              Optional(SensorMode{1640, 1232, 10}));
  EXPECT_THAT(choose_sensor_mode(kImx708, {4608, 2592}, kSmall),
              Optional(SensorMode{2304, 1296, 10}));
  EXPECT_THAT(choose_sensor_mode(kImx477, {4056, 3040}, kSmall),
              Optional(SensorMode{2028, 1520, 12}));
  EXPECT_THAT(choose_sensor_mode(kImx477Of12Bit, {4056, 3040}, kSmall),
              Optional(SensorMode{2028, 1520, 12}));
  EXPECT_THAT(choose_sensor_mode(kOv5647, {2592, 1944}, kSmall),
              Optional(SensorMode{1296, 972, 10}));
  EXPECT_THAT(choose_sensor_mode({{1456, 1088, 10}}, {1456, 1088}, kSmall),
              Optional(SensorMode{1456, 1088, 10}))
      << "imx296 has one mode";
}

TEST(SensorModes, OfAnUnknownSensorTheLargestModeIsItsField) {
  EXPECT_THAT(choose_sensor_mode(kImx708, {0, 0}, kSmall), Optional(SensorMode{2304, 1296, 10}));
}

TEST(SensorModes, ModeIsAsLargeAsThePicture) {
  EXPECT_THAT(choose_sensor_mode(kImx219, {3280, 2464}, {1920, 1080}),
              Optional(SensorMode{3280, 2464, 10}));
  EXPECT_THAT(choose_sensor_mode(kImx219, {3280, 2464}, {5000, 4000}),
              Optional(SensorMode{3280, 2464, 10}))
      << "the largest, when all are smaller";
}

TEST(SensorModes, MoreThanTwelveBitsAreTakenOnlyAlone) {
  EXPECT_THAT(choose_sensor_mode({{2028, 1520, 16}, {2028, 1520, 12}}, {4056, 3040}, kSmall),
              Optional(SensorMode{2028, 1520, 12}));
  EXPECT_THAT(choose_sensor_mode({{2028, 1520, 16}, {1332, 990, 16}}, {4056, 3040}, kSmall),
              Optional(SensorMode{2028, 1520, 16}));
}

TEST(SensorModes, WithoutModesLibcameraChooses) {
  EXPECT_EQ(choose_sensor_mode({}, {3280, 2464}, kSmall), std::nullopt);
}

// imx219's modes, as libcamera grants them.
const std::vector<GrantedSensorMode> kGranted{{{1640, 1232, 10}, 41.8, 1, 1},
                                              {{640, 480, 10}, 206.6, 0.39, 0.39},
                                              {{1920, 1080, 10}, 47.6, 0.585, 0.438},
                                              {{640, 480, 8}, 206.6, 0.39, 0.39}};

TEST(SensorModes, FasterRateTakesTheWidestFieldThatReachesIt) {
  EXPECT_EQ(choose_fast_mode(kGranted, 30).mode, (SensorMode{1640, 1232, 10}));
  EXPECT_EQ(choose_fast_mode(kGranted, 45).mode, (SensorMode{1920, 1080, 10}));
  EXPECT_EQ(choose_fast_mode(kGranted, 60).mode, (SensorMode{640, 480, 10}));
}

TEST(SensorModes, HeightCountsAsTheWidthDoes) {
  const std::vector<GrantedSensorMode> imx477{{{2028, 1520, 12}, 40, 1, 1},
                                              {{1332, 990, 10}, 120, 0.656, 0.651},
                                              {{2028, 1080, 12}, 50, 1, 0.71},
                                              {{2028, 1000, 12}, 50, 1, 0.4}};
  EXPECT_EQ(choose_fast_mode(imx477, 50).mode, (SensorMode{2028, 1080, 12}));
  EXPECT_EQ(to_text(imx477[2]),
            "2028x1080, 12 bit, 100 % of the field's width and 71 % of its height");
}

TEST(SensorModes, FirstModeIsKeptWhenItIsFastEnough) {
  EXPECT_EQ(
      choose_fast_mode({{{1296, 972, 10}, 43, 0.99, 0.99}, {{2592, 1944, 10}, 43, 1, 1}}, 30).mode,
      (SensorMode{1296, 972, 10}));
}

TEST(SensorModes, RateThatNoneReachesTakesTheFastest) {
  EXPECT_EQ(choose_fast_mode(kGranted, 500).mode, (SensorMode{640, 480, 10}));
}

TEST(SensorModes, UnknownRateIsTakenForFastEnough) {
  EXPECT_EQ(
      choose_fast_mode({{{640, 480, 10}, 0, 0.4, 0.4}, {{320, 240, 10}, 90, 0.3, 0.3}}, 60).mode,
      (SensorMode{640, 480, 10}));
}

TEST(SensorModes, TextTellsTheFieldOfView) {
  EXPECT_EQ(to_text(kGranted[0]), "1640x1232, 10 bit, the whole field of view");
  EXPECT_EQ(to_text(kGranted[1]),
            "640x480, 10 bit, 39 % of the field's width and 39 % of its height");
  EXPECT_EQ(to_text(GrantedSensorMode{{1296, 972, 10}, 43, 2560.0 / 2592, 1920.0 / 1944}),
            "1296x972, 10 bit, the whole field of view");
  EXPECT_EQ(to_text(GrantedSensorMode{{640, 480, 0}, 30, 0, 0}), "640x480");
}

}  // namespace
}  // namespace lookout
