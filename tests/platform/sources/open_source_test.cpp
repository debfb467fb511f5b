#include "platform/sources/open_source.h"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <utility>
#include <vector>

#include "platform/sources/picture_source.h"
#include "platform/sources/test_source.h"
#include "platform/sources/video_module.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string description(const std::string& text, const SourceOptions& options = {}) {
  return open_source(text, options)->info().description;
}

void expect_usage(const std::string& text, const testing::Matcher<std::string>& sentence) {
  SCOPED_TRACE(text);
  expect_error(ErrorKind::kUsage, sentence, [&] { open_source(text, {}); });
}

void write_small_picture(const std::string& path) {
  ASSERT_TRUE(cv::imwrite(path, cv::Mat(4, 4, CV_8UC3, cv::Scalar::all(9)))) << path;
}

template <typename Type>
bool is(const std::unique_ptr<Source>& source) {
  return dynamic_cast<Type*>(source.get()) != nullptr;
}

TEST(OpenSource, TestPatternHasDefaults) {
  EXPECT_EQ(description("test://all"), "test pattern all, 640x480, 30 fps");
  EXPECT_EQ(description("TEST://cross/"), "test pattern cross, 640x480, 30 fps");
}

TEST(OpenSource, TestPatternTakesItsQuery) {
  EXPECT_EQ(description("test://ramp?size=320x180&fps=12.5&noise=3.5&hold=1&frames=9"),
            "test pattern ramp, 320x180, 12.5 fps, noise 3.5");
  EXPECT_EQ(description("test://ramp?still=1&noise=2"),
            "test pattern ramp, 640x480, 30 fps, still, noise 2");
  EXPECT_FALSE(open_source("test://ramp?fps=0", {})->info().live);
  Frame frame;
  const auto source = open_source("test://all?fps=0&hold=1&frames=2", {});
  EXPECT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.origin, "test://hcolorbars");
  EXPECT_EQ(source->read(frame, kTimeout), ReadStatus::kEnd);
}

TEST(OpenSource, OptionsCountWhereTheTestPatternIsSilent) {
  SourceOptions options;
  options.width = 100;
  options.framerate = 5;
  EXPECT_EQ(description("test://red", options), "test pattern red, 100x480, 5 fps");
  EXPECT_EQ(description("test://red?size=200x50", options), "test pattern red, 200x50, 5 fps");
  EXPECT_EQ(description("test://red?fps=7", options), "test pattern red, 100x480, 7 fps");
  options.height = 1;
  expect_error(ErrorKind::kUsage, HasSubstr("camera.height"),
               [&] { open_source("test://red", options); });
}

TEST(OpenSource, UnknownPatternIsAnErrorThatListsTheKnownOnes) {
  expect_usage("test://plaid", AllOf(HasSubstr("'plaid'"), HasSubstr("all, colorbars, hcolorbars"),
                                     HasSubstr("noise")));
  expect_usage("test://", HasSubstr("colorbars"));
  expect_usage("test:///cross", HasSubstr("test:///cross"));
}

TEST(OpenSource, BadQueryIsAnErrorThatNamesTheKey) {
  expect_usage("test://red?colour=1", HasSubstr("'colour'"));
  expect_usage("test://red?size=640", HasSubstr("size=640x480"));
  expect_usage("test://red?size=640x", HasSubstr("height"));
  expect_usage("test://red?size=15x480", HasSubstr("16"));
  expect_usage("test://red?size=640x480x3", HasSubstr("'480x3'"));
  expect_usage("test://red?size=99999999999x480", HasSubstr("width"));
  expect_usage("test://red?fps=-1", HasSubstr("fps"));
  expect_usage("test://red?fps=nan", HasSubstr("fps"));
  expect_usage("test://red?fps=1,5", HasSubstr("'1,5'"));
  expect_usage("test://red?noise=", HasSubstr("noise"));
  expect_usage("test://red?hold=0", HasSubstr("hold"));
  expect_usage("test://red?still=2", HasSubstr("still"));
  expect_usage("test://red?frames=-3", HasSubstr("frames"));
  expect_usage("test://red?frames", HasSubstr("frames"));
}

TEST(OpenSource, UnknownSchemeIsAnErrorThatListsTheKnownOnes) {
  expect_usage("rrsp://0", AllOf(HasSubstr("test://"), HasSubstr("v4l2://"), HasSubstr("file://")));
}

TEST(OpenSource, OtherNetworkStreamsCanBePiped) {
  for (const auto* text : {"udp://@239.0.0.1:1234", "RTMP://host/a", "srt://host:80?mode=caller"}) {
    expect_usage(text, AllOf(HasSubstr("only rtsp://, rtsps://, http:// and https://"),
                             HasSubstr("ffmpeg -i URL -c copy -f matroska - | lookout -")));
  }
}

TEST(OpenSource, APasswordIsNeverPrinted) {
  for (const auto* text :
       {"rtsp://user:secret@[", "cam://user:secret@h/a", "cam://user:secret@[",
        "http://user:p@secret@h", "rtsp://user:/secret@h/a", "rtsp://user:secret@h/a#b",
        "udp://user:secret@h", "test://user:secret@all", "file://user:secret@h/a"}) {
    expect_usage(text, AllOf(testing::Not(HasSubstr("secret")), HasSubstr("://***@")));
  }
}

