#include "app/inspect/trace_summary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pipeline/error.h"
#include "pipeline/profile/trace.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::string slice(const std::string& category, const std::string& name, int thread, double start,
                  double duration, int frame) {
  std::ostringstream text;
  text << R"({"ph":"X","cat":")" << category << R"(","name":")" << name << R"(","pid":1,"tid":)"
       << thread << R"(,"ts":)" << start << R"(,"dur":)" << duration << R"(,"args":{"frame":)"
       << frame << "}},\n";
  return text.str();
}

std::string wait(const std::string& phase, double time, int frame) {
  std::ostringstream text;
  text << R"({"ph":")" << phase << R"(","cat":"queue","name":"queue-wait","id2":{"local":")"
       << frame << R"("},"pid":1,"tid":1,"ts":)" << time << R"(,"args":{"frame":)" << frame
       << "}},\n";
  return text.str();
}

// One frame in 10 ms, on the threads 7 (capture) and 1. The inference takes 4 ms, or 6.
std::string frame(int number, bool slow) {
  const double t = 10'000.0 * number;
  const double inference = slow ? 6000 : 4000;
  return slice("stage", "capture", 7, t, 1000, number) + wait("b", t + 1000, number) +
         wait("e", t + 1500, number) + slice("stage", "preprocess", 1, t + 1500, 500, number) +
         slice("stage", "inference", 1, t + 2000, inference, number) +
         slice("operator", "outer", 1, t + 2100, inference - 1100, number) +
         slice("operator", "inner", 1, t + 2200, 1000, number) +
         slice("operator", "inner", 1, t + 3200, 500, number) +
         slice("stage", "top-k", 1, t + 2000 + inference, 100, number) +
         slice("stage", "report", 1, t + 2100 + inference, 400, number);
}

// A hundred frames; number 60 is slow.
std::string hand_written() {
  std::string text = R"({"otherData":{"model":"net"},"traceEvents":[
    {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"capture"}},)";
  for (int i = 0; i < 100; ++i) text += frame(i, i == 60);
  // Events of a dropped frame, and events that other programs may write.
  text += slice("stage", "capture", 7, 990'000 + 9000, 1000, 100);
  return text + R"({"ph":"i","name":"mark","ts":"never"}]})";
}

TraceSummary summarize(const std::string& json) {
  std::istringstream stream(json);
  return summarize_trace(stream);
}

