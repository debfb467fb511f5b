#include "platform/cameras/camera_controls.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/support/source_testing.h"

namespace lookout {

bool operator==(const ControlSetting& a, const ControlSetting& b) {
  return a.name == b.name && a.values == b.values;
}

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FindControl camera_with(const std::map<std::string, ControlRange>& controls) {
  return [=](const std::string& name) -> std::optional<ControlRange> {
    const auto found = controls.find(name);
    if (found == controls.end()) return std::nullopt;
    return found->second;
  };
}

const FindControl kNone = camera_with({});

TEST(CameraControlsTest, FocusIsContinuousWhereThereIsAutofocus) {
  EXPECT_THAT(settings_of("csi://0", {}, camera_with({{"AfMode", {0, 2}}})),
              ElementsAre(ControlSetting{"AfMode", {2}}));
  EXPECT_THAT(settings_of("csi://0", {}, camera_with({{"AfMode", {0, 1}}})), IsEmpty());
  EXPECT_THAT(settings_of("csi://0", {}, kNone), IsEmpty());
}

TEST(CameraControlsTest, LensPositionEndsAutofocus) {
  CameraControls controls;
  controls.lens_position = 0;
  EXPECT_THAT(settings_of("csi://0", controls,
                          camera_with({{"AfMode", {0, 2}}, {"LensPosition", {0, 32}}})),
              ElementsAre(ControlSetting{"AfMode", {0}}, ControlSetting{"LensPosition", {0}}));
}

TEST(CameraControlsTest, FlickerIsTwiceTheFrequencyOfTheMains) {
  const auto camera = camera_with({{"AeFlickerMode", {0, 1}}, {"AeFlickerPeriod", {100, 1000000}}});
  CameraControls controls;
  controls.flicker = 50;
  EXPECT_THAT(settings_of("csi://0", controls, camera),
              ElementsAre(ControlSetting{"AeFlickerMode", {1}},
                          ControlSetting{"AeFlickerPeriod", {10000}}));
  controls.flicker = 60;
  EXPECT_THAT(
      settings_of("csi://0", controls, camera),
      ElementsAre(ControlSetting{"AeFlickerMode", {1}}, ControlSetting{"AeFlickerPeriod", {8333}}));
}

TEST(CameraControlsTest, ExposureAndGainAreFixed) {
  CameraControls controls;
  controls.shutter = 20000;
  controls.gain = 4;
  EXPECT_THAT(
      settings_of("csi://0", controls,
                  camera_with({{"ExposureTime", {100, 66666}}, {"AnalogueGain", {1, 16}}})),
      ElementsAre(ControlSetting{"ExposureTime", {20000}}, ControlSetting{"AnalogueGain", {4}}))
      << "until libcamera 0.5";
  EXPECT_THAT(
      settings_of("csi://0", controls,
                  camera_with({{"ExposureTime", {100, 66666}},
                               {"ExposureTimeMode", {0, 1}},
                               {"AnalogueGain", {1, 16}},
                               {"AnalogueGainMode", {0, 1}}})),
      ElementsAre(ControlSetting{"ExposureTimeMode", {1}}, ControlSetting{"ExposureTime", {20000}},
                  ControlSetting{"AnalogueGainMode", {1}}, ControlSetting{"AnalogueGain", {4}}));
}

TEST(CameraControlsTest, WhiteBalanceIsByNameOrGains) {
  CameraControls controls;
  controls.awb = "daylight";
  EXPECT_THAT(settings_of("csi://0", controls, camera_with({{"AwbMode", {0, 7}}})),
              ElementsAre(ControlSetting{"AwbMode", {5}}));
  controls.awb = "auto";
  controls.awb_gains = {1.5, 2};
  EXPECT_THAT(settings_of("csi://0", controls, camera_with({{"ColourGains", {0, 32}}})),
              ElementsAre(ControlSetting{"ColourGains", {1.5, 2}}));
}

TEST(CameraControlsTest, WhatTheCameraHasNotIsNamed) {
  CameraControls controls;
  controls.gain = 4;
  expect_error(
      ErrorKind::kUnsupported,
      AllOf(HasSubstr("csi://0"), HasSubstr("AnalogueGain"), HasSubstr("leave camera.gain out")),
      [&] { settings_of("csi://0", controls, kNone); });
}

TEST(CameraControlsTest, ValueOutOfTheCamerasRangeIsNamedWithTheRange) {
  CameraControls controls;
  controls.gain = 40;
  expect_error(ErrorKind::kUnsupported, AllOf(HasSubstr("camera.gain = 40"), HasSubstr("1 to 16")),
               [&] {
                 settings_of("csi://0", controls, camera_with({{"AnalogueGain", {1, 16}}}));
               });
}

TEST(CameraControlsTest, FirstKeyIsForTheMessageOfOtherCameras) {
  CameraControls controls;
  EXPECT_EQ(first_key(controls), "");
  controls.lens_position = 1;
  EXPECT_EQ(first_key(controls), "camera.lens-position");
  controls.awb = "indoor";
  EXPECT_EQ(first_key(controls), "camera.awb");
}

TEST(CameraControlsTest, FrameDurationIsWithinTheLimits) {
  EXPECT_EQ(frame_duration(30, {10000, 100000}), 33333);
  EXPECT_EQ(frame_duration(200, {10000, 100000}), 10000);
  EXPECT_EQ(frame_duration(1, {10000, 100000}), 100000);
}

}  // namespace
}  // namespace lookout
