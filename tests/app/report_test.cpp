// The pages of `--report FILE.html`: well-formed, self-contained, and with the figures of the JSON.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>

#include "app/bench/bench_result.h"
#include "app/eval/eval_result.h"
#include "app/report/charts.h"
#include "app/report/report.h"
#include "paths.h"
#include "platform/sources/test_pattern.h"
#include "platform/system/process.h"
#include "platform/system/thumbnail.h"
#include "tests/support/program.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The figures of a page; null when it is not what read_page.py expects.
json read_page(const std::string& path) {
  const ProcessOutput read = capture_process(
      {"/usr/bin/python3", std::string(LOOKOUT_TESTS) + "/tools/read_page.py", path}, {},
      [] { return false; });
  EXPECT_EQ(read.problem, "") << read.err;
  return read.problem.empty() ? json::parse(read.out) : json();
}

json read_text(const std::string& html) {
  const TempDir directory;
  return read_page(directory.write("page.html", html));
}

constexpr const char* kAttack = "<script>alert('x')</script>\"&<img src=x onerror=y>";

std::string page_of(const EvalResult& result) { return to_html(make_report(result), "made"); }

// Of class i the pictures are taken for class i + 1, but for one.
EvalResult many_classes(std::size_t classes) {
  EvalResult report;
  report.model = "many";
  for (std::size_t i = 0; i <= classes; ++i) report.labels.push_back(fmt::format("label {}", i));
  for (std::size_t i = 0; i < classes; ++i) {
    report.counts.record("right.png", i, {{i, "", 0.9F}});
    for (std::size_t j = 0; j < i % 7; ++j) {
      report.counts.record("wrong.png", i, {{i + 1, "", 0.7F}});
    }
  }
  return report;
}

Report with_table(Table table) {
  Report report;
  report.kind = "lookout x";
  report.title = "t";
  report.parts = {{"Stages", "A note.", {std::move(table)}}};
  return report;
}

TEST(ReportWriters, ATableIsSaidOnceForAllFormats) {
  const Report report = with_table({"in ms",
                                    {"name", {"on a page", Shown::kHtml}, "mean ms"},
                                    {{"a|b", "h", "1.0"}, {"c", "h", "22.5"}},
                                    1});
  EXPECT_EQ(to_text(report),
            "t\n\n"
            "Stages: in ms\n"
            "      mean\n"
            "name    ms\n"
            "a|b    1.0\n"
            "and 1 more\n");
  EXPECT_EQ(to_markdown(report),
            "# lookout x\n\nt\n\n## Stages: in ms\n\nA note.\n\n"
            "| name | mean ms |\n| --- | --- |\n| a\\|b | 1.0 |\n| c | 22.5 |\n");
  const std::string html = to_html(report, "");
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">on a page</th>"));
  EXPECT_THAT(html, HasSubstr("<summary>1 more</summary>"));
}

TEST(ReportWriters, LabelsAreShortenedWhereATableThenFits) {
  const Report report =
      with_table({"", {"label", "n"}, {{"k\u00f6ttbullar with mashed potatoes", "1"}}});
  EXPECT_THAT(to_text(report, 14), HasSubstr("\nk\u00f6ttbullar\u2026  1\n"));
  EXPECT_THAT(to_text(report, 10), HasSubstr(" potatoes  1\n")) << "there is no room at all";
}

TEST(ReportWriters, WhatAFormatDoesNotShowIsLeftOut) {
  Report report = with_table({});
  report.parts = {{"On a page", "", {{Facts{{"name", "value"}}, Shown::kHtml}}},
                  {"A chart", "", {Chart{"<svg/>", {{"bar", "1 fps"}}}}}};
  EXPECT_EQ(to_text(report), "t\n\nA chart\nbar             1 fps\n");
  EXPECT_THAT(to_html(report, ""), HasSubstr("<dt>name</dt><dd>value</dd>"));
  EXPECT_THAT(to_html(report, ""), HasSubstr("<svg/>"));
  EXPECT_THAT(to_markdown(report), Not(HasSubstr("On a page")));
}

TEST(EvalPage, TextsFromOutsideAreEscaped) {
  EvalResult report;
  report.model = kAttack;
  report.source = kAttack;
  report.labels = {kAttack, "b\xFF\x1B[2J"};
  report.counts.record(std::string("a/") + kAttack + ".png", 0, {{1, "", 0.75F}});
  report.model_facts = {{"producer", kAttack}};
  const std::string html = to_html(make_report(report), kAttack);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("\x1B")));
  const json page = read_text(html);
  EXPECT_EQ(page["title"], std::string("lookout eval: ") + kAttack);
  EXPECT_EQ(page["tiles"]["producer"], kAttack);
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("\\x1b[2J"));
}

