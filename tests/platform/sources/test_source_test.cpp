#include "platform/sources/test_source.h"

#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <string>

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

TestSourceOptions unpaced(std::optional<Pattern> pattern) {
  TestSourceOptions options;
  options.pattern = pattern;
  options.width = 160;
  options.height = 96;
  options.fps = 0;
  return options;
}

bool same_pixels(const cv::Mat& a, const cv::Mat& b) { return cv::norm(a, b, cv::NORM_INF) == 0; }

TEST(TestSource, SaysWhatItShows) {
  const TestSource paced(TestSourceOptions{});
  EXPECT_EQ(paced.info().name, "test");
  EXPECT_EQ(paced.info().description, "test pattern all, 640x480, 30 fps");
  EXPECT_TRUE(paced.info().live);
  const TestSource fast(unpaced(Pattern::kCross));
  EXPECT_EQ(fast.info().description, "test pattern cross, 160x96, unpaced");
  EXPECT_FALSE(fast.info().live);
}

TEST(TestSource, FirstFrameIsThePatternButForTheMarker) {
  TestSource source(unpaced(Pattern::kColorSquares));
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.bgr.size(), cv::Size(160, 96));
  EXPECT_EQ(frame.bgr.type(), CV_8UC3);
  EXPECT_EQ(frame.origin, "test://colorsquares");
  cv::Mat pattern(frame.bgr.size(), CV_8UC3);
  draw_pattern(Pattern::kColorSquares, pattern);
  // The square in the middle is 96 pixels wide, the marker 6, at its left at first.
  const cv::Rect marker(32, 84, 6, 6);
  EXPECT_FALSE(same_pixels(frame.bgr(marker), pattern(marker)));
  draw_marker(marker, frame.bgr);
  EXPECT_TRUE(same_pixels(frame.bgr, pattern));
}

TEST(TestSource, TheMarkerIsAtTheLowerEdgeOfTheSquareInTheMiddle) {
  for (const cv::Size size : {cv::Size(160, 96), {96, 160}}) {
    TestSourceOptions options = unpaced(Pattern::kBlack);
    options.width = size.width;
    options.height = size.height;
    TestSource source(options);
    Frame frame;
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    cv::Mat gray;
    cv::cvtColor(frame.bgr, gray, cv::COLOR_BGR2GRAY);
    const cv::Rect square((size.width - 96) / 2, (size.height - 96) / 2, 96, 96);
    const cv::Rect marker = cv::boundingRect(gray);
    EXPECT_EQ(marker & square, marker);
    EXPECT_EQ(marker.tl(), square.tl() + cv::Point(0, 84));
  }
}

TEST(TestSource, FramesDifferEvenWhenThePatternIsPlain) {
  TestSource source(unpaced(Pattern::kBlack));
  Frame before;
  Frame frame;
  ASSERT_EQ(source.read(before, kTimeout), ReadStatus::kFrame);
  for (int i = 0; i < 63; ++i) {
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    EXPECT_FALSE(same_pixels(before.bgr, frame.bgr)) << "frame " << i + 1;
    std::swap(before, frame);
  }
}

TEST(TestSource, AStillOneDiffersByItsNoiseAlone) {
  for (const Pattern pattern : {Pattern::kCross, Pattern::kNoise}) {
    auto options = unpaced(pattern);
    options.still = true;
    TestSource still(options);
    EXPECT_EQ(still.info().description,
              "test pattern " + std::string(to_text(pattern)) + ", 160x96, unpaced, still");
    cv::Mat drawn(96, 160, CV_8UC3);
    draw_pattern(pattern, drawn);
    options.noise = 3;
    TestSource noisy(options);
    Frame before;
    Frame frame;
    ASSERT_EQ(noisy.read(before, kTimeout), ReadStatus::kFrame);
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(still.read(frame, kTimeout), ReadStatus::kFrame);
      EXPECT_TRUE(same_pixels(frame.bgr, drawn)) << "frame " << i;
      ASSERT_EQ(noisy.read(frame, kTimeout), ReadStatus::kFrame);
      EXPECT_FALSE(same_pixels(before.bgr, frame.bgr)) << "frame " << i + 1;
      EXPECT_LT(cv::norm(frame.bgr, drawn, cv::NORM_INF), 20) << "noise of 3 levels";
      std::swap(before, frame);
    }
  }
}

