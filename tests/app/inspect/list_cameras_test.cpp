#include "app/inspect/list_cameras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include <nlohmann/json.hpp>

#include "paths.h"
#include "pipeline/core/error.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CameraSize size(int width, int height, std::vector<double> rates) {
  CameraSize size;
  size.width = size.max_width = width;
  size.height = size.max_height = height;
  size.rates = std::move(rates);
  return size;
}

// A USB camera with its metadata node, the sensor of a ribbon cable, a codec, and one of somebody
// else's.
Cameras cameras() {
  std::vector<CameraNode> nodes(5);
  nodes[0] = {
      "/dev/video0",
      {"/dev/v4l/by-id/usb-C920-index0"},
      NodeKind::kCamera,
      {"C920", "uvcvideo", "usb-1", 0},
      {{V4L2_PIX_FMT_YUYV, "YUYV 4:2:2", {size(320, 240, {30, 15}), size(1280, 720, {7.5})}},
       {V4L2_PIX_FMT_H264, "H.264", {size(1920, 1080, {30})}}},
      ""};
  nodes[1] = {"/dev/video1", {}, NodeKind::kMetadata, {"C920", "uvcvideo", "usb-1", 0}, {}, ""};
  nodes[2] = {"/dev/video2", {}, NodeKind::kBayer, {"unicam", "unicam", "csi", 0}, {}, ""};
  nodes[3] = {"/dev/video10", {}, NodeKind::kCodec, {"codec", "bcm2835-codec", "soc", 0}, {}, ""};
  nodes[4].path = "/dev/video11";
  nodes[4].problem = "no permission to open /dev/video11";
  return {nodes, {}, ""};
}

TEST(ListCameras, TextHasWhatAUserNeedsToChoose) {
  EXPECT_EQ(to_text(make_report(cameras(), {})),
            "/dev/video0: C920 (uvcvideo, usb-1), a camera\n"
            "    /dev/v4l/by-id/usb-C920-index0\n"
            "    YUYV YUYV 4:2:2\n"
            "      320x240 30 15 fps\n"
            "      1280x720 7.5 fps\n"
            "    formats that lookout cannot read: H264\n"
            "    run takes 320x240 YUYV at 30 fps\n"
            "/dev/video1: C920 (uvcvideo, usb-1), a camera's metadata\n"
            "/dev/video2: unicam (unicam, csi), a raw Bayer sensor: use csi://0\n"
            "/dev/video10: codec (bcm2835-codec, soc), a codec\n"
            "/dev/video11: no permission to open /dev/video11\n");
  EXPECT_THAT(to_text(make_report(Cameras(), {})), HasSubstr("there is no /dev/video* at all"));
}