TEST(EvalPage, ManyClassesStayReadable) {
  const EvalResult report = many_classes(1000);
  const std::string html = page_of(report);
  EXPECT_LT(html.size(), 1'000'000U);
  const json page = read_text(html);
  const json& matrix =
      page["tables"]["Rows: the right class. Columns: the predicted class. Cells: pictures."];
  ASSERT_GT(matrix.size(), 10U);
  EXPECT_LE(matrix.size(), 21U);
  EXPECT_LE(matrix[0].size(), 23U);
  // Each row adds up to its class's pictures, and the most frequent confusion is there.
  EXPECT_EQ(matrix[1][0], "6 label 6");
  int sum = 0;
  for (std::size_t i = 1; i + 1 < matrix[1].size(); ++i) {
    sum += std::stoi(matrix[1][i].get<std::string>());
  }
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(page["tables"]["Every class of the set"].size(), 1001U);
}

TEST(EvalPage, ASmallSetIsShownWhole) {
  const json page = read_text(page_of(many_classes(3)));
  const json& matrix =
      page["tables"]["Rows: the right class. Columns: the predicted class. Cells: pictures."];
  EXPECT_EQ(matrix, json::parse(R"([["","0 label 0","1 label 1","2 label 2","3 label 3","right"],
    ["0 label 0","1","0","0","0","100 %"],["1 label 1","0","1","1","0","50 %"],
    ["2 label 2","0","0","1","2","33 %"]])"));
}

TEST(EvalPage, ThumbnailsAreLimited) {
  EvalResult report = many_classes(1000);
  std::size_t made = 0;
  report.thumbnail = [&made](const std::string&) {
    ++made;
    return "data:image/jpeg;base64," + std::string(100'000, 'A');
  };
  const std::string html = page_of(report);
  EXPECT_GT(made, 5U);
  EXPECT_LE(html.size(), 3'000'000U);
}

TEST(EvalPage, APerfectModelHasNoWorstClasses) {
  EvalResult report;
  report.labels = {"a"};
  report.counts.record("a.png", 0, {{0, "", 1}});
  const json page = read_text(page_of(report));
  EXPECT_THAT(page["headings"].dump(), Not(HasSubstr("Worst")));
  EXPECT_THAT(page["tiles"]["top-1 accuracy"].get<std::string>(), StartsWith("100.00 %"));
}

TEST(Thumbnail, IsASmallSquareOfTheMiddle) {
  const TempDir directory;
  cv::Mat picture(100, 300, CV_8UC3, cv::Scalar(0, 0, 255));
  picture.colRange(100, 200) = cv::Scalar(255, 0, 0);
  const std::string uri = thumbnail_uri(picture, 40);
  const std::string head = "data:image/jpeg;base64,";
  ASSERT_THAT(uri, StartsWith(head));
  const ProcessOutput decoded =
      capture_process({"/bin/sh", "-c", "printf %s \"$0\" | base64 -d >\"$1\"",
                       uri.substr(head.size()), directory / "t.jpg"},
                      {}, [] { return false; });
  ASSERT_EQ(decoded.problem, "");
  const cv::Mat small = cv::imread(directory / "t.jpg");
  ASSERT_EQ(small.size(), cv::Size(40, 40));
  EXPECT_GT(small.at<cv::Vec3b>(2, 2)[0], 200) << "blue, as the middle";
  EXPECT_EQ(thumbnail_uri(cv::Mat(), 40), "");
}

TEST(Charts, AHistogramWithOneValueOrNone) {
  EXPECT_EQ(histogram("d", {}, {}, "ms"), "");
  EXPECT_THAT(histogram("d", {0}, {{"p50", 0}}, "ms"), HasSubstr("<rect"));
  EXPECT_THAT(histogram("d", {5, 5, 5}, {{"p50", 5}, {"p99", 5}}, "ms"), Not(HasSubstr("nan")));
  EXPECT_THAT(histogram("d", {5, 6, 1e6}, {{"p99", 6}}, "ms"), HasSubstr("has all above"));
}

TEST(BenchPage, HasTheFiguresAndTheSpread) {
  BenchReport report;
  report.machine.system.board = kAttack;
  report.machine.kind = "real machine";
  BenchResult result;
  result.model.json["name"] = kAttack;
  result.stats.classified_fps = 50;
  result.stats.inference = {std::chrono::milliseconds(20), {}, {}, {}};
  result.fps_spread = RateSpread{45, 55};
  result.start_s = 0.75;
  report.results = {result, result};
  report.results[1].fps_spread.reset();
  report.missing = 1;
  const json page = read_text(to_html(make_report(report), "made"));
  const json& row = page["tables"]["Every combination"][1];
  EXPECT_EQ(row[0], std::string(kAttack) + ", 1 thread, 1 worker");
  EXPECT_EQ(row[1], "50.0");
  EXPECT_EQ(row[2], "45.0 to 55.0");
  EXPECT_EQ(row[4], "20.0");
  EXPECT_EQ(page["tables"]["Every combination"][2][2], "");
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("interrupted: 2 of 3 combinations"));
  report.results.clear();
  read_text(to_html(make_report(report), "made"));
}

