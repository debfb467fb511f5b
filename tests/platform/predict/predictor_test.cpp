// Pictures that wait, without a server and without anybody who classifies them.
#include "platform/predict/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/run/picture_queue.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/scheduling.h"
#include "tests/support/encoded_jpeg.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

std::string jpeg() {
  const Bytes bytes = encoded(cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(1)));
  return {bytes.begin(), bytes.end()};
}

// Of one watch, "gate".
PlanPtr plan_with(Classifier& classifier) {
  Plan plan;
  PipelineRegion& region = plan.regions.emplace_back();
  region.classifiers.push_back(std::make_shared<Lent>(classifier));
  region.model = std::make_shared<ModelInfo>(model_info(classifier.spec()));
  plan.watches.push_back({std::make_shared<WatchInfo>(WatchInfo{"gate", {}}), 0, {}});
  return std::make_shared<const Plan>(std::move(plan));
}

TEST(Predictor, WhenTooManyWaitTheNextIsRefused) {
  PictureQueue pictures;  // nobody classifies
  PredictLimits limits;
  limits.queue = 1;
  const std::string picture = jpeg();
  Predictor predictor(pictures, limits);
  int accepted = 0;
  for (int i = 0; i < 3; ++i) {
    accepted += predictor.put({nullptr, {{"", picture}}, [](const auto&) {}}) ? 1 : 0;
  }
  EXPECT_GE(accepted, 1);
  EXPECT_LE(accepted, 2);  // one in work, one in the queue
  EXPECT_GE(predictor.retry_after(), std::chrono::seconds(1));
}

TEST(Predictor, WhatNobodyWaitsForIsDropped) {
  PictureQueue pictures;  // nobody classifies
  const std::string picture = jpeg();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  PredictLimits limits;
  limits.queue = 1;
  Predictor predictor(pictures, limits);
  const auto fail = [](const auto&) { ADD_FAILURE() << "nobody waits for this"; };
  ASSERT_TRUE(predictor.put({nullptr, {{"", picture}}, [](const auto&) {}}));
  while (!pictures.is_waiting()) std::this_thread::yield();  // the first is in work
  auto waiting = std::make_shared<const std::string>(picture);
  const std::weak_ptr<const std::string> held = waiting;
  ASSERT_TRUE(predictor.put({waiting, {{"", *waiting}}, fail, gone}));
  waiting.reset();
  EXPECT_EQ(predictor.waiting(), 2U);
  EXPECT_FALSE(held.expired());
  *gone = true;
  EXPECT_EQ(predictor.waiting(), 1U);
  EXPECT_TRUE(held.expired());
  EXPECT_TRUE(predictor.put({nullptr, {{"", picture}}, [](const auto&) {}}));
  predictor.deliver();
}

// Those of this process that are called `name`.
std::vector<id_t> threads_called(const std::string& name) {
  std::vector<id_t> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string called;
    std::getline(std::ifstream(task.path() / "comm"), called);
    if (called == name) threads.push_back(std::stoul(task.path().filename()));
  }
  return threads;
}

TEST(Predictor, ItsThreadsHaveALowPriorityUnlessFramesDoNotMatter) {
  const int before = getpriority(PRIO_PROCESS, 0);
  for (const bool in_background : {true, false}) {
    PictureQueue pictures;  // nobody classifies
    PredictLimits limits;
    limits.in_background = in_background;
    const std::string picture = jpeg();
    Predictor predictor(pictures, limits);
    ASSERT_TRUE(predictor.put({nullptr, {{"", picture}}, [](const auto&) {}}));
    while (!pictures.is_waiting()) std::this_thread::yield();  // the picture is in work
    const std::vector<id_t> threads = threads_called("predict");
    ASSERT_EQ(threads.size(), 1U);
    EXPECT_EQ(getpriority(PRIO_PROCESS, threads.front()),
              in_background ? std::max(before, kLowPriority) : before);
  }
}

