#include "platform/cameras/libcamera_name.h"

#include <gmock/gmock.h>

namespace lookout {
namespace {

using testing::Optional;

const std::vector<LibcameraCamera> kCameras{{"/base/soc/i2c0mux/i2c@1/imx708@1a", "imx708_wide", 0},
                                            {"/base/soc/i2c0mux/i2c@0/imx477@1a", "imx477", 1},
                                            {"/base/soc/i2c0mux/i2c@2/imx708@1a", "imx708", 2},
                                            {"platform/vimc.0 Sensor B", "", 3}};

TEST(LibcameraNameTest, NumberIsAPlace) {
  EXPECT_THAT(find_camera(kCameras, "0"), Optional(0U));
  EXPECT_THAT(find_camera(kCameras, "3"), Optional(3U));
  EXPECT_EQ(find_camera(kCameras, "4"), std::nullopt);
  EXPECT_EQ(find_camera(kCameras, "99999999999999999999999"), std::nullopt);
  EXPECT_EQ(find_camera({}, "0"), std::nullopt);
}

TEST(LibcameraNameTest, ModelOrIdIsMeantBeforeAPartOfOne) {
  EXPECT_THAT(find_camera(kCameras, "imx708"), Optional(2U)) << "though a part of others, too";
  EXPECT_THAT(find_camera(kCameras, "/base/soc/i2c0mux/i2c@1/imx708@1a"), Optional(0U));
}

TEST(LibcameraNameTest, PartThatOneCameraHasIsEnough) {
  EXPECT_THAT(find_camera(kCameras, "wide"), Optional(0U));
  EXPECT_THAT(find_camera(kCameras, "477"), std::nullopt) << "a number is a place";
  EXPECT_THAT(find_camera(kCameras, "imx4"), Optional(1U));
  EXPECT_THAT(find_camera(kCameras, "Sensor"), Optional(3U));
}

TEST(LibcameraNameTest, WhatSeveralHaveOrNoneMeansNone) {
  EXPECT_EQ(find_camera(kCameras, "imx"), std::nullopt);
  EXPECT_EQ(find_camera(kCameras, "ov5647"), std::nullopt);
  EXPECT_EQ(find_camera({kCameras[1], kCameras[1]}, "imx477"), std::nullopt);
}

TEST(LibcameraNameTest, OrderIsThatOfRpicamHello) {
  const LibcameraCamera usb{"\\_SB_.PCI0/usb1/1-2", "webcam", 0};
  const LibcameraCamera first{"/base/soc/i2c0mux/i2c@1/imx708@1a", "imx708", 1};
  const LibcameraCamera second{"/base/soc/i2c0mux/i2c@0/imx477@1a", "imx477", 2};
  const std::vector<std::vector<LibcameraCamera>> orders{
      {usb, first, second}, {usb, second, first}, {first, usb, second},
      {first, second, usb}, {second, usb, first}, {second, first, usb}};
  for (const auto& cameras : orders) {
    EXPECT_EQ(to_text(order_cameras(cameras)), to_text({first, second}));
  }
}

TEST(LibcameraNameTest, ListTellsWhatCanBeAskedFor) {
  EXPECT_EQ(to_text({{"a", "imx477", 0}, {"b", "ov5647", 1}}), "0 imx477 (a), 1 ov5647 (b)");
}

}  // namespace
}  // namespace lookout
