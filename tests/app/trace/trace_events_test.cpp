#include "app/trace/trace_events.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "paths.h"
#include "pipeline/core/error.h"
#include "tests/support/written_trace.h"

namespace lookout {
namespace {

using std::chrono::microseconds;

TEST(TraceEvents, OfPyTorchHaveStepsAndOperators) {
  const TraceSummary summary = summary_of("trace_pytorch.json");
  EXPECT_TRUE(summary.by_pytorch);
  ASSERT_EQ(summary.frames.size(), 3U);
  EXPECT_EQ(summary.frames.begin()->first, 2U) << "ProfilerStep#2";
  EXPECT_EQ(summary.stages.at(kTotalTime).p50, microseconds(9200));
  ASSERT_EQ(summary.operators.by_name.size(), 3U) << "Python's functions are none";
  const OperatorTime& convolution = summary.operators.by_name[0];
  EXPECT_EQ(convolution.name, "aten::_convolution");
  EXPECT_EQ(convolution.calls, 3U);
  EXPECT_EQ(convolution.self, microseconds(3 * 4800));
  EXPECT_EQ(summary.operators.by_name[2].name, "aten::conv2d");
  EXPECT_EQ(summary.operators.by_name[2].self, microseconds(3 * 200));
  ASSERT_EQ(summary.operators.by_label.size(), 1U);
  EXPECT_EQ(summary.operators.by_label[0].name, "head");
  ASSERT_EQ(summary.threads.size(), 1U);
  EXPECT_EQ(summary.threads[0].name, "thread 4711 (python3)");
  EXPECT_EQ(summary.outliers[0].operators[0].name, "aten::linear");
}

TEST(TraceEvents, OfPyTorchWithoutKinetoAreAList) {
  const TraceSummary summary = summary_of("trace_pytorch_list.json");
  EXPECT_TRUE(summary.by_pytorch);
  EXPECT_EQ(summary.frames.size(), 2U);
  ASSERT_EQ(summary.operators.by_name.size(), 3U);
  EXPECT_EQ(summary.operators.by_name[0].self, microseconds(2 * 450));
  ASSERT_EQ(summary.operators.by_label.size(), 1U);
  EXPECT_EQ(summary.operators.by_label[0].name, "head");
}

TEST(TraceEvents, WhatPyTorchDoesNotTellIsLeftOutInWords) {
  const std::string text = text_of(summary_of("trace_pytorch.json"));
  EXPECT_EQ(text.rfind("A trace of PyTorch, without the stages of frames: 3 steps", 0), 0U) << text;
  EXPECT_EQ(text.find("camera"), std::string::npos) << text;
  const auto json = to_json(summary_of("trace_pytorch.json"));
  EXPECT_TRUE(json["by_pytorch"]);
  EXPECT_EQ(json["verdict"]["limit"], "unknown");
  EXPECT_FALSE(json["threads"][0].contains("idle_ms"));
}

TEST(TraceEvents, ACpuTimeIsAtMostTheStagesTime) {
  WrittenTrace trace;
  trace.slice("stage", "capture", 7, 0, 10, 0, R"(,"cpu_us":11)")
      .slice("stage", "report", 1, 20, 10, 0, R"(,"cpu_us":8,"writer_us":8)");
  const TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.threads[1].stages.at("capture").ran, microseconds(10));
  EXPECT_EQ(summary.threads[0].stages.at("report").ran, microseconds(8));
  EXPECT_EQ(summary.threads[0].stages.at("report").writer, microseconds(2));
}

TEST(TraceEvents, WhatIsNoTraceIsRefusedInASentence) {
  const std::map<std::string, std::string> wrong{
      {"", "is empty: record it again"},
      {"\x1f\x8b\x08", "is compressed: unpack it first"},
      {"\xff\xd8", "is not JSON"},
      {"{\"traceEvents\":[", "is cut or damaged: record it again"},
      {"[]", "has no \"traceEvents\""},
      {"[1]", "has no \"traceEvents\""},
      {"7", "has no \"traceEvents\""},
      {"{\"a\":1}", "has no \"traceEvents\""},
      {R"({"traceEvents":7})", "has no \"traceEvents\""},
      {R"({"traceEvents":[{}]})", "without \"ph\""},
      {R"({"traceEvents":[{"ph":"X","ts":1,"dur":1}]})", "integer \"tid\""},
      {R"({"traceEvents":[{"ph":"X","tid":1,"dur":1}]})", "number \"ts\""},
      {R"({"traceEvents":[{"ph":"X","tid":1,"ts":1,"dur":-1}]})", "negative duration"},
      {R"({"traceEvents":[{"ph":"X","tid":1,"ts":1e300,"dur":1}]})", "no time in microseconds"},
      {R"({"traceEvents":[{"ph":"C","name":"a","ts":1,"args":{"b":1e300}}]})", "sensible number"}};
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
}

}  // namespace
}  // namespace lookout
