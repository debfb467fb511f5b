#include "platform/sources/auto_camera.h"

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CameraNode node(const std::string& path, NodeKind kind) {
  CameraNode node;
  node.path = path;
  node.kind = kind;
  node.info.card = "C920";
  return node;
}

const LibcameraCamera kImx708Camera{"/base/soc/i2c0mux/i2c@1/imx708@1a", "imx708", 0};

TEST(AutoCamera, ACsiCameraComesFirst) {
  const CameraChoice choice =
      choose_camera({{node("/dev/video0", NodeKind::kCamera)}, {kImx708Camera}, ""});
  EXPECT_EQ(choice.source, "csi://0");
  EXPECT_EQ(choice.text, "csi://0 (imx708); there is also /dev/video0 (C920)");
  EXPECT_EQ(choice.warning, "");
}

TEST(AutoCamera, ElseTheFirstNodeThatIsACamera) {
  CameraNode broken = node("/dev/video0", NodeKind::kCamera);
  broken.problem = "no permission";
  const CameraChoice choice = choose_camera(
      {{broken, node("/dev/video1", NodeKind::kCodec), node("/dev/video2", NodeKind::kCamera)},
       {},
       "libcamera is not installed"});
  EXPECT_EQ(choice.source, "/dev/video2");
  EXPECT_EQ(choice.text, "/dev/video2 (C920)");
  EXPECT_EQ(choice.warning, "") << "nothing needs libcamera";
}

TEST(AutoCamera, ACsiCameraThatCannotBeUsedIsSaidBeforeAnotherIsTaken) {
  for (const NodeKind kind : {NodeKind::kBayer, NodeKind::kPipeline, NodeKind::kImageProcessor}) {
    const CameraChoice choice = choose_camera(
        {{node("/dev/video0", kind), node("/dev/video8", NodeKind::kCamera)}, {}, "no module"});
    EXPECT_EQ(choice.source, "/dev/video8");
    EXPECT_EQ(choice.warning, "no module");
  }
}

TEST(AutoCamera, WithoutOneTheWaysOutAreNamed) {
  expect_error(ErrorKind::kNoInput,
               AllOf(HasSubstr("USB camera"), HasSubstr("camera_auto_detect=1"),
                     HasSubstr("dtoverlay="), HasSubstr("test://all")),
               [] { choose_camera({}); });
  expect_error(ErrorKind::kNoInput, HasSubstr("no camera: no module"), [] {
    choose_camera({{node("/dev/video0", NodeKind::kBayer)}, {}, "no module"});
  });
}

}  // namespace
}  // namespace lookout