TEST(OpenSource, ABadAddressOnTheNetworkIsAnError) {
  expect_usage("rtsp://", HasSubstr("the name or address of a host has to follow"));
  expect_usage("http:///a", HasSubstr("a host has to follow"));
  expect_usage("http://camera:99999/a", HasSubstr("the port 99999 is no number from 1 to 65535"));
  expect_usage("rtsp://camera:0/", HasSubstr("the port 0 is no number"));
  expect_usage("http://h/a b", HasSubstr("not a valid URI"));
  expect_usage("rtsp://user:p@ss@h/a", HasSubstr("in a user name or password, @ is written %40"));
  expect_usage("http://h/%00", HasSubstr("NUL"));
}

TEST(OpenSource, MalformedTextIsAnError) {
  expect_usage("", HasSubstr("empty"));
  expect_usage("test://red?size=[", HasSubstr("not a valid URI"));
  expect_usage("file://a%2", HasSubstr("not a valid URI"));
  expect_usage("file://relative/a.jpg", HasSubstr("file:///path"));
  expect_usage("v4l2://", HasSubstr("v4l2:///path"));
  expect_usage("v4l2:///dev/video0?size=640x480", HasSubstr("'size'"));
  expect_usage("file:///a#b", HasSubstr("%23"));
}

TEST(OpenSource, PictureFolderAndVideoAreToldApart) {
  const TempDir dir;
  write_small_picture(dir / "a.png");
  EXPECT_TRUE(is<PictureSource>(open_source(dir / "a.png", {})));
  EXPECT_TRUE(is<PictureSource>(open_source(dir.path().string(), {})));
  std::filesystem::rename(dir / "a.png", dir / "picture");
  EXPECT_TRUE(is<PictureSource>(open_source(dir / "picture", {}))) << "known by its content";
  const auto broken = dir.write("broken.jpg", "");
  EXPECT_TRUE(is<PictureSource>(open_source(broken, {}))) << "known by its extension";
  const auto other = dir.write("notes.txt", "neither");
  expect_error(ErrorKind::kNoInput, HasSubstr(other), [&] { open_source(other, {}); });
}

TEST(OpenSource, AFileOfSeveralJpegsIsAVideo) {
  const TempDir dir;
  std::vector<unsigned char> bytes;
  cv::imencode(".jpg", cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(90)), bytes);
  const std::string jpeg(bytes.begin(), bytes.end());
  for (const char* name : {"x.mjpeg", "x.mjpg", "x.jpg", "x"}) {
    const auto source = open_source(dir.write(name, jpeg + jpeg + jpeg), {});
    EXPECT_THAT(source->info().description, HasSubstr("video ")) << name;
    Frame frame;
    int frames = 0;
    while (source->read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
    EXPECT_EQ(frames, 3) << name;
    EXPECT_THAT(description(dir.write(name, jpeg)), HasSubstr("picture ")) << name;
  }
}

TEST(OpenSource, AnEmptyFileAndAWebPageAreNamedAsSuch) {
  const TempDir dir;
  for (const char* name : {"x.jpg", "x.mp4", "x"}) {
    for (const auto& [content, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"", " is empty"}, {"<!DOCTYPE html><html>", " is a web page, which is not read"}}) {
      const std::string path = dir.write(name, content);
      expect_error(ErrorKind::kNoInput, HasSubstr(path + sentence), [&path] {
        Frame frame;
        open_source(path, {})->read(frame, kTimeout);
      });
    }
  }
}

TEST(OpenSource, FileUriIsDecoded) {
  const TempDir dir;
  write_small_picture(dir / "a b#1.png");
  Frame frame;
  const auto source = open_source("file://" + (dir / "a%20b%231.png"), {});
  ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.origin, dir / "a b#1.png");
}

TEST(OpenSource, OptionsThatDoNothingForTheSourceAreWarnedOf) {
  const TempDir dir;
  write_small_picture(dir / "a.png");
  SourceOptions mode;
  mode.framerate = 5;
  SourceOptions live;
  live.live = true;
  SourceOptions recursive;
  recursive.recursive = true;
  SourceOptions gain;
  gain.controls.gain = 2;
  const auto logged = [](const std::string& text, const SourceOptions& options) {
    const CapturedLog log;
    open_source(text, options);
    return log.text();
  };
  EXPECT_THAT(logged(dir / "a.png", mode), HasSubstr("camera.framerate are for cameras"));
  EXPECT_THAT(logged(dir / "a.png", live), HasSubstr("camera.live is for streams"));
  EXPECT_THAT(logged(dir / "a.png", recursive), HasSubstr("camera.recursive is for folders"));
  EXPECT_THAT(logged(dir / "a.png", gain), HasSubstr("camera.gain is for CSI cameras"));
  EXPECT_EQ(logged(dir.path().string(), recursive), "");
  EXPECT_EQ(logged("test://all", mode), "");
  EXPECT_EQ(logged("test://all", live), "");
}

