#include "app/trace/verdict.h"

#include <gtest/gtest.h>

#include "tests/support/written_trace.h"

namespace lookout {
namespace {

// One frame after another on the threads "capture" and "main". Times are in microseconds.
struct Shape {
  double period = 20'000;  // between frames
  double ahead = 0;        // how long before the model needs it a frame is captured
  double capture = 1000;
  double inference = 10'000;
  double report = 500;
  double writer = 0;      // of the report
  double ran = 1;         // the share of the stages that the thread ran; below 0: not measured
  double throttled = -1;  // the firmware's bits; below 0: not known
};

std::string cpu(const Shape& shape, double duration, double writer = 0) {
  if (shape.ran < 0) return "";
  std::string text = R"(,"cpu_us":)" + std::to_string(shape.ran * (duration - writer));
  if (writer > 0) text += R"(,"writer_us":)" + std::to_string(writer);
  return text;
}

WrittenTrace write(const Shape& shape) {
  WrittenTrace trace;
  for (int i = 0; i < 50; ++i) {
    const double capture = shape.period * i;
    const double queued = capture + shape.capture;
    const double start = queued + shape.ahead;
    const double inferred = start + 1000 + shape.inference;
    trace.slice("stage", "capture", 7, capture, shape.capture, i, cpu(shape, shape.capture))
        .wait(queued, start, i)
        .slice("stage", "preprocess", 1, start, 1000, i, cpu(shape, 1000))
        .slice("stage", "inference", 1, start + 1000, shape.inference, i,
               cpu(shape, shape.inference))
        .slice("stage", "top-k", 1, inferred, 100, i, cpu(shape, 100))
        .slice("stage", "report", 1, inferred + 100, shape.report, i,
               cpu(shape, shape.report, shape.writer));
    if (shape.throttled < 0) continue;
    trace.counter("throttled", "bits", capture, shape.throttled)
        .counter("clock", "MHz", capture, 1000)
        .counter("temperature", "celsius", capture, 82.5);
  }
  return trace;
}

Verdict verdict_of(const Shape& shape) { return summarize(write(shape)).verdict; }

Shape without_pause() {
  Shape shape;
  shape.period = 11'600;  // as long as a frame takes on its thread
  shape.ahead = 5000;
  return shape;
}

TEST(Verdict, AModelThatWaitsForFramesIsLimitedByTheCamera) {
  const Verdict verdict = verdict_of(Shape());
  EXPECT_EQ(verdict.limit, Limit::kCamera);
  EXPECT_NEAR(verdict.shares.camera, 0.37, 0.01) << "20 ms less 1 of capture and 11.6 of work";
  EXPECT_NE(verdict.sentence.find("the model waited for it 37 % of the time"), std::string::npos)
      << verdict.sentence;
}

TEST(Verdict, AModelThatNeverWaitsIsTheLimit) {
  const Verdict verdict = verdict_of(without_pause());
  EXPECT_EQ(verdict.limit, Limit::kModel);
  EXPECT_NE(verdict.sentence.find("17.6 ms in the median"), std::string::npos) << verdict.sentence;
}

TEST(Verdict, AModelThatWaitsForCapturesIsLimitedByThem) {
  Shape shape;
  shape.capture = 8000;
  shape.period = 19'600;
  EXPECT_EQ(verdict_of(shape).limit, Limit::kCapture);
}

TEST(Verdict, ASlowReaderOfTheResultsIsTheLimit) {
  Shape shape = without_pause();
  shape.report = 5500;
  shape.writer = 5200;
  shape.period += 5000;
  const Verdict verdict = verdict_of(shape);
  EXPECT_EQ(verdict.limit, Limit::kWriter);
  EXPECT_NEAR(verdict.shares.writer, 0.31, 0.01);
}

TEST(Verdict, AThreadThatDoesNotRunLacksAProcessor) {
  Shape shape = without_pause();
  shape.ran = 0.4;
  const Verdict verdict = verdict_of(shape);
  EXPECT_EQ(verdict.limit, Limit::kProcessor);
  EXPECT_NEAR(verdict.shares.processor, 0.6, 0.01);
  shape.ran = 0.85;
  EXPECT_EQ(verdict_of(shape).limit, Limit::kModel) << "that is what computing threads wait";
}

TEST(Verdict, ALoweredClockIsThrottling) {
  Shape shape = without_pause();
  shape.throttled = 0x50004;
  const Verdict verdict = verdict_of(shape);
  EXPECT_EQ(verdict.limit, Limit::kThrottled);
  EXPECT_EQ(verdict.sentence,
            "Throttled: in 100 % of the samples the firmware had lowered the clock, to 1000 MHz, "
            "at up to 82.5 °C.");
  shape.throttled = 0x50000;
  EXPECT_EQ(verdict_of(shape).limit, Limit::kModel) << "it was throttled long ago";
  shape = Shape();
  shape.throttled = 4;
  EXPECT_EQ(verdict_of(shape).limit, Limit::kCamera) << "the clock does not change the rate";
}

TEST(Verdict, WithoutCpuTimesALackOfProcessorsCannotBeTold) {
  Shape shape = without_pause();
  shape.ran = -1;
  const Verdict verdict = verdict_of(shape);
  EXPECT_EQ(verdict.limit, Limit::kModel);
  EXPECT_NE(verdict.sentence.find("no CPU times"), std::string::npos) << verdict.sentence;
}

}  // namespace
}  // namespace lookout
