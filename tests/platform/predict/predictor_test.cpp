// Pictures that wait, without a server and without anybody who classifies them.
#include "platform/predict/predictor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <thread>

#include "pipeline/flow/picture_queue.h"
#include "tests/support/encoded_jpeg.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

std::string jpeg() {
  const Bytes bytes = encoded(cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(1)));
  return {bytes.begin(), bytes.end()};
}

TEST(Predictor, WhenTooManyWaitTheNextIsRefused) {
  PictureQueue pictures(1, 0);  // nobody classifies
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
  PictureQueue pictures(1, 0);  // nobody classifies
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

TEST(Predictor, WhoGoesAwayLeavesTheRestOfTheirPicturesUnclassified) {
  PictureQueue pictures(1, 0);
  FakeClassifier classifier;
  FrameClassifier picture_classifier = pictures.make_classifier(classifier);
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

}  // namespace
}  // namespace lookout
