// One test needs a camera: LOOKOUT_TEST_CSI=csi://0, a Raspberry Pi's or one of libcamera's own.
#include "platform/cameras/libcamera_source.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "platform/cameras/libcamera_log.h"
#include "platform/sources/open_source.h"
#include "tests/platform/system/held.h"
#include "tests/support/fake_libcamera.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr std::uint32_t kBgr = 0x34324752;  // RG24, libcamera's RGB888
constexpr std::uint32_t kYuyv = 0x56595559;
constexpr std::size_t kMemory = 1U << 20U;  // bytes, more than any picture here
constexpr const char* kImx219Id = "/base/soc/i2c0mux/i2c@1/imx219@10";
constexpr int kOpenings = 50;

// An imx219 as libcamera shows it, with frames of one color.
class LibcameraSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    FakeLibcamera& fake = fake_libcamera;
    fake = {};
    fake.cameras = {{kImx219Id, "imx219"}};
    fake.modes = {{640, 480, 10}, {1640, 1232, 10}, {3280, 2464, 10}};
    fake.active = {3280, 2464, 0};
    fake.granted[{640, 480}] = {4840, 0.39, 0.39};
    fake.granted[{1640, 1232}] = {23923, 1, 1};
    fake.granted[{3280, 2464}] = {47183, 1, 1};
    fake.fourcc = kBgr;
    fake.memory = ::memfd_create("frame", MFD_CLOEXEC);
    fake.memory_size = kMemory;
    const std::vector<unsigned char> pixels(kMemory, 77);
    ASSERT_EQ(::write(fake.memory, pixels.data(), kMemory), static_cast<ssize_t>(kMemory));
  }
  void TearDown() override {
    EXPECT_EQ(fake_libcamera.open_cameras, 0);
    EXPECT_EQ(fake_libcamera.managers, 0);
    ::close(fake_libcamera.memory);
  }

  const LookoutLibcamera module_ = fake_libcamera_module();
};

TEST_F(LibcameraSourceTest, CamerasAreNumberedAsByRpicamHello) {
  fake_libcamera.cameras = {{"/base/usb/1.2", "webcam"},
                            {"/base/i2c@0/imx708", "imx708"},
                            {"/base/i2c@1/imx219", "imx219"}};
  const auto cameras = list_libcamera_cameras(module_);
  ASSERT_EQ(cameras.size(), 2U);
  EXPECT_EQ(cameras[0].model, "imx219");
  EXPECT_EQ(cameras[1].model, "imx708");
  const LibcameraSource source(module_, "0", {});
  EXPECT_EQ(fake_libcamera.opened, 2U) << "in libcamera's order";
  EXPECT_EQ(source.info().name, "imx219");
}

TEST_F(LibcameraSourceTest, UsbCamerasAreNoCsiCameras) {
  fake_libcamera.cameras = {{"/base/usb/1.2", "webcam"}};
  expect_error(
      ErrorKind::kNoInput,
      AllOf(HasSubstr("v9.8.7"), HasSubstr("no camera"), HasSubstr("rpicam-hello --list-cameras")),
      [&] { LibcameraSource(module_, "0", {}); });
}

TEST_F(LibcameraSourceTest, OneThatIsNotThereIsToldWithThoseThatAre) {
  for (const char* name : {"1", "imx708"}) {
    expect_error(ErrorKind::kNoInput,
                 AllOf(HasSubstr("csi://" + std::string(name)), HasSubstr("imx219")),
                 [&] { LibcameraSource(module_, name, {}); });
  }
}

TEST_F(LibcameraSourceTest, ModeShowsTheWholeField) {
  const LibcameraSource source(module_, "0", {});
  ASSERT_FALSE(fake_libcamera.requests.empty());
  EXPECT_EQ(fake_libcamera.requests.back().sensor_mode.width, 1640);
  EXPECT_THAT(source.info().description, HasSubstr("sensor 1640x1232, 10 bit, the whole field"));
  EXPECT_EQ(source.info().shortfall, "");
}

TEST_F(LibcameraSourceTest, FasterRateCostsFieldAndIsTold) {
  SourceOptions options;
  options.framerate = 60;
  CapturedLog log;
  const LibcameraSource source(module_, "0", options);
  EXPECT_EQ(fake_libcamera.requests.back().sensor_mode.width, 640);
  EXPECT_NEAR(source.info().fps, 60, 0.01);
  EXPECT_THAT(source.info().description, HasSubstr("39 % of the field's width"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("60 fps"), HasSubstr("39 %"),
                                HasSubstr("instead of the whole field of view")));
}