TEST(OpenSource, CharacterDeviceIsACamera) {
  const TempDir dir;
  std::filesystem::create_symlink("/dev/null", dir / "usb-camera-index0");
  for (const std::string& text : {std::string("/dev/null"), std::string("v4l2:///dev/null"),
                                  std::string("file:///dev/null"), dir / "usb-camera-index0"}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("is not a camera"), [&] { open_source(text, {}); });
  }
}

TEST(OpenSource, ControlsOfCsiCamerasAreRefusedForOthers) {
  SourceOptions options;
  options.controls.flicker = 50;
  expect_error(ErrorKind::kUnsupported,
               AllOf(HasSubstr("camera.flicker is for CSI cameras"), HasSubstr("v4l2-ctl")),
               [&] { open_source("/dev/null", options); });
}

// FFmpeg would take a tile of it for a video.
TEST(OpenSource, AHeicPictureIsNamedAsSuch) {
  const TempDir dir;
  const auto path = dir.write("a.heic", std::string("\0\0\0\x18"
                                                    "ftypheic",
                                                    12) +
                                            std::string(64, '\0'));
  expect_error(ErrorKind::kNoInput, HasSubstr(path + " is a HEIC picture, which is not supported"),
               [&] { open_source(path, {}); });
}

TEST(OpenSource, APictureThatIsNotReadIsNamedAsSuch) {
  const TempDir dir;
  const auto path = dir.write("a.hdr", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n....");
  expect_error(ErrorKind::kNoInput,
               path + " is Radiance HDR, which is not read; JPEG, PNG, WebP, TIFF and BMP are",
               [&] { open_source(path, {}); });
}

TEST(OpenSource, AbsentInputIsAnErrorThatNamesIt) {
  const TempDir dir;
  for (const auto& path :
       {dir / "absent.jpg", dir / "absent/a.jpg", std::string("/dev/video9876")}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("no such device, file or folder: " + path),
                 [&] { open_source(path, {}); });
  }
}

TEST(OpenSource, ANumberMayBeMeantAsACamera) {
  for (const char* text : {"0", "video0"}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("; did you mean /dev/video0?"),
                 [text] { open_source(text, {}); });
  }
}

TEST(OpenSource, ACameraThatIsAwayIsToldBeforeAnythingElseUnlessItIsWaitedFor) {
  SourceOptions options;
  for (const char* text : {"/dev/video9876", "v4l2:///dev/video9876"}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("/dev/video9876; there is "),
                 [&] { require_source(text, options); });
    options.wait = true;
    EXPECT_NO_THROW(require_source(text, options)) << text;
    options.wait = false;
  }
}

TEST(OpenSource, ACameraThatIsAwayCanBeWaitedFor) {
  const TempDir dir;
  std::filesystem::create_symlink("/dev/v4l/by-id/usb-none", dir / "front");
  SourceOptions options;
  options.wait = true;
  for (const std::string& text :
       {std::string("/dev/v4l/by-id/usb-none"), dir / "front", "file://" + (dir / "front")}) {
    const CapturedLog log;
    EXPECT_FALSE(open_source(text, options)->online()) << text;
    EXPECT_THAT(log.text(), HasSubstr("waiting for camera "));
  }
  const auto link = dir / "a.jpg";
  std::filesystem::create_symlink(dir / "none.jpg", link);
  for (const auto& path : {link, dir / "none.jpg"}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("no such device, file or folder: " + path),
                 [&] { open_source(path, options); });
  }
}

TEST(OpenSource, OtherKindsOfFilesAreRefused) {
  const TempDir dir;
  const std::string path = dir / "socket";
  ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0600, 0), 0);
  expect_error(ErrorKind::kNoInput, path + " is neither a camera, a file, a folder nor a FIFO",
               [&] { open_source(path, {}); });
}

TEST(OpenSource, AFifoIsAStream) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(is_stream(dir / "pipe"));
  EXPECT_TRUE(is_stream("file://" + (dir / "pipe")));
  for (const auto& text : {dir / "none", dir.path().string(), std::string("test://all")}) {
    EXPECT_FALSE(is_stream(text)) << text;
  }
}

TEST(OpenSource, UnreadableFileIsAPermissionError) {
  const TempDir dir;
  namespace fs = std::filesystem;
  fs::permissions(dir.path(), fs::perms::owner_all | fs::perms::others_exec);
  write_small_picture(dir / "a.png");
  fs::permissions(dir / "a.png", fs::perms::none);
  expect_error_unprivileged(ErrorKind::kPermission, dir / "a.png",
                            [&] { open_source(dir / "a.png", {}); });
  fs::permissions(dir.path(), fs::perms::owner_all);
  fs::create_directory(dir / "closed");
  fs::permissions(dir / "closed", fs::perms::none);
  fs::permissions(dir.path(), fs::perms::owner_all | fs::perms::others_exec);
  expect_error_unprivileged(ErrorKind::kPermission, dir / "closed",
                            [&] { open_source(dir / "closed/a.png", {}); });
  fs::permissions(dir / "closed", fs::perms::owner_all);
}

}  // namespace
}  // namespace lookout
