#include "platform/cameras/camera_nodes.h"

#include <linux/videodev2.h>

#include <filesystem>
#include <map>

#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kCapture = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;

NodeInfo node(const std::string& driver, std::uint32_t capabilities) {
  return {"a card", driver, "a bus", capabilities};
}

TEST(VideoDevices, AreInTheOrderOfTheirNumbers) {
  const TempDir root;
  EXPECT_THAT(video_devices(root.path()), IsEmpty());
  fs::create_directory(root / "dev");
  for (const char* name : {"video10", "video2", "media0", "video0"}) {
    root.write(std::string("dev/") + name, "");
  }
  EXPECT_THAT(video_devices(root.path()),
              ElementsAre(root / "dev/video0", root / "dev/video2", root / "dev/video10"));
}

TEST(KindOfNode, TheNodesOfARaspberryPi) {
  const CameraFormat bayer{V4L2_PIX_FMT_SBGGR10P, "10-bit Bayer BGBG Packed", {}};
  const CameraFormat yuyv{V4L2_PIX_FMT_YUYV, "YUYV 4:2:2", {}};
  EXPECT_EQ(kind_of(node("uvcvideo", kCapture), {yuyv}), NodeKind::kCamera);
  EXPECT_EQ(kind_of(node("uvcvideo", V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING), {}),
            NodeKind::kMetadata);
  EXPECT_EQ(kind_of(node("unicam", kCapture), {bayer}), NodeKind::kBayer);
  EXPECT_EQ(kind_of(node("unicam", kCapture), {bayer, yuyv}), NodeKind::kCamera);
  EXPECT_EQ(kind_of(node("unicam", kCapture | V4L2_CAP_IO_MC), {bayer, yuyv}), NodeKind::kPipeline);
  EXPECT_EQ(kind_of(node("bcm2835-codec", V4L2_CAP_VIDEO_M2M_MPLANE | V4L2_CAP_STREAMING), {}),
            NodeKind::kCodec);
  EXPECT_EQ(kind_of(node("bcm2835-isp", kCapture), {yuyv}), NodeKind::kImageProcessor);
  EXPECT_EQ(kind_of(node("vivid", V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_STREAMING), {}),
            NodeKind::kOther);
}

TEST(KindOfNode, WhatIsNoCameraComesWithTheWayOut) {
  EXPECT_THAT(not_a_camera("/dev/video0", NodeKind::kBayer).what(), HasSubstr("use csi://0"));
  EXPECT_THAT(not_a_camera("/dev/video0", NodeKind::kPipeline).what(), HasSubstr("use csi://0"));
  EXPECT_THAT(not_a_camera("/dev/video10", NodeKind::kCodec).what(),
              HasSubstr("/dev/video10 is not a camera but a codec; lookout list-cameras"));
}

// A /dev in a folder, whose nodes have the names and capabilities that a test wants.
class KnownCameraTest : public testing::Test {
 protected:
  KnownCameraTest() {
    fs::create_directories(root_.path() / "dev/v4l/by-id");
    fs::create_directories(root_.path() / "dev/v4l/by-path");
  }

  std::string path(const std::string& name) const { return root_.path() / "dev" / name; }
  void plug(const std::string& name, const std::string& card, const std::string& bus) {
    root_.write("dev/" + name, "");
    nodes_[path(name)] = {card, "uvcvideo", bus, kCapture};
  }
  void unplug(const std::string& name) {
    for (const std::string& link : links_to(path(name), root_.path())) fs::remove(link);
    fs::remove(path(name));
    nodes_.erase(path(name));
  }
  std::string link(const std::string& link, const std::string& name) const {
    const fs::path at = root_.path() / "dev/v4l" / link;
    fs::remove(at);
    fs::create_symlink("../../" + name, at);
    return at;
  }
  KnownCamera make(const std::string& given) {
    return KnownCamera(given, root_.path(), [this](const std::string& path) {
      const auto found = nodes_.find(fs::weakly_canonical(path));  // a link is followed
      return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    });
  }

  TempDir root_;
  std::map<std::string, NodeInfo> nodes_;
};

TEST_F(KnownCameraTest, LinksAreFoundByTheirTarget) {
  plug("video0", "A", "usb-1");
  plug("video1", "B", "usb-2");
  const std::string by_path = link("by-path/usb-1-index0", "video0");
  const std::string by_id = link("by-id/usb-A-index0", "video0");
  link("by-id/usb-B-index0", "video1");
  EXPECT_THAT(links_to(path("video0"), root_.path()), ElementsAre(by_id, by_path));
  EXPECT_THAT(links_to(path("video7"), root_.path()), IsEmpty());
}

TEST_F(KnownCameraTest, NodesComeWithTheirLinksOrWhyTheyCannotBeAsked) {
  plug("video2", "A", "usb-1");
  plug("video10", "B", "usb-2");
  const std::string by_id = link("by-id/usb-A-index0", "video2");
  const auto nodes = camera_nodes(root_.path());
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].path, path("video2"));
  EXPECT_THAT(nodes[0].links, ElementsAre(by_id));
  EXPECT_THAT(nodes[0].problem, HasSubstr(path("video2") + " is not a camera"));
  EXPECT_EQ(nodes[1].path, path("video10"));
  EXPECT_THAT(nodes[1].links, IsEmpty());
}

