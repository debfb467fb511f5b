#include "platform/overlay/overlay_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "paths.h"
#include "platform/overlay/overlay_reporter.h"
#include "platform/sources/test_pattern.h"
#include "tests/support/overlay_places.h"

namespace lookout {
namespace {

const cv::Rect kPicturePlace(0, 0, kOverlayPictureWidth, kOverlayHeight);
const cv::Rect kPanel(kOverlayPictureWidth, 0, kOverlayWidth - kOverlayPictureWidth,
                      kOverlayHeight);

cv::Mat picture(int width = kOverlayPictureWidth, int height = kOverlayHeight) {
  cv::Mat bgr(height, width, CV_8UC3, cv::Scalar(200, 100, 50));
  bgr(cv::Rect(0, 0, width / 2, height / 2)).setTo(cv::Scalar(0, 0, 255));
  return bgr;
}

OverlayContent content(float score) {
  OverlayContent result;
  result.rows = 1;
  result.row[0].label = overlay_text("label");
  result.row[0].score = score;
  return result;
}

cv::Mat drawn(const cv::Mat& picture, const View& view, const OverlayContent& content) {
  cv::Mat canvas;
  draw_overlay(picture, view, content, canvas);
  return canvas;
}

// The largest difference of a channel.
double difference(const cv::Mat& a, const cv::Mat& b) { return cv::norm(a, b, cv::NORM_INF); }

bool is(const cv::Mat& canvas, int x, int y, const cv::Vec3b& bgr) {
  return canvas.at<cv::Vec3b>(y, x) == bgr;
}

const cv::Vec3b kRed(0, 0, 255);
const cv::Vec3b kOther(200, 100, 50);

TEST(OverlayLayout, APictureThatFitsIsShownByteForByte) {
  const cv::Mat canvas = drawn(picture(), {}, {});
  EXPECT_EQ(canvas.size(), cv::Size(kOverlayWidth, kOverlayHeight));
  EXPECT_EQ(difference(canvas(kPicturePlace), picture()), 0);
}

TEST(OverlayLayout, OtherSizesAreScaledToTheirPlaceAndCentred) {
  const cv::Mat wide = drawn(picture(1280, 720), {}, {});  // becomes 640x360, from y = 60
  EXPECT_TRUE(is(wide, 0, 61, kRed) && is(wide, 639, 418, kOther));
  EXPECT_FALSE(is(wide, 0, 58, kRed) || is(wide, 639, 421, kOther));
  const cv::Mat high = drawn(picture(30, 60), {}, {});  // becomes 240x480, from x = 200
  EXPECT_TRUE(is(high, 201, 0, kRed) && is(high, 438, 479, kOther));
  EXPECT_FALSE(is(high, 198, 0, kRed) || is(high, 441, 479, kOther));
}

TEST(OverlayLayout, ThePictureIsTurnedAndThenMirrored) {
  View view;
  view.rotation = 90;
  EXPECT_TRUE(is(drawn(picture(480, 640), view, {}), 639, 0, kRed));
  view.hflip = true;
  EXPECT_TRUE(is(drawn(picture(480, 640), view, {}), 0, 0, kRed));
  view.vflip = true;
  EXPECT_TRUE(is(drawn(picture(480, 640), view, {}), 0, 479, kRed));
}

TEST(OverlayLayout, ARegionOfInterestIsFramed) {
  View view;
  view.roi = {0.25, 0.5, 0.5, 0.25};
  const cv::Mat canvas = drawn(picture(), view, {});
  const auto& frame = canvas.at<cv::Vec3b>(240, 160);
  EXPECT_TRUE(is(canvas, 479, 359, frame));
  EXPECT_FALSE(is(canvas, 159, 239, frame) || is(canvas, 320, 300, frame));
}

TEST(OverlayLayout, BoxesAreFramedInPlaceOfTheRegionWithTheirNamesAtTheTop) {
  View view;
  view.roi = {0.25, 0.5, 0.5, 0.25};
  OverlayContent boxes;
  boxes.boxes = 3;
  boxes.box[0] = {{0, 0.25, 0.5, 0.5}, overlay_text("gate: open")};
  boxes.box[1] = {{0, 0.25, 0.5, 0.5}, overlay_text("slow: open")};
  boxes.box[2] = {{0.9, 0.75, 0.1, 0.25}, overlay_text("a name that is wider than its box")};
  const cv::Mat canvas = drawn(picture(), view, boxes);
  const cv::Vec3b frame = canvas.at<cv::Vec3b>(350, 0);
  EXPECT_FALSE(is(canvas, 0, 370, frame));
  EXPECT_TRUE(is(canvas, 319, 200, frame) && is(canvas, 100, 359, frame));
  EXPECT_TRUE(is(canvas, 576, 400, frame));
  EXPECT_FALSE(is(canvas, 400, 240, frame)) << "the region";
  // The grounds of the names: two of one rectangle are under each other, and none is cut.
  const cv::Vec3b ground = canvas.at<cv::Vec3b>(240, kOverlayWidth - 1);
  EXPECT_TRUE(is(canvas, 1, 121, ground) && is(canvas, 1, 158, ground));
  EXPECT_FALSE(is(canvas, 1, 161, ground));
  EXPECT_TRUE(is(canvas, kOverlayPictureWidth - 1, 361, ground) && is(canvas, 450, 361, ground));
}

TEST(OverlayLayout, BarsAreAsLongAsTheScores) {
  const cv::Mat none = drawn(picture(), {}, content(0));
  const cv::Mat half = drawn(picture(), {}, content(0.5F));
  const cv::Mat full = drawn(picture(), {}, content(1));
  const int bar = 108;  // a row of pixels of the first bar
  const auto length = [&](const cv::Mat& canvas) {
    cv::Mat differs;
    cv::absdiff(none.row(bar), canvas.row(bar), differs);
    return cv::countNonZero(differs.reshape(1)) / 3;
  };
  EXPECT_GT(length(full), 250);
  EXPECT_NEAR(length(half), length(full) / 2.0, 1);
}

TEST(OverlayLayout, WhatIsTooLongIsCutInsideThePanel) {
  OverlayContent long_texts = content(1);
  long_texts.title = long_texts.rates = long_texts.latency = long_texts.row[0].label =
      overlay_text(std::string(200, 'W'));
  const cv::Mat canvas = drawn(picture(), {}, long_texts);
  EXPECT_EQ(difference(canvas(kPicturePlace), picture()), 0);
  const cv::Mat margin = canvas(kPanel).colRange(kPanel.width - 10, kPanel.width);
  EXPECT_EQ(difference(margin, cv::Mat(margin.size(), CV_8UC3, canvas.at<cv::Vec3b>(0, 950))), 0);
}

TEST(OverlayLayout, TextsAreCutToTheSizeBetweenCharacters) {
  EXPECT_STREQ(overlay_text("short").data(), "short");
  EXPECT_STREQ(overlay_text(std::string(200, 'a')).data(), std::string(127, 'a').c_str());
  EXPECT_STREQ(overlay_text(std::string(126, 'a') + "äa").data(), std::string(126, 'a').c_str());
  EXPECT_STREQ(overlay_text(std::string(125, 'a') + "äa").data(),
               (std::string(125, 'a') + "ä").c_str());
  EXPECT_STREQ(overlay_text("Käse, 猫\t\xff").data(), "Käse, 猫\\x09\\xff");
}

TEST(OverlayLayout, WithoutAFontOtherCharactersThanAsciiAreQuestionMarks) {
  OverlayContent marks = content(1);
  marks.row[0].label = overlay_text("K?se, ?");
  OverlayContent others = marks;
  others.row[0].label = overlay_text("Käse, 猫");
  EXPECT_EQ(difference(drawn(picture(), {}, marks), drawn(picture(), {}, others)), 0);
}

// Draws a white block.
class BlockFont : public OverlayFont {
 public:
  cv::Mat picture(const std::string& text, int width) override {
    texts.push_back(text);
    return {10, std::min(width, 40), CV_8UC1, cv::Scalar(255)};
  }
  std::vector<std::string> texts;
};

TEST(OverlayLayout, AFontDrawsTextsThatAreNotAscii) {
  OverlayContent texts = content(1);
  texts.title = overlay_text("門");
  texts.row[0].label = overlay_text("geöffnet");
  BlockFont font;
  cv::Mat canvas;
  draw_overlay(picture(), {}, texts, canvas, &font);
  EXPECT_THAT(font.texts, testing::ElementsAre("門", "geöffnet"));
  EXPECT_TRUE(is(canvas, kOverlayPictureWidth + 13, 11, cv::Vec3b(245, 245, 245)));
}

// The whole of it, as people have looked at and liked it.
TEST(OverlayLayout, IsThatOfTheReference) {
  cv::Mat bgr(480, 640, CV_8UC3);
  draw_pattern(Pattern::kColorBars, bgr);
  OverlayContent texts;
  texts.title = overlay_text("front: mobilenet_v2");
  texts.rates = overlay_text("30.0 fps (camera 30.0)  dropped 0");
  texts.latency = overlay_text("latency 27.1 ms  age 31.2 ms");
  texts.rows = kOverlayRows;
  float score = 0.873F;
  for (OverlayRow& row : texts.row) {
    row = {overlay_text("a label of its own"), score};
    score /= 3;
  }
  View view;
  view.roi = {0.1, 0.1, 0.5, 0.75};
  const cv::Mat canvas = drawn(bgr, view, texts);
  const cv::Mat reference = cv::imread(LOOKOUT_TEST_DATA "/overlay.png");
  ASSERT_EQ(canvas.size(), reference.size());
  // On average over all channels of a part: fonts are not drawn alike by every version of OpenCV,
  // and a text that is missing is off by more than 1 in the part that it belongs to.
  const auto expect_alike = [&](const cv::Rect& part) {
    const double off = cv::norm(canvas(part), reference(part), cv::NORM_L1) / part.area();
    EXPECT_LT(off / 3, 0.5) << part;
  };
  expect_alike(kPicturePlace);
  for (int line = 0; line < kOverlayLines; ++line) expect_alike(overlay_line(line));
  for (int row = 0; row < kOverlayRows; ++row) expect_alike(overlay_row(row));
  expect_alike(kPanel);
  if (!HasFailure()) return;
  const std::string drawing = testing::TempDir() + "overlay_layout.png";
  cv::imwrite(drawing, canvas);
  ADD_FAILURE() << "what was drawn is in " << drawing;
}

}  // namespace
}  // namespace lookout
