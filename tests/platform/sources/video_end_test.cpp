// Which videos are whole, and which were cut.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/sources/container_size.h"
#include "platform/sources/video_module.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/video_file.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kWholeFrames = 90;
const Yuv kGray{128, 128, 128};

int count_frames(Source& source) {
  Frame frame;
  int frames = 0;
  while (source.read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
  return frames;
}

void append(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

class VideoEnd : public testing::Test {
 protected:
  // `pause`: the last frame is shown ten seconds after the others.
  std::string make(const std::string& name, const std::string& codec, bool pause = false,
                   const std::string& mp4_flags = "faststart") {
    VideoFormat format;
    format.codec = codec;
    if (codec == "mjpeg") format.pixels = AV_PIX_FMT_YUVJ420P;
    if (name.find(".mp4") != std::string::npos && !mp4_flags.empty())
      format.options = "movflags=" + mp4_flags;
    const std::string path = dir_ / name;
    VideoFile file(path, format);
    for (int i = 0; i < kWholeFrames; ++i) {
      const Yuv color{static_cast<unsigned char>(2 * i), 128, 128};
      const bool late = pause && i == kWholeFrames - 1;
      file.write(color, kGray, late ? i + 300 : i);
    }
    return path;
  }

  const TempDir dir_;
};

struct Container {
  const char* name;
  const char* codec;
  const char* ends;  // with how many frames announced
};

const Container kContainers[] = {
    {"a.avi", "mjpeg", "ends after [0-9]+ of 90 frames: the file is truncated"},
    {"a.mp4", "mpeg4", "ends after [0-9]+ of 90 frames: the file is truncated"},
    {"a.mov", "mjpeg", ""},
    {"a.mkv", "ffv1", "ends after [0-9]+ frames: the file is truncated"},
};

// As a power cut leaves a recording.
TEST_F(VideoEnd, AnMp4WithoutItsIndexIsRefusedWithTheReason) {
  for (const char* name : {"a.mp4", "a.mov", "a.3gp"}) {
    const std::string path = make(name, "mpeg4", false, "");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    expect_error(
        ErrorKind::kNoInput,
        HasSubstr(path + " is neither a picture nor a video that can be decoded: moov atom "
                         "not found (the MP4 was not finished: its index is missing)"),
        [&path] { open_video(path); });
  }
  const std::string text = dir_.write("notes.mp4", "this is no video");
  expect_error(ErrorKind::kNoInput, testing::EndsWith("that can be decoded"),
               [&text] { open_video(text); });
}

TEST_F(VideoEnd, AFragmentThatIsCutIsAnErrorToo) {
  const std::string path = make("a.mp4", "mpeg4", false, "frag_keyframe+empty_moov");
  EXPECT_EQ(count_frames(*open_video(path)), kWholeFrames);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto second = bytes.find("moof", bytes.find("moof") + 1);
  ASSERT_NE(second, std::string::npos);
  const auto third = bytes.find("moof", second + 1);
  ASSERT_NE(third, std::string::npos);
  std::filesystem::resize_file(path, third + 60);
  expect_error(ErrorKind::kNoInput, HasSubstr("the file is truncated"),
               [&] { count_frames(*open_video(path)); });
}

TEST_F(VideoEnd, ACutFileIsAnErrorAfterItsLastFrame) {
  for (const auto& [name, codec, ends] : kContainers) {
    const std::string path = make(name, codec);
    EXPECT_EQ(count_frames(*open_video(path)), kWholeFrames) << name;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    int frames = 0;
    expect_error(ErrorKind::kNoInput, AllOf(HasSubstr(path), ContainsRegex(ends)), [&] {
      const auto source = open_video(path);
      Frame frame;
      while (source->read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
    });
    if (*ends != '\0') {
      EXPECT_GT(frames, kWholeFrames / 4) << name;
    }
  }
}

// A file announces as many frames as a constant rate makes.
TEST_F(VideoEnd, AVariableRateIsNoTruncation) {
  const CapturedLog log;
  for (const char* name : {"pause.mkv", "pause.mp4"}) {
    const std::string path = make(name, "mpeg4", true);
    EXPECT_EQ(count_frames(*open_video(path)), kWholeFrames) << name;
  }
  EXPECT_THAT(log.text(), IsEmpty());
}

// As editors trim: all frames since the last key frame are stored, and an edit shows the later
// ones.
TEST_F(VideoEnd, AnEditThatLeavesFramesOutIsNoTruncation) {
  const std::string path = make("edited.mp4", "mpeg4");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // Behind the name: version and flags, the number of edits, duration, time in the media.
  const auto edit = bytes.find("elst");
  ASSERT_NE(edit, std::string::npos);
  constexpr int kDuration = 12;
  file.seekp(static_cast<std::streamoff>(edit) + kDuration);
  file.write("\0\0\3\350\0\0\100\0", 8);  // 1000 of 1000 a second, from 16384
  file.close();
  const CapturedLog log;
  const int frames = count_frames(*open_video(path));
  EXPECT_LT(frames, kWholeFrames);
  EXPECT_GT(frames, 0);
  EXPECT_THAT(log.text(), IsEmpty());
}

TEST_F(VideoEnd, OtherDataBehindTheVideoIsNoTruncation) {
  for (const auto& [name, codec, ends] : kContainers) {
    const std::string path = make(name, codec);
    append(path, "TAGdata that another program added");
    EXPECT_EQ(count_frames(*open_video(path)), kWholeFrames) << name;
  }
}

TEST_F(VideoEnd, FramesThatAreAnnouncedButDoNotComeAreLogged) {
  const std::string path = make("a.mov", "mjpeg");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string start = "\xff\xd8\xff";
  const auto second = bytes.find(start, bytes.find(start) + start.size());
  const auto third = bytes.find(start, second + start.size());
  ASSERT_NE(third, std::string::npos);
  file.seekp(static_cast<std::streamoff>(second));
  file << std::string(third - second, '\0');
  file.close();
  const CapturedLog log;
  EXPECT_EQ(count_frames(*open_video(path)), kWholeFrames - 1);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("1 packets could not be decoded"),
                                HasSubstr("ends after 89 of 90 frames")));
}

// Of a file that is written in one go, the header may have been written when there were fewer.
TEST_F(VideoEnd, WhenAtLeastTheAnnouncedFramesCameTheRestMayBeCut) {
  const std::string path = make("a.avi", "mjpeg");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr int kLength = 40;  // behind the name of the stream's header
  const auto header = bytes.find("strh");
  ASSERT_NE(header, std::string::npos);
  file.seekp(static_cast<std::streamoff>(header) + kLength);
  file.write("\x2d\0\0\0", 4);  // 45
  file.close();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);  // of the index
  EXPECT_TRUE(is_cut(path));
  EXPECT_EQ(count_frames(*open_video(path)), kWholeFrames);
}

TEST_F(VideoEnd, WhatIsTooShortForAContainerIsNotCut) {
  const std::string start = "RIFF\x10\1\1\1AVI ";
  for (std::size_t size = 0; size < start.size(); ++size) {
    EXPECT_FALSE(is_cut(dir_.write("short.avi", start.substr(0, size)))) << size;
  }
  EXPECT_TRUE(is_cut(dir_.write("short.avi", start)));
}

// Eight bytes each.
TEST_F(VideoEnd, AFileOfCountlessBoxesIsNotFollowedForEver) {
  constexpr int kBoxes = 3'000'000;
  std::string bytes;
  for (int i = 0; i < kBoxes; ++i)
    bytes.append(
        "\0\0\0\x08"
        "free",
        8);
  EXPECT_FALSE(is_cut(dir_.write("boxes.mp4", bytes + std::string("\0\0\0\x20"
                                                                  "free",
                                                                  8))));
}

}  // namespace
}  // namespace lookout