TEST(TraceSummary, OfAHandWrittenTrace) {
  const TraceSummary summary = summarize(hand_written());
  EXPECT_EQ(summary.about.at("model"), "net");
  EXPECT_EQ(summary.frames, 100U);
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

TEST(TraceSummary, OperatorsHaveTheirOwnTime) {
  const OperatorTable operators = summarize(hand_written()).operators;
  ASSERT_EQ(operators.rows.size(), 2U);
  const OperatorRow& inner = operators.rows[0];
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(inner.sampled, 200U);
  EXPECT_EQ(inner.total, milliseconds(150));
  EXPECT_EQ(inner.self, milliseconds(150));
  EXPECT_EQ(inner.max, milliseconds(1));
  const OperatorRow& outer = operators.rows[1];
  EXPECT_EQ(outer.sampled, 100U);
  EXPECT_EQ(outer.total, microseconds(99 * 2900 + 4900));
  EXPECT_EQ(outer.self, microseconds(99 * 1400 + 3400));
  EXPECT_NEAR(outer.share, 142 / 292.0, 1e-9);
  EXPECT_EQ(outer.max_frame, 60U);
}

TEST(TraceSummary, TheSlowestFramesTellWhatWasSlow) {
  const TraceSummary summary = summarize(hand_written());
  ASSERT_FALSE(summary.slowest.empty());
  const TraceSummary::Frame& slowest = summary.slowest[0];
  EXPECT_EQ(slowest.number, 60U);
  EXPECT_EQ(slowest.total, microseconds(8500));
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
  EXPECT_EQ(summary.frames, 1U);
  for (int stage = 0; stage < kStages; ++stage) {
    const char* name = to_text(static_cast<Stage>(stage));
    ASSERT_EQ(summary.stages.count(name), 1U) << name;
    EXPECT_NEAR(std::chrono::duration<double>(summary.stages.at(name).p50).count(),
                0.001 * (stage + 1), 1e-6)
        << name;
  }
  EXPECT_EQ(summary.stages.size(), kStages + 1U) << "these, and the total";
}

TEST(TraceSummary, AsTextAndJson) {
  const TraceSummary summary = summarize(hand_written());
  const std::string text = to_text(summary);
  for (const char* line :
       {"100 frames in 1.000 s, model net\n", "main              50.2 %  49.8 %\n",
        "queue-wait           0.50     0.50     0.50     0.50\n",
        "    150.00  51.4 %     150.00      1.000      200  inner\n",
        "frame 60: 8.50 ms: inference 6.00 (+2.00)"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
  const auto json = nlohmann::json::parse(to_json(summary));
  EXPECT_EQ(json["type"], "trace-summary");
  EXPECT_NEAR(json["threads"][0]["idle_share"].get<double>(), 0.498, 1e-9);
  EXPECT_EQ(json["latency_ms"]["queue-wait"]["p50"], 0.5);
  EXPECT_EQ(json["operators"][1]["name"], "outer");
  EXPECT_EQ(json["slowest_frames"][0]["frame"], 60);
}

TEST(TraceSummary, NamesBeginNoLinesAndMoveNoCursor) {
  const std::string name = "a\n\x1b[2J";
  TraceSummary summary;
  summary.about[name] = name;
  summary.threads = {{name, milliseconds(1)}};
  summary.stages[name] = {};
  summary.operators.rows.resize(1);
  summary.operators.rows[0].name = name;
  summary.slowest = {{1, milliseconds(1), {{name, milliseconds(1), milliseconds(1)}}, {}}};
  const std::string text = to_text(summary);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find("a\n"), std::string::npos) << text;
  EXPECT_NE(text.find(", a\\n\\x1b[2J a\\n\\x1b[2J\n"), std::string::npos) << text;
}

TEST(TraceSummary, OfAnEmptyTrace) {
  const TraceSummary summary = summarize(R"({"traceEvents":[]})");
  EXPECT_EQ(summary.frames, 0U);
  EXPECT_EQ(to_text(summary).rfind("0 frames", 0), 0U);
  EXPECT_EQ(nlohmann::json::parse(to_json(summary))["operators"].size(), 0U);
}

TEST(TraceSummary, WhatIsNoTraceIsRefusedInASentence) {
  const std::map<std::string, std::string> wrong{
      {"", "is not JSON"},
      {"{\"traceEvents\":[", "is not JSON"},
      {"[]", "has no \"traceEvents\""},
      {"{\"a\":1}", "has no \"traceEvents\""},
      {R"({"traceEvents":7})", "has no \"traceEvents\""},
      {R"({"traceEvents":[{}]})", "without \"ph\""},
      {R"({"traceEvents":[{"ph":"X","ts":1,"dur":1}]})", "integer \"tid\""},
      {R"({"traceEvents":[{"ph":"X","tid":1,"dur":1}]})", "number \"ts\""},
      {R"({"traceEvents":[{"ph":"X","tid":1,"ts":1,"dur":-1}]})", "negative duration"},
      {R"({"traceEvents":[{"ph":"X","tid":1,"ts":1e300,"dur":1}]})", "no time in microseconds"}};
  for (const auto& [json, sentence] : wrong) {
    try {
      summarize(json);
      FAIL() << "accepted " << json;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_NE(std::string(error.what()).find(sentence), std::string::npos)
          << error.what() << " for " << json;
    }
  }
  EXPECT_THROW(trace_summary({"/no/such.json", Format::kText}), Error);
}

TEST(TraceSummary, ATraceWithoutFramesIsBadData) {
  const TempDir directory;
  const std::string file = directory.write("t.json", R"({"traceEvents":[]})");
  expect_error(ErrorKind::kBadData, "trace " + file + " has no frames in it", [&] {
    trace_summary({file, Format::kText});
  });
}

// Nothing is mapped at the start of a process's memory, so that reading it fails with EIO, as a
// damaged disk does.
TEST(TraceSummary, AFileWhoseReadingFailsIsNoInput) {
  const std::string memory = "/proc/self/mem";
  if (access(memory.c_str(), R_OK) != 0) GTEST_SKIP() << "there is no readable " << memory;
  try {
    trace_summary({memory, Format::kText});
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoInput);
    EXPECT_STREQ(error.what(), "trace /proc/self/mem cannot be read: Input/output error");
  }
}

}  // namespace
}  // namespace lookout