TEST(RateSpread, LeavesOutTheOutermostTenths) {
  EXPECT_FALSE(spread_of({1, 2, 3, 4}));
  EXPECT_EQ(spread_of({3, 1, 2, 5, 4})->low, 1);
  std::vector<double> twenty;
  for (int i = 20; i > 0; --i) twenty.push_back(i);
  EXPECT_EQ(spread_of(twenty)->low, 3);
  EXPECT_EQ(spread_of(twenty)->high, 18);
}

// ---- The program

void draw(const std::string& path, Pattern pattern) {
  fs::create_directories(fs::path(path).parent_path());
  cv::Mat picture(240, 320, CV_8UC3);
  draw_pattern(pattern, picture);
  ASSERT_TRUE(cv::imwrite(path, picture));
}

TEST(Report, OfEvalHasTheFiguresOfTheJson) {
  const TempDir directory;
  draw(directory / "set/red/1.png", Pattern::kRed);
  draw(directory / "set/green/not <green>.png", Pattern::kBlue);
  const std::string report = directory / "r.html";
  const ProgramResult ran = run_lookout(
      {"eval", directory / "set", "--threads", "1", "--format", "json", "--report", report});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json found = json::parse(ran.out);
  const json page = read_page(report);
  EXPECT_THAT(page["tiles"]["top-1 accuracy"].get<std::string>(),
              StartsWith(fmt::format("{:.2f} %", found["top1_percent"].get<double>())));
  EXPECT_THAT(page["tiles"]["calibration error"].get<std::string>(),
              StartsWith(fmt::format("{:.1f} %", 100 * found["calibration"]["ece"].get<double>())));
  const json& stages = page["tables"]["Milliseconds of each stage"];
  EXPECT_EQ(stages[3][0], "inference");
  // Rounded to a tenth, in JSON to a thousandth.
  EXPECT_NEAR(std::stod(stages[3][4].get<std::string>()),
              found["latency_ms"]["inference"]["max"].get<double>(), 0.0506);
  for (std::size_t i = 0; i < found["classes"].size(); ++i) {
    const json& of_class = found["classes"][i];
    const json& row = page["tables"]["Every class of the set"][i + 1];
    EXPECT_EQ(row[0], fmt::format("{} {}", of_class["index"].get<int>(),
                                  of_class["label"].get<std::string>()));
    EXPECT_EQ(row[2], std::to_string(of_class["top1"].get<int>()));
  }
  EXPECT_EQ(page["tiles"]["sha256"], found["sha256"]);
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("not <green>.png"));
  std::ifstream file(report);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
              HasSubstr("<img src=\"data:image/jpeg;base64,"));
}

TEST(Report, OfBenchHasTheFiguresOfTheJson) {
  const TempDir directory;
  const std::string report = directory / "r.HTML";
  const ProgramResult ran = run_lookout(
      {"bench", "--threads", "1", "--frames", "20", "--format", "json", "--report", report});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json found = json::parse(ran.out)["results"][0];
  EXPECT_TRUE(found["fps_p10"].is_null()) << "it took less than five seconds";
  const json row = read_page(report)["tables"]["Every combination"][1];
  EXPECT_EQ(row[0], "selftest, 1 thread, 1 worker");
  EXPECT_NEAR(std::stod(row[1].get<std::string>()), found["fps"].get<double>(), 0.051)
      << "both are rounded, the page to 0.1";
  EXPECT_EQ(row[10], "20");
}

TEST(Report, OtherFormatsAreRefused) {
  const auto refused = [](const std::string& command, const std::string& file,
                          const std::string& expected) {
    const ProgramResult ran = run_lookout({command, "x", "--report", file});
    EXPECT_EQ(ran.status, 64);
    EXPECT_THAT(ran.err, HasSubstr("--report: expected a file that ends in " + expected));
  };
  refused("eval", "r.md", ".html, not r.md; see lookout eval --help");
  refused("eval", "html", ".html");
  refused("bench", "r.pdf", ".html or .md, not r.pdf; see lookout bench --help");
}

TEST(Report, ThatCannotBeWrittenIsToldAtOnce) {
  const TempDir directory;
  const ProgramResult ran =
      run_lookout({"eval", directory.path().string(), "--report", "/no/such/r.html"});
  EXPECT_EQ(ran.status, 74);
  EXPECT_THAT(ran.err, HasSubstr("report /no/such/r.html cannot be written"));
}

}  // namespace
}  // namespace lookout
