// Stand-ins for the outside world that a test can delay, stall and make fail.
#pragma once

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/classifier.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/source.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// Threads wait at it until somebody opens it.
class Gate {
 public:
  void open() {
    const MutexLock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    const MutexLock lock(mutex_);
    while (!open_) opened_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  ConditionVariable opened_;
  bool open_ GUARDED_BY(mutex_) = false;
};

// Calls a function for each read; it gets the number of the read, from 0.
class FakeSource : public Source {
 public:
  using Read = std::function<ReadStatus(int, Frame&)>;

  FakeSource(bool live, Read read) : read_(std::move(read)) {
    info_.name = "fake";
    info_.description = "a fake source";
    info_.live = live;
  }

  const SourceInfo& info() const override { return info_; }

  ReadStatus read(Frame& frame, std::chrono::milliseconds /*timeout*/) override {
    frame.captured = Clock::now();
    return read_(reads_++, frame);
  }
  bool online() const override { return online_; }
  // From within a read.
  void set_online(bool online) { online_ = online; }

 private:
  SourceInfo info_;
  Read read_;
  int reads_ = 0;
  bool online_ = true;
};

// Fills a frame with one value, reusing its memory.
inline ReadStatus fill(Frame& frame, int value, const cv::Size& size = {8, 8}) {
  frame.bgr.create(size, CV_8UC3);
  std::memset(frame.bgr.data, value, frame.bgr.total() * frame.bgr.elemSize());
  return ReadStatus::kFrame;
}

// A source of `count` frames, all different, that never waits.
inline FakeSource::Read frames(int count, const cv::Size& size = {8, 8}) {
  return [=](int read, Frame& frame) {
    return read == count ? ReadStatus::kEnd : fill(frame, read % 256, size);
  };
}

// Scores label i by how near the picture's first value is to i.
class FakeClassifier : public Classifier {
 public:
  explicit FakeClassifier(std::function<void(int)> before_each = {}, ModelSpec spec = {})
      : spec_(std::move(spec)), before_each_(std::move(before_each)) {
    spec_.name = "fake";
    spec_.input.width = 4;
    spec_.input.height = 4;
    spec_.input.mean = {0, 0, 0};
    spec_.input.std = {1, 1, 1};
    for (int i = 0; i < 256; ++i) spec_.labels.push_back("value " + std::to_string(i));
  }

  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }
  int threads() const override { return 1; }

  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override {
    frame_ = frame;
    if (before_each_) before_each_(calls_);
    ++calls_;
    logits.resize(spec_.labels.size());
    const float value = image.values[0] * 255;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] = -std::abs(value - static_cast<float>(i));
    }
  }

  int calls() const { return calls_; }
  // Of the last call; set before the function is called.
  const FrameContext& frame() const { return frame_; }

 private:
  ModelSpec spec_;
  ModelFacts facts_;
  std::function<void(int)> before_each_;
  int calls_ = 0;
  FrameContext frame_;
};

// Forwards to a classifier that the test keeps.
class Lent : public Classifier {
 public:
  explicit Lent(Classifier& classifier) : classifier_(classifier) {}
  const ModelSpec& spec() const override { return classifier_.spec(); }
  const ModelFacts& facts() const override { return classifier_.facts(); }
  int threads() const override { return classifier_.threads(); }
  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override {
    classifier_.classify(image, frame, logits);
  }

 private:
  Classifier& classifier_;
};

// The classifiers as run_pipeline() takes them; the test keeps them.
inline std::vector<std::unique_ptr<Classifier>> lent(
    std::initializer_list<Classifier*> classifiers) {
  std::vector<std::unique_ptr<Classifier>> lent;
  for (Classifier* classifier : classifiers) lent.push_back(std::make_unique<Lent>(*classifier));
  return lent;
}

// Records its calls.
class FakeReporter : public Reporter {
 public:
  struct Log {
    std::vector<std::uint64_t> sequences;
    std::vector<std::size_t> best;
    std::vector<std::string> changes;  // the names of new states
    std::vector<StatsSnapshot> ticks;
    std::vector<CameraStatus> statuses;
    int beats = 0;
    std::vector<std::size_t> reported_before;  // frames that were reported before each status
  };

  explicit FakeReporter(Log& log, std::function<void(const Result&)> on_report = {})
      : log_(log), on_report_(std::move(on_report)) {}

  void report(const Result& result, const Frame& /*frame*/) override {
    log_.sequences.push_back(result.sequence);
    log_.best.push_back(result.top.empty() ? 999 : result.top[0].index);
    if (result.state_changed) log_.changes.emplace_back(result.state.name());
    if (on_report_) on_report_(result);
  }
  void tick(const StatsSnapshot& stats) override { log_.ticks.push_back(stats); }
  void poll() override { ++log_.beats; }
  void status(const CameraStatus& status) override {
    log_.statuses.push_back(status);
    log_.reported_before.push_back(log_.sequences.size());
  }

 private:
  Log& log_;
  std::function<void(const Result&)> on_report_;
};

using Reporters = std::vector<std::unique_ptr<Reporter>>;

inline Reporters reporting_to(FakeReporter::Log& log,
                              std::function<void(const Result&)> on_report = {}) {
  Reporters reporters;
  reporters.push_back(std::make_unique<FakeReporter>(log, std::move(on_report)));
  return reporters;
}

}  // namespace lookout
