#include "pipeline/run/picture_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "pipeline/core/error.h"
#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

cv::Mat picture(int value) { return {8, 8, CV_8UC3, cv::Scalar::all(value)}; }

// A run in a thread of its own that classifies frames of `read`, and pictures.
class PictureRun {
 public:
  explicit PictureRun(FakeSource::Read read, int classifiers = 1,
                      const std::function<void(int)>& before_each = {})
      : source_(true, std::move(read)) {
    for (int i = 0; i < classifiers; ++i) {
      classifiers_.push_back(std::make_unique<FakeClassifier>(before_each));
    }
    thread_ = std::thread([this] {
      PipelineOptions options;
      options.pictures = &pictures;
      options.top_k = 3;
      run_pipeline(source_, classifiers_, {}, options, stop_);
    });
  }
  ~PictureRun() { end(); }
  PictureRun(const PictureRun&) = delete;
  PictureRun& operator=(const PictureRun&) = delete;
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // Empty: the run has ended.
  std::string label_of(int value) {
    const auto result = pictures.classify(picture(value));
    return result ? std::string(result->top.at(0).label) : "";
  }

  PictureQueue pictures;

 private:
  FakeSource source_;
  std::vector<std::unique_ptr<Classifier>> classifiers_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

FakeSource::Read no_frames() {
  return [](int, Frame&) {
    std::this_thread::yield();
    return ReadStatus::kTimeout;
  };
}

TEST(PictureQueue, ClassifiesWithoutFrames) {
  PictureRun run(no_frames());
  for (const int value : {7, 200, 7}) {
    EXPECT_EQ(run.label_of(value), "value " + std::to_string(value));
  }
  const auto result = run.pictures.classify(picture(9));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->top.size(), 3U);
  EXPECT_GE(result->frame_age, result->durations.preprocess + result->durations.inference);
  EXPECT_EQ(run.pictures.displaced(), 0U);
}

TEST(PictureQueue, WorkersClassifyToo) {
  PictureRun run(no_frames(), 3);
  for (int value = 0; value < 20; ++value) {
    EXPECT_EQ(run.label_of(value), "value " + std::to_string(value));
  }
}

TEST(PictureQueue, IsClassifiedThoughFramesNeverEnd) {
  // There is always a frame: the source does not wait, and the classifier does.
  for (const int classifiers : {1, 2}) {
    PictureRun run([](int, Frame& frame) { return fill(frame, 1); }, classifiers,
                   [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    EXPECT_EQ(run.label_of(50), "value 50");
  }
}

TEST(PictureQueue, AFailureIsTheAskersAlone) {
  int calls = 0;
  PictureRun run(no_frames(), 1, [&calls](int) {
    if (++calls == 2) throw Error(ErrorKind::kBadData, "no such size");
  });
  EXPECT_EQ(run.label_of(1), "value 1");
  EXPECT_THROW(run.label_of(2), Error);
  EXPECT_EQ(run.label_of(3), "value 3");
}

TEST(PictureQueue, IsClosedWithTheRun) {
  PictureRun run(no_frames());
  EXPECT_EQ(run.label_of(1), "value 1");
  run.end();
  EXPECT_EQ(run.label_of(2), "");
}

TEST(PictureQueue, APictureThatWaitsIsGivenBackWhenItCloses) {
  PictureQueue pictures;
  Gate waiting;
  pictures.set_wake([&waiting] { waiting.open(); });
  std::optional<Result> result = Result();
  std::thread asker([&] { result = pictures.classify(picture(1)); });
  waiting.wait();
  pictures.close();
  asker.join();
  EXPECT_FALSE(result);
}

TEST(PictureQueue, ManyAskAtTheSameTime) {
  PictureRun run(no_frames(), 2);
  std::vector<std::string> labels(8);
  std::vector<std::thread> askers;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    askers.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) labels[i] = run.label_of(static_cast<int>(10 * i));
    });
  }
  for (std::thread& asker : askers) asker.join();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(labels[i], "value " + std::to_string(10 * i));
  }
}

}  // namespace
}  // namespace lookout