TEST(Predictor, AddressesShareThePlacesAndAreServedInTurn) {
  PictureQueue pictures;
  FakeClassifier classifier;
  PictureClassifier picture_classifier(plan_with(classifier), 0);
  PredictLimits limits;
  limits.queue = 3;
  const std::string picture = jpeg();
  Predictor predictor(pictures, limits);
  std::vector<std::string> answers;
  const auto put = [&](const std::string& address, const std::string& name) {
    const auto done = [&answers, name](const auto& predicted) {
      answers.push_back(name + (predicted.front().result ? "" : " refused"));
    };
    return predictor.put({nullptr, {{name, picture}}, done, {}, address});
  };
  ASSERT_TRUE(put("192.0.2.1", "a1"));
  while (!pictures.is_waiting()) std::this_thread::yield();  // it is in work
  for (const char* name : {"a2", "a3", "a4"}) ASSERT_TRUE(put("192.0.2.1", name));
  EXPECT_FALSE(put("192.0.2.1", "a5"));
  EXPECT_TRUE(put("192.0.2.2", "b1"));
  EXPECT_FALSE(put("192.0.2.2", "b2"));  // they have two places and one
  predictor.deliver();
  EXPECT_THAT(answers, testing::ElementsAre("a4 refused"));
  while (answers.size() < 5) {
    if (!pictures.classify_waiting(picture_classifier)) std::this_thread::yield();
    predictor.deliver();
  }
  EXPECT_THAT(answers, testing::ElementsAre("a4 refused", "a1", "b1", "a2", "a3"));
}

TEST(Predictor, WhoGoesAwayLeavesTheRestOfTheirPicturesUnclassified) {
  PictureQueue pictures;
  FakeClassifier classifier;
  PictureClassifier picture_classifier(plan_with(classifier), 0);
  const std::string picture = jpeg();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  Predictor predictor(pictures, {});
  const auto fail = [](const auto&) { ADD_FAILURE() << "nobody waits for this"; };
  ASSERT_TRUE(predictor.put({nullptr, {{"", picture}, {"", picture}}, fail, gone}));
  while (!pictures.is_waiting()) std::this_thread::yield();  // the first is in work
  *gone = true;
  while (predictor.waiting() > 0) {
    if (!pictures.classify_waiting(picture_classifier)) std::this_thread::yield();
  }
  EXPECT_EQ(classifier.calls(), 1);
  predictor.deliver();
}

// Why these bytes, of a file of that name, have no result: status, code and message.
PredictFailure failure_of(const std::string& name, const std::string& bytes) {
  PictureQueue pictures;  // nobody classifies
  Predictor predictor(pictures, {});
  PredictFailure failure{0, "", {}};
  bool is_done = false;
  predictor.put({nullptr, {{name, bytes}}, [&](const auto& predicted) {
                   failure = predicted.front().failure;
                   is_done = true;
                 }});
  while (!is_done) {
    predictor.deliver();
    std::this_thread::yield();
  }
  return failure;
}

TEST(Predictor, WhatIsNoPictureIsNamed) {
  const std::string rest(40, '\0');
  const std::pair<std::string, std::string> files[] = {
      {std::string("\0\0\0\x18", 4) + "ftypheic",
       "a is HEIC, which is not read: send JPEG, PNG or WebP (iPhone: Settings > Camera > Formats "
       "> "
       "Most Compatible)"},
      {std::string("\0\0\0\x18", 4) + "ftypavif",
       "a is AVIF, which is not read: send JPEG, PNG or WebP"},
      {"GIF89a", "a is GIF, which is not read: send JPEG, PNG or WebP"},
      {"BM", "a is BMP, which is not read: send JPEG, PNG or WebP"},
      {std::string("II*\0", 4), "a is TIFF, which is not read: send JPEG, PNG or WebP"},
      {"%PDF-1.7", "a is a PDF, which is not read: send JPEG, PNG or WebP"},
      {"text", "a is neither JPEG nor PNG nor WebP"}};
  for (const auto& [start, message] : files) {
    const PredictFailure failure = failure_of("a", start + rest);
    EXPECT_EQ(failure.status, 415) << message;
    EXPECT_EQ(failure.code, std::string("not_a_picture"));
    EXPECT_EQ(failure.message, message);
  }
}

