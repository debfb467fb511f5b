#include "platform/cameras/color_range.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/captured_log.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kRampWidth = 64;
constexpr int kRampHeight = 48;

// A picture whose luma rises from left to right, with chroma of one value.
class Ramp {
 public:
  Ramp(RawFormat format, int first, int last, unsigned char chroma = 128) {
    picture.format = format;
    picture.width = kRampWidth;
    picture.height = kRampHeight;
    picture.lines = kRampHeight;
    picture.stride = min_stride(format, kRampWidth) + 8;
    memory_.assign(picture.stride * kRampHeight * 3, chroma);
    set_planes(memory_.data(), picture);
    const std::size_t step = plane_count(format) == 1 ? 2 : 1;
    const std::size_t offset = format == RawFormat::kUyvy ? 1 : 0;
    for (std::size_t y = 0; y < kRampHeight; ++y) {
      for (std::size_t x = 0; x < kRampWidth; ++x) {
        memory_[y * picture.stride + x * step + offset] = static_cast<unsigned char>(
            first + (last - first) * static_cast<int>(x) / (kRampWidth - 1));
      }
    }
  }

  RawPicture picture;

 private:
  std::vector<unsigned char> memory_;
};

class ColorRange : public testing::TestWithParam<RawFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, ColorRange,
                         testing::Values(RawFormat::kYuyv, RawFormat::kYvyu, RawFormat::kUyvy,
                                         RawFormat::kNv12, RawFormat::kNv21, RawFormat::kI420,
                                         RawFormat::kYv12));

TEST_P(ColorRange, IsFullWhereManyPixelsAreOutsideTheLimitedOne) {
  const RawFormat format = GetParam();
  EXPECT_NEAR(*luma_outside(Ramp(format, 0, 255).picture), (12 + 16) / 256.0, 0.04);
  EXPECT_GT(*luma_outside(Ramp(format, 0, 100).picture), 0.1) << "dark";
  EXPECT_GT(*luma_outside(Ramp(format, 100, 255).picture), 0.08) << "bright";
  EXPECT_EQ(*luma_outside(Ramp(format, 16, 235).picture), 0);
  EXPECT_EQ(*luma_outside(Ramp(format, 13, 238).picture), 0) << "overshoot";
  EXPECT_EQ(luma_outside(Ramp(format, 0, 0, 0).picture), std::nullopt) << "not filled";
  EXPECT_EQ(*luma_outside(Ramp(format, 0, 0).picture), 1) << "black";
}

TEST(RangeMeter, SaysOnceWhatIsTakenAndWhy) {
  const CapturedLog log;
  RangeMeter meter("csi://0");
  EXPECT_TRUE(meter.is_full(Ramp(RawFormat::kNv12, 0, 255).picture));
  EXPECT_TRUE(meter.is_full(Ramp(RawFormat::kNv12, 60, 90).picture)) << "as before";
  EXPECT_THAT(log.text(), HasSubstr("camera csi://0 declares no color range: the luma of "));
  EXPECT_THAT(log.text(), HasSubstr("so the full range, 0..255, is taken"));
  EXPECT_EQ(log.text().find("declares"), log.text().rfind("declares"));
}

TEST(RangeMeter, LaterLooksAtSomePictures) {
  const CapturedLog log;
  RangeMeter meter("/dev/video0");
  const Ramp gray(RawFormat::kYuyv, 60, 90);
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(meter.is_full(gray.picture));
  const Ramp bright(RawFormat::kYuyv, 60, 255);
  EXPECT_TRUE(meter.is_full(bright.picture)) << "the 31st";
  RangeMeter other("/dev/video1");
  for (int i = 0; i < 31; ++i) EXPECT_FALSE(other.is_full(gray.picture));
  for (int i = 0; i < 29; ++i) EXPECT_FALSE(other.is_full(bright.picture));
  EXPECT_TRUE(other.is_full(bright.picture)) << "the 61st";
}

TEST(RangeMeter, IsLimitedUntilAPictureHasMore) {
  const CapturedLog log;
  RangeMeter meter("/dev/video0");
  EXPECT_FALSE(meter.is_full(Ramp(RawFormat::kYuyv, 0, 0, 0).picture));
  EXPECT_THAT(log.text(), IsEmpty()) << "nothing was filled";
  EXPECT_FALSE(meter.is_full(Ramp(RawFormat::kYuyv, 60, 90).picture));
  EXPECT_THAT(log.text(), HasSubstr("so the limited range is taken"));
  EXPECT_TRUE(meter.is_full(Ramp(RawFormat::kYuyv, 0, 90).picture));
  EXPECT_THAT(log.text(), HasSubstr("so the full range, 0..255, is taken"));
}

}  // namespace
}  // namespace lookout
