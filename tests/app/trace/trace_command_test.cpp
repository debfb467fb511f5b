#include "app/trace/trace_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "app/trace/trace_compare.h"
#include "app/trace/welch_interval.h"
#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/written_trace.h"

namespace lookout {
namespace {

std::string report_on(const std::vector<std::string>& files, Format format = Format::kText) {
  TraceSummaryOptions options;
  options.files = files;
  options.format = format;
  std::string report;
  trace_summary(options, [&report](std::string_view text) { report += text; });
  return report;
}

// Ten frames whose inference, and the operator in it, take this long. Times are in microseconds.
std::string board(double inference, double convolution) {
  WrittenTrace trace;
  for (int i = 0; i < 10; ++i) {
    const double t = 50'000.0 * i;
    trace.slice("stage", "capture", 7, t, 1000, i)
        .wait(t + 1000, t + 1000, i)
        .slice("stage", "preprocess", 1, t + 1000, 500, i)
        .slice("stage", "inference", 1, t + 1500, inference, i)
        .slice("operator", "conv", 1, t + 1600, convolution, i)
        .slice("operator", "add", 1, t + 1600 + convolution, 300, i)
        .slice("stage", "top-k", 1, t + 1500 + inference, 10, i)
        .slice("stage", "report", 1, t + 1510 + inference, 100, i);
  }
  return trace.text();
}

TEST(TraceCommand, SeveralTracesAreSideBySide) {
  const TempDir directory;
  const std::string a = directory.write("a.json", board(10'000, 8000));
  const std::string b = directory.write("b.json", board(20'000, 18'000));
  const std::string c = directory.write("c.json", board(10'200, 8000));
  const std::string text = report_on({a, b, c});
  EXPECT_EQ(text.rfind("Slowest is " + b +
                           ": a frame takes 21.6 ms in the median, 1.86 times as "
                           "long as with " +
                           a,
                       0),
            0U)
      << text;
  EXPECT_NE(text.find("The operator that differs most is conv: 18.00 ms a frame with " + b +
                      ", 8.00 ms with the others (median)."),
            std::string::npos)
      << text;
  for (const std::string& stages :
       {a + "     1.00        0.00        0.50      10.00   0.01    0.10  11.61\n",
        b + "     1.00        0.00        0.50      20.00   0.01    0.10  21.61\n",
        c + "     1.00        0.00        0.50      10.20   0.01    0.10  11.81\n"}) {
    EXPECT_NE(text.find(stages), std::string::npos) << stages << " in\n" << text;
  }

  const auto json = nlohmann::json::parse(report_on({a, b, c}, Format::kJson));
  EXPECT_EQ(json["type"], "trace-summaries");
  EXPECT_EQ(json["slowest"], b);
  EXPECT_EQ(json["outlying_operator"]["name"], "conv");
  ASSERT_EQ(json["traces"].size(), 3U);
  EXPECT_EQ(json["traces"][1]["file"], b);
  EXPECT_EQ(json["traces"][1]["verdict"]["limit"], "camera");
  EXPECT_EQ(json["operators"][0]["self_ms_a_frame"], nlohmann::json({8, 18, 8}));
}

TEST(TraceCommand, TracesThatAreAlikeHaveNoOutlyingOperator) {
  const TempDir directory;
  const std::string a = directory.write("a.json", board(10'000, 8000));
  const auto json = nlohmann::json::parse(report_on({a, a}, Format::kJson));
  EXPECT_TRUE(json["outlying_operator"].is_null());
  EXPECT_EQ(json["times_fastest"], 1);
}

TraceSummaryOptions comparing(const std::vector<std::string>& files, Format format) {
  TraceSummaryOptions options;
  options.files = files;
  options.format = format;
  options.compare = true;
  return options;
}

std::string comparison(const TraceSummaryOptions& options) {
  std::string report;
  trace_summary(options, [&report](std::string_view text) { report += text; });
  return report;
}

TEST(TraceCommand, AChangeIsComparedByStagesAndOperators) {
  const TempDir directory;
  const std::string before = directory.write("a.json", board(10'000, 8000));
  std::string changed = board(12'000, 8000);
  for (auto at = changed.find("\"add\""); at != std::string::npos; at = changed.find("\"add\"")) {
    changed.replace(at, 5, "\"mul\"");
  }
  const std::string after = directory.write("b.json", changed);
  const std::string text = comparison(comparing({before, after}, Format::kText));
  EXPECT_EQ(text.rfind(after + " is slower than " + before + " (", 0), 0U) << text;
  const nlohmann::json json =
      nlohmann::json::parse(comparison(comparing({before, after}, Format::kJson)));
  EXPECT_EQ(json["type"], "trace-comparison");
  EXPECT_EQ(json["before"]["frames"], 10);
  EXPECT_EQ(json["total"]["change"], "slower");
  EXPECT_EQ(json["total"]["difference_ms"], 2);
  std::map<std::string, nlohmann::json> rows;
  for (const char* list : {"stages", "operators"}) {
    for (const auto& row : json[list]) rows[row["name"]] = row;
  }
  EXPECT_EQ(rows["inference"]["change"], "slower");
  EXPECT_EQ(rows["inference"]["interval_ms"], nlohmann::json({2, 2})) << "all frames are alike";
  EXPECT_TRUE(rows["preprocess"]["change"].is_null());
  EXPECT_TRUE(rows["conv"]["change"].is_null());
  EXPECT_EQ(rows["add"]["change"], "gone");
  EXPECT_EQ(rows["mul"]["change"], "added");
  EXPECT_EQ(rows["mul"]["before_ms"], 0);
  const nlohmann::json back =
      nlohmann::json::parse(comparison(comparing({after, before}, Format::kJson)));
  EXPECT_EQ(back["total"]["change"], "faster");
}

TEST(TraceCommand, AComparisonTakesTwoTraces) {
  const TempDir directory;
  const std::string one = directory.write("a.json", board(10'000, 8000));
  for (const std::vector<std::string>& files : {std::vector{one}, std::vector{one, one, one}}) {
    try {
      comparison(comparing(files, Format::kText));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), testing::HasSubstr("--compare takes two traces"));
    }
  }
  TraceSummaryOptions options = comparing({one, one}, Format::kText);
  options.html = directory / "page.html";
  EXPECT_THAT(comparison(options), testing::HasSubstr("do not differ"));
  const std::string page = read_file(options.html);
  EXPECT_THAT(page, testing::HasSubstr("no difference"));
  EXPECT_THAT(page, testing::HasSubstr("inference"));
}

// Of the frames of a trace, a part has operators: only they are samples.
TEST(TraceCommand, FramesWithoutOperatorsAreNoSamplesOfThem) {
  const auto trace_of = [](int with_operators) {
    WrittenTrace trace;
    for (int i = 0; i < 10; ++i) {
      const double t = 50'000.0 * i;
      trace.slice("stage", "capture", 7, t, 1000, i)
          .slice("stage", "inference", 1, t + 1500, 9000, i)
          .slice("stage", "report", 1, t + 11'000, 100, i);
      if (i < with_operators) trace.slice("operator", "conv", 1, t + 1600, 8000, i);
    }
    return trace.text();
  };
  const TempDir directory;
  const std::string all = directory.write("all.json", trace_of(10));
  const std::string some = directory.write("some.json", trace_of(4));
  const nlohmann::json json =
      nlohmann::json::parse(comparison(comparing({all, some}, Format::kJson)));
  EXPECT_EQ(json["operators"][0]["after_ms"], 8);
  EXPECT_TRUE(json["operators"][0]["change"].is_null());
}

// The values follow from the density of Student's t with 5.52 degrees of freedom.
TEST(TraceCompare, TheIntervalIsWelchs) {
  const auto [low, high] = welch_interval({1, 2, 3, 4}, {2, 4, 6, 8, 10}, 0.95);
  EXPECT_NEAR(low, -0.3854, 1e-3);
  EXPECT_NEAR(high, 7.3854, 1e-3);
  const auto wider = welch_interval({1, 2, 3, 4}, {2, 4, 6, 8, 10}, 0.99);
  EXPECT_LT(wider.first, low);
  EXPECT_TRUE(std::isinf(welch_interval({1}, {2, 3}, 0.95).second)) << "one value tells no spread";
  EXPECT_EQ(welch_interval({1, 1}, {3, 3}, 0.95), (std::pair{2.0, 2.0}));
}

// A disturbance of some frames that follow each other is one event, not as many as it has frames.
TEST(TraceCompare, NeighbouringFramesAreOneSample) {
  EXPECT_EQ(independent_samples({1, 2, 3}), (std::vector<double>{1, 2, 3}));
  std::vector<double> quiet(100, 10);
  for (std::size_t i = 0; i < quiet.size(); ++i) quiet[i] += 0.01 * static_cast<double>(i % 7);
  std::vector<double> disturbed = quiet;
  for (std::size_t i = 30; i < 40; ++i) disturbed[i] += 20;
  const std::vector<double> blocks = independent_samples(disturbed);
  ASSERT_EQ(blocks.size(), 10U);
  EXPECT_GT(blocks[3], 29);
  EXPECT_LT(blocks[4], 11);
  EXPECT_GT(welch_interval(quiet, disturbed, 0.95).first, 0) << "as if frames were independent";
  EXPECT_LT(welch_interval(independent_samples(quiet), blocks, 0.95).first, 0);
}

TEST(TraceCommand, OneBadTraceOfSeveralIsNamed) {
  const TempDir directory;
  const std::string good = directory.write("good.json", board(10'000, 8000));
  const std::string bad = directory.write("bad.json", "{");
  expect_error(ErrorKind::kBadData, "trace " + bad + " is not JSON", [&] {
    report_on({good, bad});
  });
  const std::string none = directory / "none.json";
  expect_error(ErrorKind::kNoInput, testing::StartsWith("trace " + none + " cannot be read"), [&] {
    report_on({good, none});
  });
}

TEST(TraceCommand, APageIsSavedBesideTheText) {
  const TempDir directory;
  TraceSummaryOptions options;
  options.files = {directory.write("a.json", board(10'000, 8000))};
  options.html = directory / "report.html";
  std::string report;
  const auto print = [&report](std::string_view text) { report += text; };
  trace_summary(options, print);
  EXPECT_NE(report.find("10 frames"), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(options.html), 1000U);
  options.html = directory / "no/such/folder.html";
  report.clear();
  EXPECT_THROW(trace_summary(options, print), Error);
  EXPECT_EQ(report, "") << "what cannot be saved is refused before anything is read";
}

TEST(TraceCommand, ATraceWithoutFramesIsBadData) {
  const TempDir directory;
  const std::string file = directory.write("t.json", R"({"traceEvents":[]})");
  expect_error(ErrorKind::kBadData,
               "trace " + file +
                   " has no frames in it: let the run go on until the log says that the trace is "
                   "written",
               [&] { report_on({file}); });
}

TEST(TraceCommand, ATraceOfPyTorchsWithoutStepsIsComparedWithNothing) {
  const TempDir directory;
  const std::string file = directory.write(
      "t.json",
      R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::add","tid":1,"ts":1,"dur":1}]})");
  EXPECT_NE(report_on({file}).find("aten::add"), std::string::npos);
  expect_error(ErrorKind::kBadData, testing::HasSubstr("has no steps that others can be compared"),
               [&] {
                 report_on({file, file});
               });
}

// Nothing is mapped at the start of a process's memory, so that reading it fails with EIO, as a
// damaged disk does.
TEST(TraceCommand, AFileWhoseReadingFailsIsNoInput) {
  const std::string memory = "/proc/self/mem";
  if (access(memory.c_str(), R_OK) != 0) GTEST_SKIP() << "there is no readable " << memory;
  try {
    report_on({memory});
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoInput);
    EXPECT_STREQ(error.what(), "trace /proc/self/mem cannot be read: Input/output error");
  }
}

}  // namespace
}  // namespace lookout