TEST_F(KnownCameraTest, IsWhereItWasSaidToBeUntilItWasSeen) {
  const KnownCamera camera = make(path("video0"));
  EXPECT_EQ(camera.find(), path("video0"));
}

TEST_F(KnownCameraTest, IsFoundByItsName) {
  plug("video0", "A", "usb-1");
  link("by-id/usb-A-index0", "video0");
  KnownCamera camera = make(path("video0"));
  camera.remember();
  unplug("video0");
  expect_error(ErrorKind::kNoInput, HasSubstr("usb-A-index0 is not there"), [&] { camera.find(); });
  plug("video0", "B", "usb-1");
  expect_error(ErrorKind::kNoInput, HasSubstr("is not there"), [&] { camera.find(); });
  plug("video2", "A", "usb-3");
  link("by-id/usb-A-index0", "video2");
  EXPECT_EQ(camera.find(), path("video2"));
  camera.remember();
  EXPECT_EQ(camera.find(), path("video2"));
}

TEST_F(KnownCameraTest, WithoutANameItsCardAndPortCount) {
  plug("video0", "A", "usb-1");
  KnownCamera camera = make(path("video0"));
  camera.remember();
  EXPECT_EQ(camera.find(), path("video0"));
  unplug("video0");
  plug("video0", "A", "usb-2");  // its twin
  plug("video1", "A", "usb-1");
  nodes_[path("video1")].capabilities = V4L2_CAP_META_CAPTURE;
  expect_error(ErrorKind::kNoInput, HasSubstr("A (usb-1) is not there"), [&] { camera.find(); });
  plug("video3", "A", "usb-1");
  EXPECT_EQ(camera.find(), path("video3"));
}

TEST_F(KnownCameraTest, TwinsThatShareALinkAreToldApartByTheirPorts) {
  plug("video0", "A", "usb-1");
  plug("video1", "A", "usb-2");
  link("by-id/usb-A-index0", "video0");
  KnownCamera first = make(path("video0"));
  KnownCamera second = make(path("video1"));
  first.remember();
  second.remember();
  unplug("video0");
  link("by-id/usb-A-index0", "video1");  // as udev does
  expect_error(ErrorKind::kNoInput, HasSubstr("A (usb-1) is not there"), [&] { first.find(); });
  EXPECT_EQ(second.find(), path("video1"));
  unplug("video1");
  plug("video0", "A", "usb-2");
  plug("video1", "A", "usb-1");
  link("by-id/usb-A-index0", "video0");
  EXPECT_EQ(first.find(), path("video1"));
  EXPECT_EQ(second.find(), path("video0"));
}

TEST_F(KnownCameraTest, ItsPortCountsMoreThanItsName) {
  plug("video0", "A", "usb-1");
  link("by-id/usb-A-index0", "video0");
  KnownCamera camera = make(path("video0"));
  camera.remember();
  plug("video1", "A", "usb-2");  // a twin that comes later
  link("by-id/usb-A-index0", "video1");
  EXPECT_EQ(camera.find(), path("video0"));
}

TEST_F(KnownCameraTest, TwinsWithNamesOfTheirOwnAreFoundAtOtherPorts) {
  plug("video0", "A", "usb-1");
  plug("video1", "A", "usb-2");
  link("by-id/usb-A_1-index0", "video0");
  link("by-id/usb-A_2-index0", "video1");
  KnownCamera camera = make(path("video0"));
  camera.remember();
  unplug("video0");
  plug("video2", "A", "usb-3");
  link("by-id/usb-A_1-index0", "video2");
  EXPECT_EQ(camera.find(), path("video2"));
}

TEST_F(KnownCameraTest, TheNodesOfOneCameraAreToldApartByTheirLinks) {
  plug("video0", "A", "usb-1");
  plug("video2", "A", "usb-1");
  link("by-id/usb-A-index0", "video0");
  link("by-id/usb-A-index2", "video2");
  KnownCamera camera = make(path("video2"));
  camera.remember();
  unplug("video0");
  unplug("video2");
  plug("video1", "A", "usb-1");
  plug("video3", "A", "usb-1");
  link("by-id/usb-A-index0", "video1");
  link("by-id/usb-A-index2", "video3");
  EXPECT_EQ(camera.find(), path("video3"));
}

TEST_F(KnownCameraTest, AGivenLinkIsFollowedWhereverItLeads) {
  plug("video0", "A", "usb-1");
  const std::string given = link("by-path/usb-1-index0", "video0");
  KnownCamera camera = make(given);
  camera.remember();
  unplug("video0");
  plug("video4", "B", "usb-1");
  link("by-path/usb-1-index0", "video4");
  EXPECT_EQ(camera.find(), given);
}

}  // namespace
}  // namespace lookout
