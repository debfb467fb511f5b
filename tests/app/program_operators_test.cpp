// The program with libraries of operators.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/libraries/operator_libraries.h"
#include "tests/support/onnx_file.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* kColorLabels = "red\ngreen\nblue\nunknown\n";

class ProgramWithOperators : public testing::Test {
 protected:
  ProgramWithOperators() {
    dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    write_archive(archive_, "return lookout_example.calibrated_scores(x.mean([2, 3]), 0.1, 0.0)",
                  small_metadata(), kColorLabels, "x", "lookout_example");
  }

  std::vector<std::string> arguments(std::vector<std::string> others = {}) const {
    std::vector<std::string> all{"test://red?fps=0&frames=20", "--model", archive_};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }

  TempDir directory_;
  const std::string archive_ = directory_ / "small.pt";
  const std::string library_ = operator_library("lookout_example_torch");
};

TEST_F(ProgramWithOperators, RunsAndNamesThemInProfileAndTrace) {
  const std::string trace = directory_ / "trace.json";
  const ProgramResult result =
      run_lookout(arguments({"--set", "model.operators=" + library_, "--format", "json", "--set",
                             "profile.op-sampling=1", "--trace", trace}));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(classifications(result)[0]["results"][0]["label"], "red");
  EXPECT_THAT(result.err, HasSubstr("lookout_example::calibrated_scores"));
  EXPECT_THAT(run_lookout({"trace-summary", trace}).out,
              HasSubstr("lookout_example::calibrated_scores"));
}

TEST_F(ProgramWithOperators, TheConfigurationNamesThem) {
  for (const std::string& value : {"\"" + library_ + "\"", "[\"" + library_ + "\"]"}) {
    const std::string config =
        directory_.write("lookout.toml", "[model]\noperators = " + value + "\n");
    EXPECT_EQ(run_lookout(arguments({"--config", config, "--set", "model.workers=2"})).status, 0)
        << value;
  }
}

TEST_F(ProgramWithOperators, WithoutTheLibraryOperatorAndOptionAreNamed) {
  const ProgramResult result = run_lookout(arguments());
  expect_failure(result, 65, "lookout_example::calibrated_scores");
  EXPECT_THAT(result.err, HasSubstr("--operators FILE"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(ProgramWithOperators, InspectTellsWhatIsNeeded) {
  EXPECT_THAT(run_lookout({"inspect", archive_}).out,
              ContainsRegex("needs operators +lookout_example::calibrated_scores"));
  const Json json = Json::parse(run_lookout({"inspect", archive_, "--format", "json"}).out);
  EXPECT_EQ(json["operators_needed"], Json({"lookout_example::calibrated_scores"}));
  const Json none = Json::parse(run_lookout({"inspect", "--format", "json"}).out);
  EXPECT_EQ(none["operators_needed"], Json::array());
  const ProgramResult run = run_lookout({"inspect", archive_, "--run", "--operators", library_});
  EXPECT_THAT(run.out, HasSubstr("runs on"));

  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.after = {"Scores"};
  file.after_domain = "acme";
  const std::string onnx = directory_.write("model.onnx", file.bytes());
  EXPECT_THAT(run_lookout({"inspect", onnx}).out, ContainsRegex("needs operators +acme::Scores"));
}

TEST_F(ProgramWithOperators, OtherCommandsTakeThem) {
  EXPECT_EQ(run_lookout({"doctor", "test://red", "--model", archive_, "--set",
                         "model.operators=" + library_})
                .status,
            0);
  EXPECT_EQ(run_lookout({"bench", "--model", archive_, "--operators", library_, "--threads", "1",
                         "--frames", "2"})
                .status,
            0);
}

TEST_F(ProgramWithOperators, InspectTakesThemToRunAlone) {
  expect_failure(run_lookout({"inspect", archive_, "--operators", library_}), 64,
                 "--run or --device NAME is needed");
}

TEST_F(ProgramWithOperators, BenchGivesModelsOfBothEnginesTheirs) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  const std::string onnx = directory_.write("model.onnx", file.bytes());
  const std::string onnx_library = operator_library("lookout_example_onnx");
  if (!std::filesystem::exists(onnx_library)) GTEST_SKIP() << "built without ONNX Runtime";
  const std::string libraries = library_ + "," + onnx_library;
  const ProgramResult both =
      run_lookout({"bench", "--model", archive_, "--model", onnx, "--operators", libraries,
                   "--threads", "1", "--frames", "2", "--format", "json"});
  ASSERT_EQ(both.status, 0) << both.err;
  const Json results = Json::parse(both.out)["results"];
  EXPECT_THAT(results[0]["model"]["operators"][0].get<std::string>(),
              HasSubstr("lookout_example_torch.so, sha256 "));
  EXPECT_THAT(results[1]["model"]["operators"][0].get<std::string>(),
              HasSubstr("lookout_example_onnx.so, sha256 "));
  expect_failure(run_lookout({"bench", "--model", archive_, "--operators", libraries, "--threads",
                              "1", "--frames", "2"}),
                 65, "is for ONNX Runtime");
}

TEST_F(ProgramWithOperators, WrongLibrariesAreOneSentence) {
  for (const auto& [library, status, part] :
       {std::tuple{directory_ / "none.so", 66, "missing"},
        {archive_, 65, "no shared library"},
        {operator_library("wrong_undefined"), 65, "undefined symbol"},
        {operator_library("wrong_other_torch"), 65, "LibTorch 0.4.1"},
        {operator_library("wrong_crashes"), 65, "crashes"},
        {library_ + "," + operator_library("lookout_example_torch_again"), 65, "register"}}) {
    const ProgramResult result = run_lookout(arguments({"--set", "model.operators=" + library}));
    expect_failure(result, status, part);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(ProgramWithOperators, AServiceLoadsThoseOfRootAlone) {
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=" + directory_ / "socket"};
  expect_failure(run_lookout(arguments({"--set", "model.operators=" + library_}), service), 77,
                 "put it into /usr/local/lib/lookout");
}

}  // namespace
}  // namespace lookout
