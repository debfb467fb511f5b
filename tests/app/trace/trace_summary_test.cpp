#include "app/trace/trace_summary.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "pipeline/profile/trace.h"
#include "tests/support/written_trace.h"

namespace lookout {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// One frame in 10 ms, on the threads 7 (capture) and 1. The inference takes 4 ms, or 6.
void write_frame(int number, bool slow, WrittenTrace& trace) {
  const double t = 10'000.0 * number;
  const double inference = slow ? 6000 : 4000;
  trace.slice("stage", "capture", 7, t, 1000, number, R"(,"cpu_us":900)")
      .wait(t + 1000, t + 1500, number)
      .slice("stage", "preprocess", 1, t + 1500, 500, number, R"(,"cpu_us":500)")
      .slice("stage", "inference", 1, t + 2000, inference, number, R"(,"cpu_us":3000)")
      .slice("operator", "outer", 1, t + 2100, inference - 1100, number, R"(,"layer":"a.0")")
      .slice("operator", "inner", 1, t + 2200, 1000, number, R"(,"layer":"a.1","bytes":2000)")
      .slice("operator", "inner", 1, t + 3200, 500, number, R"(,"layer":"a.1","bytes":1000)")
      .slice("stage", "top-k", 1, t + 2000 + inference, 100, number, R"(,"cpu_us":100)")
      .slice("stage", "report", 1, t + 2100 + inference, 400, number,
             R"(,"cpu_us":250,"writer_us":100)");
}

// A hundred frames; number 60 is slow.
WrittenTrace hand_written() {
  WrittenTrace trace;
  for (int i = 0; i < 100; ++i) write_frame(i, i == 60, trace);
  // Events of a dropped frame, and events that other programs may write.
  return trace.slice("stage", "capture", 7, 990'000 + 9000, 1000, 100, R"(,"cpu_us":1000)")
      .event(R"({"ph":"i","name":"mark","ts":"never"})");
}

TEST(TraceSummary, OfAHandWrittenTrace) {
  const TraceSummary summary = summarize(hand_written());
  EXPECT_EQ(summary.about.at("model"), "net");
  EXPECT_EQ(summary.frames.size(), 100U);
  EXPECT_EQ(summary.duration, milliseconds(1000));
  ASSERT_EQ(summary.threads.size(), 2U);
  EXPECT_EQ(summary.threads[0].name, "main");
  EXPECT_EQ(summary.threads[0].busy, milliseconds(99 * 5 + 7)) << "operators are within inference";
  EXPECT_EQ(summary.threads[1].name, "capture");
  EXPECT_EQ(summary.threads[1].busy, milliseconds(101));
}

TEST(TraceSummary, StagesHavePercentiles) {
  const TraceSummary summary = summarize(hand_written());
  EXPECT_EQ(summary.stages.at("queue-wait").p99, microseconds(500));
  EXPECT_EQ(summary.stages.at("inference").p50, milliseconds(4));
  EXPECT_EQ(summary.stages.at("inference").p99, milliseconds(4));
  EXPECT_EQ(summary.stages.at("inference").max, milliseconds(6));
  EXPECT_EQ(summary.stages.at("total").p50, microseconds(6500));
  EXPECT_EQ(summary.stages.at("total").max, microseconds(8500));
}

TEST(TraceSummary, FramesWithAReusedResultSayNothingOfTheModel) {
  WrittenTrace trace;
  for (int i = 0; i < 10; ++i) {
    if (i % 5 == 0) {
      write_frame(i, false, trace);
    } else {
      const double t = 10'000.0 * i;
      trace.slice("stage", "capture", 7, t, 1000, i)
          .slice("stage", "compare", 1, t + 1500, 20, i)
          .slice("stage", "report", 1, t + 1600, 400, i);
    }
  }
  const TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.frames.size(), 2U);
  EXPECT_EQ(summary.reused, 8U);
  EXPECT_NEAR(summary.fps, 100, 1e-6);
  EXPECT_EQ(summary.stages.at("inference").p50, milliseconds(4));
  EXPECT_EQ(summary.total().p50, microseconds(6500));
}

TEST(TraceSummary, OperatorsHaveTheirOwnTime) {
  const std::vector<OperatorTime> operators = summarize(hand_written()).operators.by_name;
  ASSERT_EQ(operators.size(), 2U);
  const OperatorTime& inner = operators[0];
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(inner.calls, 200U);
  EXPECT_EQ(inner.total, milliseconds(150));
  EXPECT_EQ(inner.self, milliseconds(150));
  EXPECT_EQ(inner.min, microseconds(500));
  EXPECT_EQ(inner.max, milliseconds(1));
  EXPECT_DOUBLE_EQ(inner.mean_ms, 0.75);
  EXPECT_NEAR(inner.deviation_ms, 0.25, 1e-9);
  EXPECT_EQ(inner.bytes, 300'000);
  const OperatorTime& outer = operators[1];
  EXPECT_EQ(outer.calls, 100U);
  EXPECT_EQ(outer.total, microseconds(99 * 2900 + 4900));
  EXPECT_EQ(outer.self, microseconds(99 * 1400 + 3400));
  EXPECT_NEAR(outer.share, 142 / 292.0, 1e-9);
}

TEST(TraceSummary, LayersAndLabelsAddUpTheirOperators) {
  WrittenTrace trace = hand_written();
  trace.slice("label", "head", 1, 2150, 2000, 0);
  const OperatorBreakdown operators = summarize(trace).operators;
  ASSERT_EQ(operators.by_layer.size(), 2U);
  EXPECT_EQ(operators.by_layer[0].name, "a.1");
  EXPECT_EQ(operators.by_layer[0].self, milliseconds(150));
  ASSERT_EQ(operators.by_label.size(), 1U);
  EXPECT_EQ(operators.by_label[0].name, "head");
  EXPECT_EQ(operators.by_label[0].total, milliseconds(2));
  EXPECT_EQ(operators.by_label[0].self, microseconds(500)) << "without its operators";
}

// Every thread's parts add up to the trace's duration, every frame's to its time.
void expect_sums(const TraceSummary& summary) {
  for (const ThreadTime& thread : summary.threads) {
    EXPECT_EQ(thread.in_stages().wall() + thread.idle.sum(), summary.duration) << thread.name;
    EXPECT_EQ(thread.busy + thread.idle.sum(), summary.duration) << thread.name;
  }
  for (const auto& [number, frame] : summary.frames) {
    Clock::duration sum = frame.between();
    Clock::duration on_threads{};
    for (const auto& [name, time] : frame.stages) {
      sum += time;
      if (name != "queue-wait") on_threads += time;
    }
    EXPECT_EQ(sum, frame.total()) << number;
    EXPECT_EQ(frame.use.wall(), on_threads) << number;
  }
}

TEST(TraceSummary, ThePartsOfAThreadAndOfAFrameAddUp) { expect_sums(summarize(hand_written())); }

TEST(TraceSummary, StagesAreTimeThatAThreadRanAndTimeThatItDidNot) {
  const TraceSummary summary = summarize(hand_written());
  const ThreadTime& main = summary.threads[0];
  ASSERT_EQ(main.stages.size(), 4U);
  EXPECT_EQ(std::next(main.stages.begin())->first, "inference");
  EXPECT_EQ(main.stages.at("inference").ran, milliseconds(300));
  EXPECT_EQ(main.stages.at("inference").off_cpu, milliseconds(102));
  EXPECT_EQ(main.stages.at("report").writer, milliseconds(10));
  EXPECT_EQ(main.stages.at("report").off_cpu, milliseconds(5));
}

TEST(TraceSummary, IdleTimeIsWaitingForTheCameraTheCaptureOrElse) {
  const TraceSummary summary = summarize(hand_written());
  const IdleTime& main = summary.threads[0].idle;
  EXPECT_EQ(main.capture, milliseconds(100)) << "1 ms of each frame; the one at the end is unknown";
  EXPECT_EQ(main.camera, microseconds(99 * 3500 - 2000)) << "from a report to the next capture";
  EXPECT_EQ(main.model, milliseconds(0));
  const IdleTime& capture = summary.threads[1].idle;
  EXPECT_EQ(capture.camera, milliseconds(899));
  EXPECT_EQ(capture.sum(), milliseconds(899));
}

// Frames of a file: the capture thread waits for room in the double buffer.
TEST(TraceSummary, TheCaptureThreadWaitsForTheModel) {
  WrittenTrace trace;
  trace.slice("stage", "capture", 7, 0, 100, 0).wait(100, 110, 0);
  trace.slice("stage", "capture", 7, 110, 100, 1).wait(210, 1000, 1);
  trace.slice("stage", "capture", 7, 220, 100, 2).wait(320, 2000, 2);
  trace.slice("stage", "capture", 7, 1020, 100, 3).wait(1120, 3000, 3);
  for (int i = 0; i < 4; ++i) {
    trace.slice("stage", "preprocess", 1, 1000 * i + (i == 0 ? 110 : 0), 100, i)
        .slice("stage", "report", 1, 1000 * i + 800, 200, i);
  }
  const TraceSummary summary = summarize(trace);
  const IdleTime& idle = summary.threads[1].idle;
  EXPECT_EQ(idle.model, microseconds(680)) << "until frame 1 was taken";
  EXPECT_EQ(idle.camera, microseconds(10 + 10 + 20));
  expect_sums(summary);
}

TEST(TraceSummary, TheThreadThatReportsWaitsForTheWorkers) {
  WrittenTrace trace;
  trace.slice("stage", "capture", 7, 0, 100, 0)
      .wait(100, 150, 0)
      .slice("stage", "preprocess", 3, 150, 100, 0)
      .slice("stage", "inference", 3, 250, 1000, 0)
      .slice("stage", "top-k", 3, 1250, 50, 0)
      .slice("stage", "report", 1, 1340, 60, 0);
  const TraceSummary summary = summarize(trace);
  const IdleTime& idle = summary.threads[0].idle;
  EXPECT_EQ(idle.capture, microseconds(100));
  EXPECT_EQ(idle.model, microseconds(1200)) << "from the double buffer to the result";
  EXPECT_EQ(idle.other, microseconds(40));
  expect_sums(summary);
}

TEST(TraceSummary, CountersAreWeightedByTime) {
  WrittenTrace trace = hand_written();
  trace.counter("double buffer", "frames", 0, 0)
      .counter("double buffer", "frames", 250'000, 1)
      .counter("clock", "MHz", 0, 1500)
      .counter("clock", "MHz", 500'000, 1000);
  const std::vector<CounterSummary> counters = summarize(trace).counters;
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters[0].name, "double buffer") << "frames first";
  EXPECT_EQ(counters[0].count, 2U);
  EXPECT_DOUBLE_EQ(counters[0].mean, 0.75);
  EXPECT_EQ(counters[0].p25, 0);
  EXPECT_EQ(counters[0].p50, 1);
  EXPECT_EQ(counters[1].max, 1500);
  EXPECT_DOUBLE_EQ(counters[1].mean, 1250);
  EXPECT_DOUBLE_EQ(counters[1].deviation, 250);
}

TEST(TraceSummary, OutliersAreAboveAPercentileOrATime) {
  OutlierRule rule;
  rule.percentile = 50;
  EXPECT_EQ(summarize(hand_written(), rule).outliers.size(), 51U) << "also when most are alike";
  rule.time = microseconds(6600);
  const TraceSummary summary = summarize(hand_written(), rule);
  ASSERT_EQ(summary.outliers.size(), 1U);
  EXPECT_EQ(summary.outliers[0].number, 60U);
  rule.time = milliseconds(100);
  EXPECT_TRUE(summarize(hand_written(), rule).outliers.empty());
}

TEST(TraceSummary, TheSlowestFramesTellWhatWasSlow) {
  const TraceSummary summary = summarize(hand_written());
  ASSERT_EQ(summary.outliers.size(), 2U) << "from the 99th percentile on";
  const Outlier& slowest = summary.outliers[0];
  EXPECT_EQ(slowest.number, 60U);
  EXPECT_EQ(slowest.total, microseconds(8500));
  EXPECT_EQ(slowest.use.off_cpu, microseconds(100 + 3000 + 50));
  EXPECT_EQ(slowest.stages[0].name, "inference");
  EXPECT_EQ(slowest.stages[0].above_median, milliseconds(2));
  EXPECT_EQ(slowest.operators[0].name, "outer");
  EXPECT_EQ(slowest.operators[0].above_median, milliseconds(2));
}

// The trace is written by the same code as in a run, so that a stage that is called something else
// there is still found here.
TEST(TraceSummary, EveryStageThatARunRecordsIsFound) {
  std::string text;
  Trace trace(TraceOptions(), [&text](const Trace& saved) {
    saved.write_json([&text](std::string_view part) { text += part; });
  });
  for (int stage = 0; stage < kStages; ++stage) {
    const Clock::time_point start(milliseconds(10 * stage));
    trace.record(static_cast<Stage>(stage), 0, start, start + milliseconds(stage + 1));
  }
  trace.finish();
  const TraceSummary summary = summarize(text);
  EXPECT_EQ(summary.frames.size(), 1U);
  for (int stage = 0; stage < kStages; ++stage) {
    const char* name = to_text(static_cast<Stage>(stage));
    ASSERT_EQ(summary.stages.count(name), 1U) << name;
    EXPECT_NEAR(std::chrono::duration<double>(summary.stages.at(name).p50).count(),
                0.001 * (stage + 1), 1e-6)
        << name;
  }
  EXPECT_EQ(summary.stages.size(), kStages + 1U) << "these, and the total";
}

TEST(TraceSummary, AsText) {
  const std::string text = text_of(summarize(hand_written()));
  EXPECT_EQ(text.rfind("Limited by the camera: ", 0), 0U) << "the verdict first";
  for (const char* line :
       {"100 frames in 1.000 s, model net\n",
        "main          38.5  10.7     1.0    34.5     10.0    0.0    5.3\n",
        "queue-wait  0.50  0.50  0.50  0.50\n",
        "inner  150.00  51.4 %  150.00    200  0.500  0.750  1.000      0.250  0.30\n",
        "2 of 100 take 6.50 ms or more (p99).\n",
        "60      8.50  3.15    0.10  inference +2.00  outer +2.00\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
}

TEST(TraceSummary, AsJson) {
  const auto json = nlohmann::json::parse(to_json(summarize(hand_written())).dump());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["type"], "trace-summary");
  EXPECT_EQ(json["verdict"]["limit"], "camera");
  EXPECT_NEAR(json["threads"][0]["idle_share"].get<double>(), 0.498, 1e-9);
  EXPECT_EQ(json["threads"][0]["stages"][1]["ran_ms"], 300);
  EXPECT_EQ(json["threads"][0]["idle_ms"]["capture"], 100);
  EXPECT_EQ(json["latency_ms"]["queue-wait"]["p50"], 0.5);
  int in_histogram = 0;
  for (const auto& bin : json["latency_histogram"]) in_histogram += bin["frames"].get<int>();
  EXPECT_EQ(in_histogram, 100);
  EXPECT_EQ(json["operators"][1]["name"], "outer");
  EXPECT_EQ(json["layers"][0]["bytes"], 300'000);
  EXPECT_EQ(json["slowest_frames"][0]["frame"], 60);
  EXPECT_EQ(json["each_frame"][1]["start_ms"], 10);
  EXPECT_EQ(json["each_frame"][1]["parts_ms"]["between"], 0);
}

TEST(TraceSummary, NamesBeginNoLinesAndMoveNoCursor) {
  const std::string name = "a\n\x1b[2J";
  TraceSummary summary;
  summary.about[name] = name;
  summary.threads.resize(1);
  summary.threads[0].name = name;
  summary.stages[name] = {};
  summary.operators.by_name.resize(1);
  summary.operators.by_name[0].name = name;
  summary.counters.resize(1);
  summary.counters[0].name = name;
  summary.frames[1] = {};
  summary.outliers = {{1, milliseconds(1), {}, {{name, milliseconds(1), milliseconds(1)}}, {}}};
  const std::string text = text_of(summary);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find("a\n"), std::string::npos) << text;
  EXPECT_NE(text.find(", a\\n\\x1b[2J a\\n\\x1b[2J\n"), std::string::npos) << text;
}

TEST(TraceSummary, OfAnEmptyTrace) {
  const TraceSummary summary = summarize(R"({"traceEvents":[]})");
  EXPECT_TRUE(summary.frames.empty());
  EXPECT_NE(text_of(summary).find("0 frames"), std::string::npos);
  EXPECT_EQ(to_json(summary)["operators"].size(), 0U);
}

}  // namespace
}  // namespace lookout
