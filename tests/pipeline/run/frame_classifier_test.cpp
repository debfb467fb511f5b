#include "pipeline/run/frame_classifier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

TEST(FrameClassifier, ReportsAgeAndTimingsOfTheFrame) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == 1) return ReadStatus::kEnd;
    frame.captured = Clock::now() - milliseconds(500);
    frame.capture_duration = milliseconds(3);
    return fill(frame, 1);
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  Result seen;
  const std::atomic<bool> stop{false};
  const auto before = std::chrono::system_clock::now();
  run_pipeline(source, classifier, reporting_to(log, [&](const Result& r) { seen = r; }), {}, stop);
  EXPECT_GE(seen.frame_age, milliseconds(500));
  EXPECT_EQ(seen.durations.capture, milliseconds(3));
  EXPECT_GE(seen.durations.total,
            seen.durations.capture + seen.durations.preprocess + seen.durations.inference);
  EXPECT_LT(seen.timestamp, before);
}

TEST(FrameClassifier, PreprocessingEndsWhereInferenceBegins) {
  Clock::time_point read;
  Clock::time_point began;
  FakeSource source(/*live=*/false, [&](int number, Frame& frame) {
    if (number == 1) return ReadStatus::kEnd;
    read = Clock::now();
    return fill(frame, 1);
  });
  // Takes longer than all before it.
  FakeClassifier classifier([&](int) {
    began = Clock::now();
    while (Clock::now() - began <= began - read) {
    }
  });
  FakeReporter::Log log;
  Result seen;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporting_to(log, [&](const Result& r) { seen = r; }), {}, stop);
  EXPECT_LE(seen.durations.preprocess, began - read);
  EXPECT_GT(seen.durations.inference, began - read);
}

TEST(FrameClassifier, AStampAheadOfTheClockIsNoNegativeAge) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == 1) return ReadStatus::kEnd;
    frame.captured = Clock::now() + std::chrono::hours(1);
    return fill(frame, 1);
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  Result seen;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporting_to(log, [&](const Result& r) { seen = r; }), {}, stop);
  EXPECT_EQ(seen.frame_age, Clock::duration::zero());
  EXPECT_LE(seen.timestamp, std::chrono::system_clock::now());
}

}  // namespace
}  // namespace lookout