TEST(TestSource, PictureSwaysByASixteenthOfItsWidth) {
  TestSource source(unpaced(Pattern::kRamp));
  Frame frame;
  std::set<int> shifts;
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    int black = 0;  // the column where the ramp begins
    while (frame.bgr.at<cv::Vec3b>(0, black)[0] != 0) ++black;
    shifts.insert(black > 80 ? black - 160 : black);
  }
  EXPECT_EQ(*shifts.begin(), -10);
  EXPECT_EQ(*shifts.rbegin(), 10);
}

TEST(TestSource, IsTheSameInEveryRun) {
  auto options = unpaced(std::nullopt);
  options.noise = 12;
  options.hold = 2;
  TestSource one(options);
  TestSource other(options);
  Frame a;
  Frame b;
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(one.read(a, kTimeout), ReadStatus::kFrame);
    ASSERT_EQ(other.read(b, kTimeout), ReadStatus::kFrame);
    ASSERT_TRUE(same_pixels(a.bgr, b.bgr)) << "frame " << i;
  }
}

TEST(TestSource, AllShowsThePatternsInTurn) {
  auto options = unpaced(std::nullopt);
  options.hold = 3;
  TestSource source(options);
  Frame frame;
  for (std::size_t i = 0; i < kPatternNames.size() * 3 + 1; ++i) {
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    EXPECT_EQ(frame.origin, "test://" + std::string(kPatternNames[i / 3 % kPatternNames.size()]));
  }
}

TEST(TestSource, EndsAfterTheFramesAskedFor) {
  auto options = unpaced(Pattern::kBlue);
  options.frames = 2;
  TestSource source(options);
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kEnd);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kEnd);
}

TEST(TestSource, NoiseHasTheStandardDeviationAskedFor) {
  auto options = unpaced(Pattern::kGray);
  options.noise = 10;
  TestSource source(options);
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(frame.bgr.rowRange(0, 80), mean, deviation);  // above the marker
  EXPECT_NEAR(mean[0], 127, 0.5);
  EXPECT_NEAR(deviation[0], 10, 0.5);
}

TEST(TestSource, NoiseIsClampedNotWrapped) {
  auto options = unpaced(Pattern::kWhite);
  options.noise = 10;
  TestSource source(options);
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  double min = 0;
  double max = 0;
  cv::minMaxLoc(frame.bgr.rowRange(0, 80).reshape(1), &min, &max);
  EXPECT_GT(min, 255 - 7 * 10);
  EXPECT_EQ(max, 255);
}

TEST(TestSource, KeepsTheFramesMemory) {
  TestSource source(unpaced(std::nullopt));
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  const auto* pixels = frame.bgr.data;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.bgr.data, pixels);
}

TEST(TestSource, PacedFramesAreWholePeriodsApart) {
  TestSourceOptions options;
  options.pattern = Pattern::kBlack;
  options.fps = 100;
  TestSource source(options);
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  auto before = frame.captured;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
    EXPECT_LE(frame.captured, Clock::now());
    const auto distance = frame.captured - before;
    EXPECT_GE(distance, milliseconds(10));
    EXPECT_EQ(distance % milliseconds(10), Clock::duration::zero());
    before = frame.captured;
  }
}

TEST(TestSource, TimesOutBeforeTheFrameIsDue) {
  TestSourceOptions options;
  options.fps = kMinTestFps;
  TestSource source(options);
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame) << "the first one is due at once";
  EXPECT_EQ(source.read(frame, milliseconds(1)), ReadStatus::kTimeout);
  EXPECT_EQ(source.read(frame, milliseconds(0)), ReadStatus::kTimeout);
}

}  // namespace
}  // namespace lookout
