// The page of a trace: the same bytes as tests/data/trace_small.golden, well-formed and
// self-contained.
#include "app/trace/trace_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/report/time_charts.h"
#include "paths.h"
#include "platform/system/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/written_trace.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const TraceFile& trace, const std::string& footer) {
  return to_html(make_report(trace), footer);
}

std::string small_page() {
  return page_of({"trace_small.json", summary_of("trace_small.json")}, "made by a test");
}

// Checks what tests/tools/read_page.py and an XML parser expect of a page; returns its figures.
nlohmann::json check(const std::string& html) {
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  const TempDir directory;
  const std::string file = directory.write("page.html", html);
  const auto python = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"/usr/bin/python3"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessOutput output = capture_process(command, {}, [] { return false; });
    EXPECT_EQ(output.problem, "") << output.err;
    return output.out;
  };
  python({"-c", "import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])", file});
  const std::string figures = python({std::string(LOOKOUT_TESTS) + "/tools/read_page.py", file});
  return figures.empty() ? nlohmann::json() : nlohmann::json::parse(figures);
}

// When the page is meant to change: `lookout trace-summary trace_small.json --report x.html` in
// tests/data, and the footer is set to that of the test.
TEST(TracePage, IsTheGoldenOne) {
  EXPECT_EQ(small_page(), read_file(LOOKOUT_TEST_DATA "/trace_small.golden"));
}

TEST(TracePage, IsWellFormedAndHasTheFiguresOfTheJson) {
  const nlohmann::json page = check(small_page());
  EXPECT_EQ(page["title"], "lookout trace-summary: net");
  const std::string text = page["text"];
  EXPECT_THAT(text, HasSubstr(summary_of("trace_small.json").verdict.sentence));
  for (const char* part :
       {"Temporal breakdown", "Idle breakdown", "Each frame", "Outliers", "Operators", "Layers",
        "Labels", "Queue and machine", "Latency", "Memory", "Run"}) {
    EXPECT_THAT(page["headings"], testing::Contains(part));
  }
  const auto json = nlohmann::json::parse(to_json(summary_of("trace_small.json")).dump());
  const auto& rows = page["tables"]["Milliseconds without a stage"];
  EXPECT_EQ(rows[1][0], json["threads"][0]["name"]);
  EXPECT_NEAR(std::stod(rows[1][2].get<std::string>()),
              json["threads"][0]["idle_ms"]["camera"].get<double>(), 0.005);
}

TEST(TracePage, OfPyTorchSaysWhatIsLeftOut) {
  const nlohmann::json page =
      check(page_of({"trace_pytorch.json", summary_of("trace_pytorch.json")}, ""));
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("has no stages of frames"));
  EXPECT_THAT(page["headings"], Not(testing::Contains("Idle breakdown")));
  EXPECT_THAT(page["headings"], testing::Contains("Each step"));
}

TEST(TracePage, OfSeveralTracesComparesThem) {
  const std::vector<TraceFile> traces{{"a.json", summary_of("trace_small.json")},
                                      {"b.json", summary_of("trace_pytorch.json")}};
  const nlohmann::json page = check(to_html(make_report(traces), ""));
  EXPECT_EQ(page["title"], "lookout trace-summary: 2 traces");
  EXPECT_EQ(page["tables"]["Shares of the time in percent"].size(), 3U);
}

TEST(TracePage, TextsFromOutsideAreEscaped) {
  const std::string attack = "<script>alert('x')</script>\"&";
  WrittenTrace trace;
  const std::string name = R"(<script>alert('x')</script>\"&)";
  trace.slice("stage", "capture", 7, 0, 10, 0)
      .slice("stage", name, 1, 10, 10, 0)
      .slice("operator", name, 1, 10, 5, 0, R"(,"layer":")" + name + "\"")
      .slice("label", name, 1, 16, 2, 0)
      .counter(name, name, 0, 1)
      .slice("stage", "report", 1, 20, 10, 0);
  const nlohmann::json page = check(page_of({attack, summarize(trace)}, attack));
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("<script>"));
}

TEST(TimeCharts, ManyColumnsAndStepsAreDrawnInGroups) {
  std::vector<TimeColumn> columns;
  TimeSteps steps;
  for (int i = 0; i < 10'000; ++i) {
    columns.push_back({"frame " + std::to_string(i) + ": x", {i == 5000 ? 9.0 : 1.0}});
    steps.values.emplace_back(i, i % 2);
  }
  steps.end = 10'000;
  steps.unit = "frames";
  const std::string column =
      column_chart("each", columns, {{Color::kBlue, ""}}, {"median 1", 1}, "ms");
  EXPECT_THAT(column, HasSubstr("<title>frame 5000: x</title>")) << "the slowest is not lost";
  EXPECT_THAT(column, HasSubstr("9.0 ms"));
  EXPECT_LT(column.size(), 100'000U);
  const std::string step = step_chart("steps", steps);
  EXPECT_THAT(step, HasSubstr("0 to 1"));
  EXPECT_LT(step.size(), 150'000U);
}

}  // namespace
}  // namespace lookout