TEST(ListCameras, NamesBeginNoLinesAndMoveNoCursor) {
  Cameras odd = cameras();
  odd.nodes[0].info.card = "C\n\x1b[2J";
  odd.nodes[0].links = {"/dev/v4l/by-id/\x1b[2J"};
  odd.nodes[0].formats[0].description = "Y\x1b[2J";
  odd.csi = {{"id\x1b[2J", "imx\n708"}};
  const std::string text = to_text(make_report(odd, {}));
  EXPECT_THAT(text, HasSubstr("/dev/video0: C\\n\\x1b[2J (uvcvideo, usb-1), a camera\n"));
  EXPECT_THAT(text, HasSubstr("csi://0: imx\\n708 (id\\x1b[2J), through libcamera\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ListCameras, PartOfACsiCameraComesWithTheWayOut) {
  Cameras pipeline = cameras();
  pipeline.nodes[2].kind = NodeKind::kPipeline;
  EXPECT_THAT(
      to_text(make_report(pipeline, {})),
      HasSubstr("/dev/video2: unicam (unicam, csi), a part of a CSI camera: use csi://0\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(make_report(pipeline, {})))["cameras"][2]["kind"],
            "pipeline");
}

TEST(ListCameras, ThoseOfLibcameraComeFirst) {
  Cameras both = cameras();
  both.csi = {{"/base/soc/i2c0mux", "imx708"}};
  EXPECT_THAT(to_text(make_report(both, {})),
              StartsWith("csi://0: imx708 (/base/soc/i2c0mux), through libcamera\n/dev/video0: "));
  const auto report = nlohmann::json::parse(to_json(make_report(both, {})));
  EXPECT_EQ(report["cameras"][0]["source"], "csi://0");
  EXPECT_EQ(report["cameras"][0]["card"], "imx708");
}

// An imx219, beside a camera that another program has.
Cameras csi_cameras() {
  Cameras cameras;
  cameras.csi = {{"/base/i2c@1/imx219", "imx219"}, {"/base/i2c@0/imx708", "imx708"}};
  SensorModes& modes = cameras.csi_modes["/base/i2c@1/imx219"];
  modes.modes = {{{640, 480, 10}, 206.612, 0.39024, 0.38961},
                 {{1640, 1232, 10}, 41.8, 1, 1},
                 {{3280, 2464, 0}, 0, 0, 0}};
  modes.taken = {1640, 1232, 10};
  cameras.csi_modes["/base/i2c@0/imx708"].problem = "camera csi://1 is in use";
  return cameras;
}

TEST(ListCameras, ModesOfASensorComeWithTheirRateAndField) {
  EXPECT_EQ(
      to_text(make_report(csi_cameras(), {})),
      "csi://0: imx219 (/base/i2c@1/imx219), through libcamera\n"
      "    640x480, 10 bit, up to 206.6 fps, 39 % of the field's width and 39 % of its height\n"
      "    1640x1232, 10 bit, up to 41.8 fps, the whole field of view\n"
      "    3280x2464\n"
      "    run takes the mode 1640x1232, 10 bit\n"
      "csi://1: imx708 (/base/i2c@0/imx708), through libcamera\n"
      "    its modes are not known: camera csi://1 is in use\n");
}

TEST(ListCameras, JsonHasTheModesOfASensor) {
  const auto cameras = nlohmann::json::parse(to_json(make_report(csi_cameras(), {})))["cameras"];
  const auto& modes = cameras[0]["sensor_modes"];
  ASSERT_EQ(modes.size(), 3U);
  EXPECT_EQ(modes[0], nlohmann::json::parse(R"({"width":640,"height":480,"bits":10,
      "max_fps":206.612,"field_width":0.39,"field_height":0.39,"taken":false})"));
  EXPECT_EQ(modes[1]["taken"], true);
  EXPECT_EQ(modes[2], nlohmann::json::parse(R"({"width":3280,"height":2464,"bits":null,
      "max_fps":null,"field_width":null,"field_height":null,"taken":false})"));
  EXPECT_FALSE(cameras[0].contains("problem"));
  EXPECT_EQ(cameras[1]["problem"], "camera csi://1 is in use");
  EXPECT_EQ(cameras[1]["sensor_modes"].size(), 0U);
}

TEST(ListCameras, WhyThereIsNoneIsSaidToWhoHasASensor) {
  Cameras without = cameras();
  without.csi_problem = "there is no libcamera";
  EXPECT_THAT(to_text(make_report(without, {})), EndsWith("\nthere is no libcamera\n"));
  without.nodes.erase(without.nodes.begin() + 2);
  EXPECT_THAT(to_text(make_report(without, {})), Not(HasSubstr("there is no libcamera")));
  EXPECT_EQ(nlohmann::json::parse(to_json(make_report(without, {})))["csi_problem"],
            "there is no libcamera");
}

TEST(ListCameras, TheChoiceFollowsTheOptions) {
  ModeWish wish;
  wish.width = 1280;
  wish.height = 720;
  EXPECT_THAT(to_text(make_report(cameras(), wish)),
              HasSubstr("run takes 1280x720 YUYV at 7.5 fps"));
}

TEST(ListCameras, TheChoiceIsThatOfARunWithTheModelAndTheView) {
  RunOptions options;
  options.camera.view.roi = {0, 0, 0.5, 1};
  const ModeWish without = wish_of_run(options);
  EXPECT_EQ(without.needed_width, 448);
  EXPECT_EQ(without.needed_height, 224);
  options.model.file = LOOKOUT_SELFTEST;
  EXPECT_EQ(wish_of_run(options).needed_width, 448);

  const TempDir directory;
  options.model.file = directory / "small.pt";
  write_archive(options.model.file, kMeanOfChannels, small_metadata(), kThreeLabels);
  const ModeWish small = wish_of_run(options);
  EXPECT_EQ(small.needed_width, 16);
  EXPECT_EQ(small.needed_height, 8);
  options.model.file = directory / "none.pt";
  EXPECT_THROW(wish_of_run(options), Error);
}

TEST(ListCameras, JsonHasAllOfIt) {
  const auto report = nlohmann::json::parse(to_json(make_report(cameras(), {})));
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["type"], "cameras");
  ASSERT_EQ(report["cameras"].size(), 5U);
  const auto& camera = report["cameras"][0];
  EXPECT_EQ(camera["source"], "/dev/video0");
  EXPECT_EQ(camera["kind"], "camera");
  EXPECT_EQ(camera["links"][0], "/dev/v4l/by-id/usb-C920-index0");
  EXPECT_EQ(camera["formats"][0]["sizes"][0]["rates"], (std::vector<double>{30, 15}));
  EXPECT_EQ(camera["formats"][1]["readable"], false);
  EXPECT_EQ(camera["choice"]["taken"]["width"], 320);
  EXPECT_EQ(camera["choice"]["rejected"].size(), 2U);
  EXPECT_EQ(report["cameras"][2]["advice"], "use csi://0");
  EXPECT_EQ(report["cameras"][4]["problem"], "no permission to open /dev/video11");
  EXPECT_EQ(nlohmann::json::parse(to_json(make_report(Cameras(), {})))["cameras"].size(), 0U);
}

}  // namespace
}  // namespace lookout