TEST(Predictor, AnAnimatedWebpIsNoPicture) {
  const std::string webp =
      std::string("RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0\2", 21) + std::string(64, '\0');
  const PredictFailure failure = failure_of("a.webp", webp);
  EXPECT_EQ(failure.status, 415);
  EXPECT_THAT(failure.message, testing::HasSubstr("a.webp is an animated WebP"));
}

TEST(Predictor, AWebpIsClassified) {
  PictureQueue pictures;
  FakeClassifier classifier;
  PictureClassifier picture_classifier(plan_with(classifier), 0);
  std::vector<unsigned char> webp;
  cv::imencode(".webp", cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(1)), webp);
  const std::string bytes(webp.begin(), webp.end());
  Predictor predictor(pictures, {});
  int status = -1;
  const auto done = [&](const auto& predicted) { status = predicted.front().failure.status; };
  ASSERT_TRUE(predictor.put({nullptr, {{"", bytes}}, done}));
  while (status < 0) {
    if (!pictures.classify_waiting(picture_classifier)) std::this_thread::yield();
    predictor.deliver();
  }
  EXPECT_EQ(status, 0);
}

// A reload may come between a request and its turn.
TEST(Predictor, AWatchThatIsGoneWhenItsTurnComesIsNotThere) {
  PictureQueue pictures;
  FakeClassifier classifier;
  PictureClassifier picture_classifier(plan_with(classifier), 0);
  const std::string picture = jpeg();
  Predictor predictor(pictures, {});
  PredictFailure failure{0, "", {}};
  const auto done = [&](const auto& predicted) { failure = predicted.front().failure; };
  ASSERT_TRUE(predictor.put({nullptr, {{"", picture}}, done, {}, {}, "lamp"}));
  while (failure.status == 0) {
    if (!pictures.classify_waiting(picture_classifier)) std::this_thread::yield();
    predictor.deliver();
  }
  EXPECT_EQ(failure.status, 404);
  EXPECT_STREQ(failure.code, "no_such_watch");
  EXPECT_EQ(failure.message, "there is no watch 'lamp': the watches are gate");
}

TEST(Predictor, ALimitIsNamedWithItsKey) {
  std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x7d\0\0\0\x7d\0\1\0\0\0\0", 29);
  const PredictFailure failure = failure_of("a.png", png);
  EXPECT_EQ(failure.status, 413);
  EXPECT_EQ(failure.message,
            "a.png is too large: 32000x32000 pixels, the limit is 25 megapixels (http.max-pixels), "
            "and 16384 a side");
}

TEST(Predictor, WhoGoesAwayStopsTheDecoder) {
  PictureQueue pictures;
  FakeClassifier classifier;
  PictureClassifier picture_classifier(plan_with(classifier), 0);
  // It takes a tenth of a second and more to decode.
  const Bytes bytes =
      encoded(cv::Mat(4900, 4900, CV_8UC3, cv::Scalar::all(1)), {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
  const std::string picture(bytes.begin(), bytes.end());
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  Predictor predictor(pictures, {});
  ASSERT_TRUE(predictor.put({nullptr, {{"", picture}}, [](const auto&) {}, gone}));
  while (predictor.waiting() == 0) std::this_thread::yield();
  *gone = true;
  while (predictor.waiting() > 0) {
    if (!pictures.classify_waiting(picture_classifier)) std::this_thread::yield();
  }
  EXPECT_EQ(classifier.calls(), 0);
}

}  // namespace
}  // namespace lookout
