// A run from its source to its summary: predictions, counts and signals.
#include "tests/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "paths.h"
#include "tests/support/program_results.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

const std::map<std::string, std::string> kLabelOfPattern{{"colorbars", "color bars"},
                                                         {"hcolorbars", "horizontal color bars"},
                                                         {"colorsquares", "color squares"},
                                                         {"black", "black"},
                                                         {"white", "white"},
                                                         {"red", "red"},
                                                         {"green", "green"},
                                                         {"blue", "blue"},
                                                         {"gray", "gray"},
                                                         {"checkers", "checkers"},
                                                         {"colorcheckers", "red-blue checkers"},
                                                         {"hlines", "horizontal lines"},
                                                         {"vlines", "vertical lines"},
                                                         {"cross", "cross"},
                                                         {"ramp", "gray ramp"},
                                                         {"noise", "noise"}};

class SelfTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(SelfTest, TheBuiltInModelNamesEveryPattern) {
  const auto [size, noise] = GetParam();
  // 12 frames of each pattern: the shift's and marker's places differ.
  const ProgramResult result = run_lookout(
      {"test://all?fps=0&hold=12&frames=192&size=" + size + "&noise=" + noise, "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::vector<Json> lines = classifications(result);
  ASSERT_EQ(lines.size(), 192U);
  std::set<std::string> seen;
  for (const Json& line : lines) {
    const std::string pattern = line["file"].get<std::string>().substr(7);
    seen.insert(pattern);
    EXPECT_EQ(line["results"][0]["label"], kLabelOfPattern.at(pattern)) << line;
    EXPECT_EQ(line["results"].size(), 10U);
  }
  EXPECT_EQ(seen.size(), kLabelOfPattern.size());
}

INSTANTIATE_TEST_SUITE_P(All, SelfTest,
                         testing::Combine(testing::Values("224x224", "640x480", "1280x720"),
                                          testing::Values("0", "20")));

class RealPictures : public testing::TestWithParam<const char*> {};

TEST_P(RealPictures, HaveTheRightTopOne) {
  const std::string models = LOOKOUT_SHARED_MODELS;
  if (!std::filesystem::exists(models)) GTEST_SKIP() << models << " is not here";
  const ProgramResult result =
      run_lookout({models + "/samples", "--model", models + "/" + GetParam(), "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::vector<std::pair<std::string, int>> expected{{"n01443537_goldfish", 1},
                                                          {"n02099601_golden_retriever", 207},
                                                          {"n02123597_Siamese_cat", 284},
                                                          {"n03100240_convertible", 511},
                                                          {"n07745940_strawberry", 949}};
  const std::vector<Json> lines = classifications(result);
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["file"], models + "/samples/" + expected[i].first + ".JPEG");
    EXPECT_EQ(lines[i]["results"][0]["index"], expected[i].second);
    EXPECT_EQ(lines[i]["seq"], i);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealPictures,
                         testing::Values("mobilenet_v2_qnnpack.pt", "mobilenet_v2_xnnpack.pt",
                                         "mobilenet_v2_float.pt"));

TEST(Program, AVariableThatNothingReadsIsWarnedOf) {
  Program::Options options;
  options.environment = {"LOOKOUT_TOPK=2"};
  const ProgramResult result = run_lookout({"test://red?fps=0&frames=1"}, options);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("warning environment LOOKOUT_TOPK: there is no such setting, it is "
                            "ignored; did you mean LOOKOUT_RESULTS_TOP_K?"),
            std::string::npos)
      << result.err;
}

TEST(Program, NothingIsMeasuredForASinglePicture) {
  const std::string picture = std::string(LOOKOUT_TEST_DATA) + "/overlay.png";
  const ProgramResult result = run_lookout({picture, "--threads", "auto"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("(auto)"), std::string::npos) << result.err;
}

TEST(Program, CountsAddUpInTheSummary) {
  const ProgramResult result =
      run_lookout({"test://all?fps=200", "-t", "2s", "--format", "json", "--log-level", "off"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const std::vector<Json> lines = json_lines(result.out);
  const Json& summary = lines.back();
  ASSERT_EQ(summary["type"], "summary");
  EXPECT_EQ(summary["captured"].get<int>(), summary["classified"].get<int>() +
                                                summary["dropped"].get<int>() +
                                                summary["in_flight"].get<int>());
  EXPECT_EQ(classifications(result).size(), summary["classified"].get<std::size_t>());
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [](const Json& line) { return line["type"] == "stats"; }));
  for (const Json& line : lines) {
    if (line["type"] != "stats" && line["type"] != "summary") continue;
    for (const char* field : {"temperature_c", "throttled"}) {
      ASSERT_TRUE(line.contains(field)) << line;
      EXPECT_TRUE(line[field].is_null() || line[field].is_number()) << line;
    }
  }
}

class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, EndTheProgramWithItsSummary) {
  Program program({"test://all", "--format", "json"});
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  kill(program.pid(), GetParam());
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("summary of "), std::string::npos);
  EXPECT_EQ(json_lines(result.out).back()["type"], "summary");
}

INSTANTIATE_TEST_SUITE_P(All, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Program, OptionsOfResultsStatesAndSchedulingAreApplied) {
  const std::string source = "test://checkers?fps=0&frames=3";
  const ProgramResult some = run_lookout({source, "--threshold", "0.5", "--format", "json"});
  ASSERT_EQ(classifications(some).size(), 3U) << some.err;
  EXPECT_EQ(classifications(some)[0]["results"].size(), 1U) << some.out;
  EXPECT_NE(some.out.find("\"type\":\"state\""), std::string::npos) << some.out;
  const ProgramResult steady =
      run_lookout({source, "--set", "state.min-duration=1h", "--format", "json"});
  EXPECT_EQ(classifications(steady).size(), 3U) << steady.err;
  EXPECT_EQ(steady.out.find("\"type\":\"state\""), std::string::npos) << steady.out;
  expect_failure(run_lookout({source, "--set", "camera.capture-cpus=1023"}), 64, "1023");
}

TEST(Program, TheViewIsApplied) {
  // Colour bars are no longer themselves when only their first bar is looked at.
  const ProgramResult result = run_lookout(
      {"test://hcolorbars?fps=0&frames=1&size=640x640", "--roi", "0,0,1,0.1", "--format", "json"});
  EXPECT_EQ(classifications(result)[0]["results"][0]["label"], "white") << result.out;
  const ProgramResult turned = run_lookout(
      {"test://hlines?fps=0&frames=1", "--set", "camera.rotation=90", "--format", "json"});
  EXPECT_EQ(classifications(turned)[0]["results"][0]["label"], "vertical lines") << turned.out;
}

}  // namespace
}  // namespace lookout
