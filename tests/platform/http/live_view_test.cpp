#include "platform/http/live_view.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/platform/http/http_testing.h"
#include "tests/support/encoded_jpeg.h"

namespace lookout {
namespace {

class LiveViewTest : public testing::Test {
 protected:
  void put(int grey) { slots_.put(result_of(++sequence_), grey_frame(grey)); }
  void advance(std::chrono::milliseconds by = LiveView::kInterval) { view_.advance(now_ += by); }
  // The grey of the next part; -1: there is none.
  static int next_grey(HttpStream& stream) {
    HttpPart part;
    return stream.next(part) ? grey_of(*part.body) : -1;
  }
  void go_away() { slots_.put(CameraStatus{false, std::chrono::system_clock::now()}); }

  LiveSlots slots_;
  LiveView view_{slots_, {}};
  Clock::time_point now_{std::chrono::hours(1)};
  std::uint64_t sequence_ = 0;
};

TEST_F(LiveViewTest, NothingIsEncodedForNobody) {
  put(10);
  advance();
  put(20);
  advance();
  EXPECT_EQ(view_.encoded(), 0U);
  EXPECT_FALSE(slots_.take_picture());
}

TEST_F(LiveViewTest, TenViewersShareOneEncodedPicture) {
  LiveView view(slots_, {{}, 10, 80});
  std::vector<std::unique_ptr<HttpStream>> viewers;
  viewers.reserve(10);
  for (int i = 0; i < 10; ++i) viewers.push_back(view.open(0, false, now_));
  put(100);
  view.advance(now_);
  for (const auto& viewer : viewers) EXPECT_NEAR(next_grey(*viewer), 100, 2);
  EXPECT_EQ(view.encoded(), 1U);
  EXPECT_EQ(view.open(0, false, now_), nullptr);
  viewers.pop_back();
  EXPECT_NE(view.open(0, false, now_), nullptr);
}

TEST_F(LiveViewTest, ASlowViewerGetsTheNewestPicture) {
  const auto viewer = view_.open(0, false, now_);
  for (const int grey : {10, 50, 90}) {
    put(grey);
    advance();
  }
  EXPECT_NEAR(next_grey(*viewer), 90, 2);
  EXPECT_EQ(next_grey(*viewer), -1);
  EXPECT_EQ(view_.sent(), 1U);
  put(100);
  advance();
  put(110);
  advance();
  EXPECT_NEAR(next_grey(*viewer), 110, 2);
  EXPECT_EQ(view_.sent(), 2U);
  EXPECT_EQ(view_.skipped(), 1U);
}

TEST_F(LiveViewTest, AtMostTenPicturesASecondAreEncoded) {
  const auto viewer = view_.open(0, false, now_);
  for (int i = 0; i < 100; ++i) {
    put(i);
    advance(std::chrono::milliseconds(10));
  }
  EXPECT_GE(view_.encoded(), 9U);
  EXPECT_LE(view_.encoded(), 12U);
}

TEST_F(LiveViewTest, TheLastPictureIsSentAgainAfterASecond) {
  const auto viewer = view_.open(0, false, now_);
  put(70);
  advance();
  EXPECT_NEAR(next_grey(*viewer), 70, 2);
  advance(std::chrono::milliseconds(900));
  EXPECT_EQ(next_grey(*viewer), -1);
  advance();
  EXPECT_NEAR(next_grey(*viewer), 70, 2);
  EXPECT_EQ(view_.encoded(), 1U);
}

TEST_F(LiveViewTest, AViewerMayAskForFewerPictures) {
  const auto viewer = view_.open(2, false, now_);
  int pictures = 0;
  for (int i = 0; i < 20; ++i) {
    put(i);
    advance();
    if (next_grey(*viewer) >= 0) ++pictures;
  }
  EXPECT_EQ(pictures, 4);
  EXPECT_EQ(view_.skipped(), 0U);
}

TEST_F(LiveViewTest, APartHasItsLengthAndTimeUnlessItsHeadComesEarlier) {
  const auto plain = view_.open(0, false, now_);
  const auto early = view_.open(0, true, now_);
  put(1);
  advance();
  HttpPart part;
  ASSERT_TRUE(plain->next(part));
  EXPECT_EQ(part.head, "--lookout-picture\r\nContent-Type: image/jpeg\r\nContent-Length: " +
                           std::to_string(part.body->size()) +
                           "\r\nX-Timestamp: 1795000000.000\r\n\r\n");
  EXPECT_EQ(part.tail, "\r\n");
  const std::string head = "--lookout-picture\r\nContent-Type: image/jpeg\r\n\r\n";
  ASSERT_TRUE(early->next(part));
  EXPECT_EQ(part.head, head);
  EXPECT_EQ(part.tail, "\r\n" + head);
  put(2);
  advance();
  ASSERT_TRUE(early->next(part));
  EXPECT_EQ(part.head, "");
}

TEST_F(LiveViewTest, PicturesAreTurnedAndMirrored) {
  LiveViewOptions options;
  options.view.rotation = 90;
  options.view.hflip = true;
  LiveView view(slots_, options);
  const auto viewer = view.open(0, false, now_);
  Frame frame = grey_frame(0);
  frame.bgr(cv::Rect(0, 0, 32, 24)) =
      cv::Scalar::all(250);  // top left: turned, top right; mirrored, top left
  slots_.put(result_of(1), frame);
  view.advance(now_);
  HttpPart part;
  ASSERT_TRUE(viewer->next(part));
  const std::vector<char> bytes(part.body->begin(), part.body->end());
  const cv::Mat picture = cv::imdecode(bytes, cv::IMREAD_GRAYSCALE);
  ASSERT_EQ(picture.size(), cv::Size(48, 64));
  EXPECT_GT(picture.at<unsigned char>(8, 8), 200);
  EXPECT_LT(picture.at<unsigned char>(8, 40), 50);
  EXPECT_LT(picture.at<unsigned char>(56, 8), 50);
}

class LiveJpegTest : public testing::Test {
 protected:
  // The frame of a camera that sends JPEGs. Its pixels differ, to show which of both are taken.
  void put(int grey, bool is_damaged = false) {
    Frame frame;
    frame.picture.begin(CameraPicture::Kind::kJpeg, nullptr);
    frame.picture.bytes = is_damaged ? Bytes(9, 'U') : encoded(grey_frame(255 - grey).bgr);
    frame.picture.whole = grey_frame(grey).bgr;
    frame.picture.has_whole = true;
    slots_.put(result_of(++sequence_), frame);
  }
  void advance(LiveView& view) { view.advance(now_ += LiveView::kInterval); }