TEST_F(LibcameraSourceTest, WhoseMemoryHoldsTheFramesIsLoggedForDebugging) {
  const CapturedLog log;
  log.keep_debug();
  const LibcameraSource source(module_, "0", {});
  EXPECT_THAT(log.text(), testing::ContainsRegex("csi://0: libcamera v9.8.7, memory of [a-z]+"));
}

// As each attempt to find a camera has them, seen from a sandbox without media devices.
constexpr const char* kAttempt1 =
    "[0:00:12.000000001] [77]  ERROR DeviceEnumerator device_enumerator.cpp:165 Unable to create\n"
    "[0:00:12.000000002] [77] ERROR Camera camera_manager.cpp:9 no device enumerator\n";
constexpr const char* kAttempt2 =
    "[0:00:22.000000001] [78]  ERROR DeviceEnumerator device_enumerator.cpp:165 Unable to create\n"
    "[0:00:22.000000002] [78] ERROR Camera camera_manager.cpp:9 no device enumerator\n";

int times_logged(const CapturedLog& log, const std::string& part) {
  const std::string text = log.text();
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(LibcameraSourceTest, WhatLibcameraRepeatsIsLoggedOnceUntilACameraWorked) {
  libcamera_log().forget();
  const CapturedLog log;
  for (const char* lines : {kAttempt1, kAttempt2}) {
    fake_libcamera.log = lines;
    EXPECT_EQ(list_libcamera_cameras(module_).size(), 1U);
  }
  EXPECT_THAT(log.text(), HasSubstr("libcamera: ERROR DeviceEnumerator device_enumerator.cpp:165 "
                                    "Unable to create; this is logged once"));
  EXPECT_EQ(times_logged(log, "Unable to create"), 1);
  EXPECT_EQ(times_logged(log, "no device enumerator"), 1);
  {
    LibcameraSource source(module_, "0", {});
    fake_libcamera.frames = {LOOKOUT_FRAME_SUCCESS};
    Frame frame;
    EXPECT_EQ(source.read(frame, std::chrono::seconds(1)), ReadStatus::kFrame);
  }
  EXPECT_EQ(times_logged(log, "Unable to create"), 1);
  list_libcamera_cameras(module_);
  EXPECT_EQ(times_logged(log, "Unable to create"), 2);
}

TEST_F(LibcameraSourceTest, LinesOfLibcameraThatDifferEachTimeFillNoJournal) {
  libcamera_log().forget();
  const CapturedLog log;
  for (int i = 0; i < 1000; ++i) {
    libcamera_log().write("[0:00:12.0] [7] ERROR V4L2 v4l2.cpp:1 buffer " + std::to_string(i) +
                          "\n");
  }
  EXPECT_EQ(times_logged(log, "\n"), LibcameraLog::kMaxLines + 1);
  EXPECT_EQ(times_logged(log, "further lines are not logged"), 1);
}

TEST_F(LibcameraSourceTest, WhatSomebodyAskedLibcameraForIsLoggedEachTime) {
  const CapturedLog log;
  for (int i = 0; i < 2; ++i) libcamera_log().write("[0:00:12.0] [7]  INFO Camera c.cpp:1 hello\n");
  EXPECT_EQ(times_logged(log, "libcamera: INFO Camera c.cpp:1 hello"), 2);
}

TEST_F(LibcameraSourceTest, WithoutModesLibcameraChooses) {
  fake_libcamera.modes.clear();
  const LibcameraSource source(module_, "0", {});
  EXPECT_EQ(fake_libcamera.requests.back().sensor_mode.width, 0);
  EXPECT_THAT(source.info().description, Not(HasSubstr("sensor")));
}

TEST_F(LibcameraSourceTest, StartupFramesAreNeitherClassifiedNorCounted) {
  fake_libcamera.frames = {LOOKOUT_FRAME_STARTUP, LOOKOUT_FRAME_ERROR, LOOKOUT_FRAME_STARTUP,
                           LOOKOUT_FRAME_SUCCESS, LOOKOUT_FRAME_ERROR};
  LibcameraSource source(module_, "0", {});
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(whole_picture(frame).size(), cv::Size(298, 224));
  EXPECT_EQ(whole_picture(frame).at<cv::Vec3b>(0, 0), cv::Vec3b(77, 77, 77));
  EXPECT_EQ(fake_libcamera.given_back, 4);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kSkipped) << "damaged, after a good one";
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout);
}

