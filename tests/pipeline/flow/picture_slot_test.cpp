#include "pipeline/flow/picture_slot.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "pipeline/error.h"
#include "pipeline/pipeline.h"
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
      options.pictures = &slot;
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
    const auto result = slot.classify(picture(value));
    return result ? std::string(result->top.at(0).label) : "";
  }

  PictureSlot slot{3, 0};

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

TEST(PictureSlot, ClassifiesWithoutFrames) {
  PictureRun run(no_frames());
  for (const int value : {7, 200, 7}) {
    EXPECT_EQ(run.label_of(value), "value " + std::to_string(value));
  }
  const auto result = run.slot.classify(picture(9));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->top.size(), 3U);
  EXPECT_GE(result->frame_age, result->durations.preprocess + result->durations.inference);
  EXPECT_EQ(run.slot.displaced(), 0U);
}

TEST(PictureSlot, WorkersClassifyToo) {
  PictureRun run(no_frames(), 3);
  for (int value = 0; value < 20; ++value) {
    EXPECT_EQ(run.label_of(value), "value " + std::to_string(value));
  }
}

TEST(PictureSlot, IsClassifiedThoughFramesNeverEnd) {
  // There is always a frame: the source does not wait, and the classifier does.
  for (const int classifiers : {1, 2}) {
    PictureRun run([](int, Frame& frame) { return fill(frame, 1); }, classifiers,
                   [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    EXPECT_EQ(run.label_of(50), "value 50");
  }
}

TEST(PictureSlot, AFailureIsTheAskersAlone) {
  int calls = 0;
  PictureRun run(no_frames(), 1, [&calls](int) {
    if (++calls == 2) throw Error(ErrorKind::kBadData, "no such size");
  });
  EXPECT_EQ(run.label_of(1), "value 1");
  EXPECT_THROW(run.label_of(2), Error);
  EXPECT_EQ(run.label_of(3), "value 3");
}

TEST(PictureSlot, IsClosedWithTheRun) {
  PictureRun run(no_frames());
  EXPECT_EQ(run.label_of(1), "value 1");
  run.end();
  EXPECT_EQ(run.label_of(2), "");
}

TEST(PictureSlot, APictureThatWaitsIsGivenBackWhenItCloses) {
  PictureSlot slot(1, 0);
  Gate waiting;
  slot.set_wake([&waiting] { waiting.open(); });
  std::optional<Result> result = Result();
  std::thread asker([&] { result = slot.classify(picture(1)); });
  waiting.wait();
  slot.close();
  asker.join();
  EXPECT_FALSE(result);
}

}  // namespace
}  // namespace lookout