  LiveSlots slots_;
  Clock::time_point now_{std::chrono::hours(1)};
  std::uint64_t sequence_ = 0;
};

TEST_F(LiveJpegTest, TheCamerasOwnJpegsArePassedOn) {
  LiveView view(slots_, {});
  const auto viewer = view.open(0, false, now_);
  HttpPart part;
  for (int grey = 20; grey < 60; grey += 10) {
    put(grey);
    advance(view);
    ASSERT_TRUE(viewer->next(part));
    EXPECT_EQ(Bytes(part.body->begin(), part.body->end()), encoded(grey_frame(255 - grey).bgr));
  }
  EXPECT_EQ(view.passed(), 4U);
  EXPECT_EQ(view.encoded(), 0U);
}

TEST_F(LiveJpegTest, ASnapshotIsTheCamerasOwnJpeg) {
  LiveView view(slots_, {});
  HttpResponse answer;
  view.snapshot([&answer](HttpResponse response) { answer = std::move(response); }, now_);
  put(20);
  advance(view);
  ASSERT_TRUE(answer.body);
  EXPECT_NEAR(grey_of(*answer.body), 235, 2);
  EXPECT_EQ(view.encoded(), 0U);
}

TEST_F(LiveJpegTest, PicturesThatAreTurnedAreEncoded) {
  LiveViewOptions options;
  options.view.hflip = true;
  LiveView view(slots_, options);
  const auto viewer = view.open(0, false, now_);
  put(30);
  advance(view);
  HttpPart part;
  ASSERT_TRUE(viewer->next(part));
  EXPECT_NEAR(grey_of(*part.body), 30, 2);
  EXPECT_EQ(view.passed(), 0U);
}

TEST_F(LiveJpegTest, AfterAJpegThatIsNonePicturesAreEncoded) {
  LiveView view(slots_, {});
  const auto viewer = view.open(0, false, now_);
  put(30, /*is_damaged=*/true);
  advance(view);
  HttpPart part;
  EXPECT_FALSE(viewer->next(part));
  put(40);
  advance(view);
  ASSERT_TRUE(viewer->next(part));
  EXPECT_NEAR(grey_of(*part.body), 40, 2);
  EXPECT_EQ(view.encoded(), 1U);
}

TEST_F(LiveViewTest, WhileTheCameraIsAwayAPictureSaysSo) {
  const auto viewer = view_.open(0, false, now_);
  put(70);
  advance();
  EXPECT_NEAR(next_grey(*viewer), 70, 2);
  go_away();
  advance();
  HttpPart part;
  ASSERT_TRUE(viewer->next(part));
  EXPECT_EQ(cv::imdecode(std::vector<char>(part.body->begin(), part.body->end()), cv::IMREAD_COLOR)
                .size(),
            cv::Size(640, 480));
  advance();
  EXPECT_EQ(view_.encoded(), 2U);
  slots_.put(CameraStatus{true, std::chrono::system_clock::now()});
  put(80);
  advance();
  EXPECT_NEAR(next_grey(*viewer), 80, 2);
}

TEST_F(LiveViewTest, ASnapshotIsTheNextPictureOrAfterAWaitTheLast) {
  std::vector<HttpResponse> answers;
  const auto respond = [&answers](HttpResponse response) {
    answers.push_back(std::move(response));
  };
  view_.snapshot(respond, now_);
  EXPECT_TRUE(answers.empty());
  put(30);
  advance();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 200);
  EXPECT_NEAR(grey_of(*answers[0].body), 30, 2);
  now_ += std::chrono::minutes(1);
  view_.snapshot(respond, now_);
  advance(std::chrono::milliseconds(1900));
  EXPECT_EQ(answers.size(), 1U);
  advance();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_NEAR(grey_of(*answers[1].body), 30, 2);
  EXPECT_FALSE(view_.is_busy());
}

TEST_F(LiveViewTest, WithoutAPictureASnapshotIsAnError) {
  std::vector<HttpResponse> answers;
  const auto respond = [&answers](HttpResponse response) {
    answers.push_back(std::move(response));
  };
  view_.snapshot(respond, now_);
  advance(LiveView::kSnapshotWait);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 503);
  EXPECT_EQ(answers[0].type, "application/json");
  go_away();
  view_.snapshot(respond, now_);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].status, 503);
  EXPECT_EQ(answers[1].type, "image/jpeg");
}

}  // namespace
}  // namespace lookout