TEST_F(LibcameraSourceTest, UnknownStatusIsAFrame) {
  fake_libcamera.frames = {123456};
  LibcameraSource source(module_, "0", {});
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
}

// Frames of YUYV whose luma is `luma`, without color.
void fill_with_luma(unsigned char luma) {
  std::vector<unsigned char> pixels(kMemory, 128);
  for (std::size_t i = 0; i < kMemory; i += 2) pixels[i] = luma;
  ASSERT_EQ(::pwrite(fake_libcamera.memory, pixels.data(), kMemory, 0),
            static_cast<ssize_t>(kMemory));
}

// As libcamera's virtual camera, which shows JPEGs.
TEST_F(LibcameraSourceTest, RangeThatIsNotDeclaredIsMeasured) {
  fake_libcamera.fourcc = kYuyv;
  const auto gray = [](LibcameraSource& source) {
    fake_libcamera.frames = {LOOKOUT_FRAME_SUCCESS};
    Frame frame;
    EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    return static_cast<int>(whole_picture(frame).at<cv::Vec3b>(0, 0)[0]);
  };
  const CapturedLog log;
  {
    LibcameraSource source(module_, "0", {});
    fill_with_luma(126);
    EXPECT_NEAR(gray(source), 128, 1);
    EXPECT_THAT(log.text(), HasSubstr("camera csi://0 declares no color range: the luma of 0.0 %"));
    fill_with_luma(255);
    EXPECT_EQ(gray(source), 255);
    EXPECT_THAT(log.text(), HasSubstr("the luma of 100.0 % of the pixels is outside 16..235, so "
                                      "the full range, 0..255, is taken"));
    fill_with_luma(126);
    EXPECT_NEAR(gray(source), 126, 1);
  }
  const std::string before = log.text();
  for (const auto& [range, expected] :
       {std::pair(LOOKOUT_RANGE_LIMITED, 0), std::pair(LOOKOUT_RANGE_FULL, 10)}) {
    fake_libcamera.range = range;
    LibcameraSource source(module_, "0", {});
    fill_with_luma(10);
    EXPECT_NEAR(gray(source), expected, 1) << range;
  }
  EXPECT_EQ(log.text(), before) << "declared";
}

TEST_F(LibcameraSourceTest, GivenUpFrameIsALossThatIsNamed) {
  fake_libcamera.frames = {LOOKOUT_FRAME_SUCCESS, -ECANCELED, -ENODEV};
  LibcameraSource source(module_, "0", {});
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  expect_error(ErrorKind::kDeviceLost, AllOf(HasSubstr("v9.8.7"), HasSubstr("gave up a frame")),
               [&] { source.read(frame, kTimeout); });
  expect_error(ErrorKind::kDeviceLost, HasSubstr("disconnected"),
               [&] { source.read(frame, kTimeout); });
}

TEST_F(LibcameraSourceTest, SmallerBuffersThanThePictureAreRefused) {
  fake_libcamera.memory_size = 1000;
  fake_libcamera.frames = {LOOKOUT_FRAME_SUCCESS};
  LibcameraSource source(module_, "0", {});
  Frame frame;
  expect_error(ErrorKind::kDeviceLost, HasSubstr("smaller than its picture"),
               [&] { source.read(frame, kTimeout); });
}

TEST_F(LibcameraSourceTest, ControlsAreSetAtTheStart) {
  fake_libcamera.controls["AfMode"] = {0, 2};
  const LibcameraSource source(module_, "0", {});
  EXPECT_THAT(fake_libcamera.settings, Contains(Pair("AfMode", ElementsAre(2))));
  EXPECT_THAT(fake_libcamera.settings,
              Contains(Pair("FrameDurationLimits", ElementsAre(33333, 33333))));
}

TEST_F(LibcameraSourceTest, FixedFocusHasNoFocusControl) {
  const LibcameraSource source(module_, "0", {});
  EXPECT_THAT(fake_libcamera.settings, Not(Contains(Key("AfMode"))));
}

TEST_F(LibcameraSourceTest, ControlThatTheCameraHasNotEndsTheRun) {
  SourceOptions options;
  options.controls.flicker = 50;
  expect_error(ErrorKind::kUnsupported, HasSubstr("camera.flicker"),
               [&] { LibcameraSource(module_, "0", options); });
}

