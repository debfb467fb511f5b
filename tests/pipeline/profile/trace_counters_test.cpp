#include "pipeline/profile/trace_counters.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "pipeline/profile/trace.h"
#include "tests/support/saved_trace.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;

// The values of a counter with their times.
std::vector<std::pair<double, double>> counter(const Saved& saved, const std::string& name) {
  std::vector<std::pair<double, double>> values;
  for (const Json& event : saved.events("C")) {
    if (event["name"] == name) values.emplace_back(event["ts"], event["args"].begin().value());
  }
  return values;
}

using Values = std::vector<std::pair<double, double>>;

TEST(TraceCounters, CountsFramesThatWaitAreClassifiedOrWereDropped) {
  Saved saved;
  Trace trace(frames_of(2), saved.save());
  record_frame(trace, 0);  // from 1000 us on, each stage 10 us
  const auto capture = Clock::time_point(microseconds(1500));
  trace.record(Stage::kCapture, 1, capture, capture + microseconds(10));
  record_frame(trace, 2);  // from 3000 us on; its capture drops frame 1
  trace.finish();
  EXPECT_EQ(counter(saved, "double buffer"), (Values{{10, 1}, {20, 0}, {510, 1}, {2020, 0}}));
  EXPECT_EQ(counter(saved, "with workers"), (Values{{20, 1}, {50, 0}, {2020, 1}, {2050, 0}}));
  EXPECT_EQ(counter(saved, "dropped"), (Values{{0, 0}, {2010, 1}}));
}

TEST(TraceCounters, TwoFramesThatWaitFillOneDoubleBuffer) {
  Saved saved;
  Trace trace(frames_of(2), saved.save());
  const auto time = [](int us) { return Clock::time_point(microseconds(us)); };
  for (int frame = 0; frame < 2; ++frame) {
    const int start = 100 * frame;
    trace.record(Stage::kCapture, frame, time(start), time(start + 10));
    trace.record(Stage::kQueueWait, frame, time(start + 10), time(start + 200));
    trace.record(Stage::kReport, frame, time(1000 + start), time(1010 + start));
  }
  trace.finish();
  EXPECT_EQ(counter(saved, "double buffer"), (Values{{10, 1}, {300, 0}}));
}

TEST(TraceCounters, SamplesTheMachineNowAndThen) {
  Saved saved;
  TraceOptions options = frames_of(1, 1);
  int asked = 0;
  options.sample = [&asked] {
    ++asked;
    MachineSample sample;
    sample.state.temperature = 61.5;
    sample.state.throttled = 0x50000;
    sample.resident_bytes = 2'500'000;
    return sample;
  };
  Trace trace(options, saved.save());
  trace.sample(0);
  EXPECT_EQ(asked, 0) << "frame 0 is not traced";
  const auto now = Clock::now();
  trace.record(Stage::kCapture, 1, now, now);
  trace.sample(1);
  trace.sample(1);
  EXPECT_EQ(asked, 1) << "not for every frame";
  trace.record(Stage::kReport, 1, now, now);
  trace.finish();
  trace.sample(1);
  EXPECT_EQ(asked, 1) << "the trace is complete";
  ASSERT_EQ(counter(saved, "temperature").size(), 1U);
  EXPECT_EQ(counter(saved, "temperature")[0].second, 61.5);
  EXPECT_EQ(counter(saved, "throttled")[0].second, 0x50000);
  EXPECT_EQ(counter(saved, "resident memory")[0].second, 2.5);
  EXPECT_TRUE(counter(saved, "clock").empty()) << "this machine does not tell it";
}

}  // namespace
}  // namespace lookout
