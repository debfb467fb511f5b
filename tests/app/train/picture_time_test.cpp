#include "app/train/picture_time.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <string>

#include "platform/pictures/jpeg_segments.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

// 2027-11-22 10:15:00 UTC
constexpr std::int64_t kTime = 1826878500;

TEST(TimeInName, IsThatOfCollectAndOfCameras) {
  EXPECT_EQ(time_in_name("video0_20271122T101500.123Z_open"), kTime * 1000 + 123);
  EXPECT_EQ(time_in_name("front~1a2b3c4d_20271122T101500.123Z_open"), kTime * 1000 + 123);
  EXPECT_EQ(time_in_name("IMG_20271122_101500"), kTime * 1000);
  EXPECT_EQ(time_in_name("20271122-101500"), kTime * 1000);
}

TEST(TimeInName, OtherNumbersAreNoTimes) {
  for (const char* name : {"img10", "20271122", "99999999T101500", "20271322_101500",
                           "20271122_251500", "120271122_101500"}) {
    EXPECT_FALSE(time_in_name(name)) << name;
  }
}

void append(std::string& to, std::uint32_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(number >> (8 * i));
}

// A big-endian TIFF with an EXIF directory that has one tag: the time.
std::string exif(const std::string& time) {
  std::string tiff = "MM";
  append(tiff, 42, 2);
  append(tiff, 8, 4);
  append(tiff, 1, 2);
  for (const auto& [number, bytes] : {std::pair{0x8769U, 2}, {4U, 2}, {1U, 4}, {26U, 4}, {0U, 4}}) {
    append(tiff, number, bytes);
  }
  append(tiff, 1, 2);
  for (const auto& [number, bytes] :
       {std::pair{0x9003U, 2}, {2U, 2}, {20U, 4}, {44U, 4}, {0U, 4}}) {
    append(tiff, number, bytes);
  }
  return std::string("Exif\0\0", 6) + tiff + time + '\0';
}

std::string jpeg(const std::string& segment) {
  std::string file = "\xff\xd8\xff\xe1";
  append(file, static_cast<std::uint32_t>(segment.size()) + 2, 2);
  return file + segment + "\xff\xda and the picture";
}

TEST(ExifTime, IsReadFromTheFirstSegments) {
  EXPECT_EQ(exif_time_of_jpeg(jpeg(exif("2027:11:22 10:15:00"))), kTime);
  EXPECT_FALSE(exif_time_of_jpeg(jpeg(exif("0000:00:00 00:00:00"))));
  EXPECT_FALSE(exif_time_of_jpeg(jpeg(exif("    :  :     :  :  "))));
  EXPECT_FALSE(exif_time_of_jpeg("no JPEG"));
  EXPECT_FALSE(exif_time_of_jpeg(""));
}

TEST(ExifTime, DamagedDataHaveNone) {
  const std::string whole = jpeg(exif("2027:11:22 10:15:00"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto time = exif_time_of_jpeg(whole.substr(0, size));
    EXPECT_TRUE(!time || *time == kTime) << size;
  }
}

TEST(TimeOf, PrefersTheCamerasOwn) {
  const TempDir folder;
  const std::string named =
      folder.write("IMG_20261122_101500.jpg", jpeg(exif("2027:11:22 10:15:00")));
  EXPECT_EQ(time_of(named).ms, kTime * 1000);
  EXPECT_EQ(time_of(named).origin, PictureTime::Origin::kExif);
  EXPECT_EQ(time_of(named).hour(), 10);
  const std::string plain = folder.write("IMG_20271122_101500.png", "no EXIF");
  EXPECT_EQ(time_of(plain).origin, PictureTime::Origin::kName);
  const std::string nameless = folder.write("a.png", "");
  const std::array<timespec, 2> times{timespec{1000, 0}, timespec{1000, 250'000'000}};
  utimensat(AT_FDCWD, nameless.c_str(), times.data(), 0);
  EXPECT_EQ(time_of(nameless).ms, 1'000'250);
  EXPECT_FALSE(time_of(nameless).is_taken());
}

TEST(TellOrder, FilesThatWereCopiedTellNothing) {
  std::vector<PictureTime> times(100);
  EXPECT_FALSE(tell_order(times));
  for (std::size_t i = 0; i < times.size(); ++i) times[i].ms = static_cast<std::int64_t>(i) * 10;
  EXPECT_FALSE(tell_order(times)) << "100 files a second";
  for (std::size_t i = 0; i < times.size(); ++i) times[i].ms = static_cast<std::int64_t>(i) * 1000;
  EXPECT_TRUE(tell_order(times));
  times.assign(100, {0, PictureTime::Origin::kExif});
  EXPECT_TRUE(tell_order(times)) << "a burst: in the order of the names";
}

TEST(TellOrder, OneDateDoesNotMakeCopiedFilesTellMore) {
  std::vector<PictureTime> times(120);
  times[7] = {-1'000'000'000, PictureTime::Origin::kExif};
  EXPECT_FALSE(tell_order(times));
  times[7] = {-1'000'000'000, PictureTime::Origin::kFile};
  EXPECT_FALSE(tell_order(times)) << "one file that is older";
  for (std::size_t i = 60; i < times.size(); ++i) times[i].ms = 3'600'000;
  EXPECT_FALSE(tell_order(times)) << "copied in two steps";
}

}  // namespace
}  // namespace lookout