TEST_F(LibcameraSourceTest, FormatThatCannotBeReadIsAnError) {
  fake_libcamera.fourcc = 0x47504A4D;  // MJPG
  expect_error(ErrorKind::kNoInput, HasSubstr("no picture format"),
               [&] { LibcameraSource(module_, "0", {}); });
}

TEST_F(LibcameraSourceTest, ModesAreListedAsGrantedWithTheOneOfARun) {
  const auto modes = list_sensor_modes(module_, {}).at(kImx219Id);
  ASSERT_EQ(modes.modes.size(), 3U);
  EXPECT_EQ(to_text(modes.modes[0]),
            "640x480, 10 bit, 39 % of the field's width and 39 % of its height");
  EXPECT_NEAR(modes.modes[0].max_fps, 206.6, 0.1);
  EXPECT_EQ(modes.taken, (SensorMode{1640, 1232, 10}));
  EXPECT_EQ(modes.problem, "");
}

// The rule is the one of a run, for any wish.
TEST_F(LibcameraSourceTest, ListNamesTheModeThatARunTakes) {
  const CapturedLog log;
  for (const double framerate : {10.0, 30.0, 60.0, 1000.0}) {
    for (const int width : {320, 1920, 3280}) {
      SourceOptions options;
      options.framerate = framerate;
      options.width = width;
      { const LibcameraSource source(module_, "0", options); }
      const LookoutSensorMode taken = fake_libcamera.requests.back().sensor_mode;
      const auto listed = list_sensor_modes(module_, wish_of(options)).at(kImx219Id).taken;
      EXPECT_EQ(listed, (SensorMode{taken.width, taken.height, taken.bits}))
          << width << " pixels at " << framerate << " fps";
    }
  }
}

TEST_F(LibcameraSourceTest, ModeThatIsNotGrantedIsNotListed) {
  fake_libcamera.granted[{1640, 1232}].refused = true;
  const auto modes = list_sensor_modes(module_, {}).at(kImx219Id);
  EXPECT_EQ(modes.modes.size(), 2U);
  EXPECT_EQ(modes.taken, std::nullopt) << "libcamera chooses";
}

TEST_F(LibcameraSourceTest, CameraInUseHasAProblemForModes) {
  fake_libcamera.open_error = -EBUSY;
  const auto modes = list_sensor_modes(module_, {}).at(kImx219Id);
  EXPECT_EQ(modes.problem, "camera csi://0 is in use by another program");
  EXPECT_EQ(modes.modes.size(), 0U);
}

TEST_F(LibcameraSourceTest, CameraWithoutModesListsNone) {
  fake_libcamera.modes.clear();
  const auto modes = list_sensor_modes(module_, {}).at(kImx219Id);
  EXPECT_EQ(modes.modes.size(), 0U);
  EXPECT_EQ(modes.taken, std::nullopt);
  EXPECT_EQ(modes.problem, "");
}

TEST_F(LibcameraSourceTest, FiftyOpeningsLeaveNoThreadNoDescriptorAndNoMapping) {
  const Held before;
  for (int i = 0; i < kOpenings; ++i) {
    fake_libcamera.frames = {LOOKOUT_FRAME_SUCCESS};
    LibcameraSource source(module_, "0", {});
    Frame frame;
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    EXPECT_GT(Held().threads, before.threads);
    EXPECT_GT(Held().descriptors, before.descriptors);
  }
  expect_nothing_left_since(before);
  std::ifstream file("/proc/self/maps");
  const std::string mapped{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(mapped, Not(HasSubstr("memfd:frame")));
}

TEST_F(LibcameraSourceTest, FiftyOpeningsThatFailLeaveNothingEither) {
  fake_libcamera.fourcc = 0;
  const Held before;
  for (int i = 0; i < kOpenings; ++i) EXPECT_THROW(LibcameraSource(module_, "0", {}), Error);
  expect_nothing_left_since(before);
}

TEST(CsiOpenings, FiftyLeaveNoThreadAndNoDescriptor) {
  const char* camera = std::getenv("LOOKOUT_TEST_CSI");
  if (camera == nullptr) GTEST_SKIP() << "LOOKOUT_TEST_CSI names no camera";
  const auto open_and_read = [camera] {
    Frame frame;
    EXPECT_EQ(read_next(*open_source(camera, {}), frame), ReadStatus::kFrame);
  };
  open_and_read();  // loads libcamera, which stays
  const Held before;
  for (int i = 0; i < kOpenings; ++i) open_and_read();
  expect_nothing_left_since(before);
}

}  // namespace
}  // namespace lookout
