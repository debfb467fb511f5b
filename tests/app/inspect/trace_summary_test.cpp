#include "app/inspect/trace_summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

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
  // Of a frame that was dropped, and what others may write.
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
  EXPECT_DOUBLE_EQ(summary.duration_ms, 1000);
  ASSERT_EQ(summary.threads.size(), 2U);
  EXPECT_EQ(summary.threads[0].name, "main");
  EXPECT_NEAR(summary.threads[0].busy_ms, 99 * 5 + 7, 1e-6) << "operators are within the inference";
  EXPECT_EQ(summary.threads[1].name, "capture");
  EXPECT_NEAR(summary.threads[1].busy_ms, 101, 1e-6);

  EXPECT_DOUBLE_EQ(summary.stages.at("queue-wait").p99, 0.5);
  EXPECT_DOUBLE_EQ(summary.stages.at("inference").p50, 4);
  EXPECT_DOUBLE_EQ(summary.stages.at("inference").p99, 4);
  EXPECT_DOUBLE_EQ(summary.stages.at("inference").max, 6);
  EXPECT_NEAR(summary.stages.at("total").p50, 6.5, 1e-9);
  EXPECT_NEAR(summary.stages.at("total").max, 8.5, 1e-9);

  ASSERT_EQ(summary.operators.size(), 2U);
  const TraceSummary::Operator& inner = summary.operators[0];
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(inner.calls, 200U);
  EXPECT_NEAR(inner.total_ms, 150, 1e-6);
  EXPECT_NEAR(inner.self_ms, 150, 1e-6);
  EXPECT_NEAR(inner.longest_ms, 1, 1e-9);
  const TraceSummary::Operator& outer = summary.operators[1];
  EXPECT_EQ(outer.calls, 100U);
  EXPECT_NEAR(outer.total_ms, 99 * 2.9 + 4.9, 1e-6);
  EXPECT_NEAR(outer.self_ms, 99 * 1.4 + 3.4, 1e-6);
  EXPECT_NEAR(outer.share, 142 / 292.0, 1e-9);

  ASSERT_FALSE(summary.slowest.empty());
  const TraceSummary::Frame& slowest = summary.slowest[0];
  EXPECT_EQ(slowest.number, 60U);
  EXPECT_NEAR(slowest.total_ms, 8.5, 1e-9);
  EXPECT_EQ(slowest.stages[0].name, "inference");
  EXPECT_NEAR(slowest.stages[0].above_median_ms, 2, 1e-9);
  EXPECT_EQ(slowest.operators[0].name, "outer");
  EXPECT_NEAR(slowest.operators[0].above_median_ms, 2, 1e-9);
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
  summary.threads = {{name, 1}};
  summary.stages[name] = {};
  summary.operators = {{name, 1, 1, 1, 1, 1}};
  summary.slowest = {{1, 1, {{name, 1, 1}}, {}}};
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

}  // namespace
}  // namespace lookout
