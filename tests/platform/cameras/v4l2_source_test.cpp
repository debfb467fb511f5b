// Most of this needs a camera: LOOKOUT_TEST_CAMERA=/dev/video0, the kernel's vivid for instance, or
// the one of fake_camera.h, preloaded.
#include "platform/cameras/v4l2_source.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "platform/sources/open_source.h"
#include "tests/platform/system/held.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

TEST(V4l2Source, NullDeviceIsNotACamera) {
  expect_error(ErrorKind::kNoInput, "/dev/null is not a camera",
               [] { V4l2Source source("/dev/null", {}); });
}

TEST(V4l2Source, AbsentCameraIsAnErrorThatNamesThePresentOnes) {
  expect_error(ErrorKind::kNoInput,
               AllOf(HasSubstr("no such device, file or folder: /dev/video9876"),
                     AnyOf(HasSubstr("there is no /dev/video*"), HasSubstr("there is /dev/video"))),
               [] { V4l2Source source("/dev/video9876", {}); });
}

TEST(V4l2Source, RefusedPermissionComesWithTheWayOut) {
  const TempDir dir;
  const auto path = dir.write("device", "");
  std::filesystem::permissions(
      dir.path(), std::filesystem::perms::owner_all | std::filesystem::perms::others_exec);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  expect_error_unprivileged(ErrorKind::kPermission, "usermod -aG video",
                            [&] { V4l2Source source(path, {}); });
  expect_error_unprivileged(ErrorKind::kPermission, path, [&] { V4l2Source source(path, {}); });
}

class CameraTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* camera = std::getenv("LOOKOUT_TEST_CAMERA");
    if (camera == nullptr) camera = std::getenv("LOOKOUT_FAKE_CAMERA");
    if (camera == nullptr) GTEST_SKIP() << "LOOKOUT_TEST_CAMERA names no camera";
    camera_ = camera;
  }

  std::string camera_;
};

TEST_F(CameraTest, FramesComeWithIncreasingMonotonicStamps) {
  const auto source = open_source(camera_, {});
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(source->info().name, std::filesystem::path(camera_).filename().string());
  Frame frame;
  Clock::time_point before{};
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
    EXPECT_EQ(whole_picture(frame).type(), CV_8UC3);
    EXPECT_GT(frame.captured, before);
    EXPECT_LT(frame.captured - Clock::now(), seconds(1));
    EXPECT_LT(Clock::now() - frame.captured, seconds(2));
    EXPECT_GT(frame.capture_duration, Clock::duration::zero());
    EXPECT_EQ(frame.origin, "");
    before = frame.captured;
  }
}

TEST_F(CameraTest, KeepsTheFramesMemory) {
  const auto source = open_source(camera_, {});
  Frame frame;
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  const auto* pixels = whole_picture(frame).data;
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  EXPECT_EQ(whole_picture(frame).data, pixels);
}

TEST_F(CameraTest, KeepsItsJpegs) {
  SourceOptions options;
  options.width = 640;
  options.height = 480;
  options.framerate = 30;
  const auto source = open_source(camera_, options);
  Frame frame;
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  const bool is_jpeg = frame.picture.kind == CameraPicture::Kind::kJpeg;
  if (!is_jpeg) GTEST_SKIP() << "the camera sends no JPEGs of that size";
  const cv::Mat decoded = cv::imdecode(frame.picture.bytes, cv::IMREAD_COLOR);
  ASSERT_EQ(decoded.size(), whole_picture(frame).size());
  EXPECT_EQ(cv::norm(decoded, whole_picture(frame), cv::NORM_INF), 0);
}

TEST_F(CameraTest, DescriptionHasTheSizeOfTheFrames) {
  SourceOptions options;
  options.width = 321;  // odd: no driver grants it
  options.height = 241;
  const CapturedLog log;
  const auto source = open_source("v4l2://" + camera_, options);
  Frame frame;
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  const std::string granted =
      std::to_string(whole_picture(frame).cols) + "x" + std::to_string(whole_picture(frame).rows);
  EXPECT_THAT(source->info().description, AllOf(HasSubstr(camera_ + " ("), HasSubstr(granted)));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("321x241"), HasSubstr(granted)));
}

TEST_F(CameraTest, CameraInUseIsAnError) {
  const auto first = open_source(camera_, {});
  expect_error(ErrorKind::kDeviceLost, HasSubstr(camera_ + " is in use"),
               [&] { open_source(camera_, {}); });
}

TEST_F(CameraTest, CameraIsFreeAgainAfterwards) {
  Frame frame;
  for (int i = 0; i < 2; ++i) {
    const auto source = open_source(camera_, {});
    EXPECT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  }
}

// Mapped pieces of memory of a camera, or of the one of fake_camera.h.
int mappings(const std::string& camera) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(camera) != std::string::npos || line.find("fake camera") != std::string::npos) {
      ++count;
    }
  }
  return count;
}

TEST_F(CameraTest, LeavesNoDescriptorAndNoMapping) {
  const Held before;
  {
    const auto source = open_source(camera_, {});
    Frame frame;
    ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
    EXPECT_GT(Held().descriptors, before.descriptors);
    EXPECT_GT(mappings(camera_), 0);
  }
  EXPECT_EQ(Held().descriptors, before.descriptors);
  EXPECT_EQ(mappings(camera_), 0);
}

}  // namespace
}  // namespace lookout
