// lookout eval, as its users meet it, and against the Python pipeline.
#include "app/eval/eval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>

#include "app/options/options.h"
#include "paths.h"
#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "platform/sources/test_pattern.h"
#include "platform/system/process.h"
#include "tests/app/options/parsing.h"
#include "tests/support/program.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

EvalOptions parse_eval(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"eval"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return parse_command(all).eval;
}

TEST(EvalOptions, EveryOptionIsUnderstood) {
  const EvalOptions options =
      parse_eval({"val/", "--labels-csv", "l.csv", "--model", "m.pt", "--labels", "l.txt",
                  "--threads", "2", "--format", "json", "--output", "o.json"});
  EXPECT_EQ(options.folder, "val/");
  EXPECT_EQ(options.labels_csv, "l.csv");
  EXPECT_EQ(options.model.file, "m.pt");
  EXPECT_EQ(options.model.labels, "l.txt");
  EXPECT_EQ(options.model.threads, 2);
  EXPECT_EQ(options.results.format, Format::kJson);
  EXPECT_EQ(options.output, "o.json");
}

TEST(EvalOptions, WhatIsWrongIsAUsageError) {
  for (const auto& [arguments, named] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "DIR is required"},
           {{"val/", "--top-k", "3"}, "--top-k"},
           {{"val/", "--workers", "2", "--threads", "2"}, "--workers"}}) {
    try {
      parse_eval(arguments);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(named));
      EXPECT_THAT(error.what(), EndsWith("see lookout eval --help"));
    }
  }
}

// Drawn pictures in folders of their classes.
class Eval : public testing::Test {
 protected:
  void draw(Pattern pattern, const std::string& file, const cv::Size& size = {320, 240}) const {
    fs::create_directories((folder_.path() / file).parent_path());
    cv::Mat picture(size, CV_8UC3);
    draw_pattern(pattern, picture);
    ASSERT_TRUE(cv::imwrite(folder_ / file, picture));
  }

  // Seven pictures: five right, one taken for another class, one broken.
  void draw_all() const {
    draw(Pattern::kRed, "red/1.png");
    draw(Pattern::kRed, "red/2.png", {640, 480});
    draw(Pattern::kColorBars, "0/bars.png");
    draw(Pattern::kHorizontalLines, "n00000001_horizontal_lines/lines.png", {100, 150});
    draw(Pattern::kCheckers, "checkers/1.jpg");
    draw(Pattern::kBlue, "green/not.png");
    folder_.write("green/broken.png", "this is no picture");
  }

  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"eval", folder_.path().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  TempDir folder_;
};

TEST_F(Eval, CountsAndSaysWhatWasSkipped) {
  draw_all();
  const TempDir elsewhere;
  const std::string output = elsewhere / "o.json";
  const ProgramResult ran = run_lookout(arguments({"--output", output}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("top-1 accuracy    83.33 %, 5 of 6, 95 % interval "));
  EXPECT_THAT(ran.out, HasSubstr("\n1 of 7 pictures could not be read and are not counted.\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n6 green  7 blue         1\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nLatency: Milliseconds of each stage\n"));
  EXPECT_THAT(ran.err, HasSubstr("broken.png cannot be read as a picture; skipped"));
  std::ifstream file(output);
  const json written = json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  EXPECT_EQ(written["type"], "eval");
  EXPECT_EQ(written["complete"], true) << "what cannot be read was come to, too";
  EXPECT_EQ(written["pictures"], 6);
  EXPECT_EQ(written["skipped"], 1);
  EXPECT_EQ(written["top1"], 5);
  EXPECT_EQ(written["results"].size(), 6U);
  EXPECT_EQ(written["confusions"][0]["predicted_label"], "blue");
}

TEST_F(Eval, SaysThatItWasInterrupted) {
  draw_all();
  const TempDir elsewhere;
  const std::string earlier = elsewhere.write("earlier.json", "earlier");
  EvalOptions options = parse_eval({folder_.path().string(), "--output", earlier, "--threads", "1",
                                    "--model", LOOKOUT_SELFTEST});
  const std::atomic<bool> stop{true};
  std::string text;
  const auto print = [&text](std::string_view part) { text = part; };
  EXPECT_FALSE(eval(options, stop, print));
  EXPECT_THAT(text, AllOf(HasSubstr("\nInterrupted after 0 of 7 pictures.\n"),
                          HasSubstr("\ntop-1 accuracy  none, 0 of 0, ")));
  options.results.format = Format::kJson;
  EXPECT_FALSE(eval(options, stop, print));
  const json found = json::parse(text);
  EXPECT_EQ(found["complete"], false);
  EXPECT_TRUE(found["top1_percent"].is_null());
  std::ifstream file(earlier);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "earlier");
}

// The list of labels is read when the model is loaded.
TEST_F(Eval, NamesTheModelThatItLoaded) {
  draw(Pattern::kRed, "red.png");
  const TempDir elsewhere;
  const std::string model = elsewhere / "m.pt";
  const std::string csv = elsewhere / "l.csv";
  ASSERT_EQ(mkfifo(csv.c_str(), 0600), 0);
  for (const bool replaced : {true, false}) {
    fs::copy_file(LOOKOUT_SELFTEST, model, fs::copy_options::overwrite_existing);
    const std::string hash = ModelArchive(model).sha256();
    Program program(arguments({"--model", model, "--labels-csv", csv, "--format", "json"}));
    std::ofstream labels(csv);
    if (replaced) {
      fs::rename(elsewhere.write("other.pt", "another model"), model);
    } else {
      fs::remove(model);
    }
    labels << "red.png,red\n";
    labels.close();
    const ProgramResult ran = program.finish();
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(json::parse(ran.out)["sha256"], hash);
  }
}

TEST_F(Eval, ASignalIsItsExitStatus) {
  draw(Pattern::kRed, "red.png");
  const TempDir elsewhere;
  const std::string csv = elsewhere / "l.csv";
  ASSERT_EQ(mkfifo(csv.c_str(), 0600), 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program(arguments({"--labels-csv", csv}));
    std::ofstream labels(csv);
    kill(program.pid(), signal);
    labels << "red.png,red\n";
    labels.close();
    const ProgramResult ran = program.finish();
    EXPECT_EQ(ran.status, 128 + signal) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("\nInterrupted after 0 of 1 pictures.\n"));
  }
}

TEST_F(Eval, IsPrintedWhenItCannotBeSaved) {
  draw(Pattern::kRed, "red.png");
  const TempDir elsewhere;
  const std::string gone = elsewhere / "gone";
  fs::create_directory(gone);
  const std::string csv = elsewhere / "l.csv";
  ASSERT_EQ(mkfifo(csv.c_str(), 0600), 0);
  Program program(arguments({"--labels-csv", csv, "--output", gone + "/o.json"}));
  std::ofstream labels(csv);  // opened when it is read, which is after --output was tried
  fs::remove(gone);
  labels << "red.png,red\n";
  labels.close();
  const ProgramResult ran = program.finish();
  EXPECT_EQ(ran.status, 74) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\ntop-1 accuracy    100.00 %, 1 of 1, "));
  EXPECT_THAT(ran.err, HasSubstr("lookout: results " + gone + "/o.json cannot be written"));
}

TEST_F(Eval, TakesLabelsFromAFile) {
  draw(Pattern::kRed, "a, red one.png");
  draw(Pattern::kBlack, "black.png");
  const std::string csv =
      folder_.write("l.csv", "file,label\r\n\"a, red one.png\",red\r\nblack.png,white\r\n");
  const ProgramResult ran = run_lookout(arguments({"--labels-csv", csv, "--format", "json"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json found = json::parse(ran.out);
  EXPECT_EQ(found["pictures"], 2);
  EXPECT_EQ(found["top1"], 1);
}

TEST_F(Eval, RefusesInOneSentence) {
  const auto expect_failure = [this](const std::vector<std::string>& more, int status,
                                     const std::string& named) {
    const ProgramResult ran = run_lookout(arguments(more));
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.out, "");
    const std::string sentence = ran.err.substr(ran.err.rfind("lookout: "));
    EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << sentence;
    EXPECT_THAT(sentence, HasSubstr(named));
  };
  expect_failure({"--output", "/no/such/o.json"}, 74, "/no/such/o.json");
  fs::create_directory(folder_.path() / "red");
  folder_.write("red/broken.png", "this is no picture");
  expect_failure({}, 66, "none of the 1 pictures can be read");
  draw(Pattern::kRed, "dog/1.png");
  expect_failure({}, 65, "'dog' is none of the model's 16 labels");
}

// The same pictures through both pipelines.
void expect_agreement(const std::string& model, const std::string& folder) {
  const auto never = [] { return false; };
  const ProcessOutput python = capture_process(
      {"/usr/bin/python3", std::string(LOOKOUT_TESTS) + "/tools/evaluate.py", model, folder},
      {"OPENBLAS_NUM_THREADS=1", "OMP_WAIT_POLICY=PASSIVE"}, never);
  if (python.status == 77) GTEST_SKIP() << python.err;
  ASSERT_EQ(python.problem, "") << python.err;
  const json expected = json::parse(python.out);
  const ProgramResult ran =
      run_lookout({"eval", folder, "--model", model, "--format", "json", "--threads", "1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json found = json::parse(ran.out);
  for (const char* count : {"pictures", "skipped", "top1", "top5"}) {
    EXPECT_EQ(found[count], expected[count]) << count;
  }
  ASSERT_EQ(found["results"].size(), expected["results"].size());
  for (const json& result : found["results"]) {
    const json& best = expected["results"][result["file"].get<std::string>()];
    EXPECT_EQ(result["predicted"][0], best[0]) << result["file"];
  }
}

TEST_F(Eval, AgreesWithThePythonPipeline) {
  draw_all();
  expect_agreement(LOOKOUT_SELFTEST, folder_.path().string());
}

class EvalOfRealModels : public testing::TestWithParam<const char*> {};

TEST_P(EvalOfRealModels, AgreesWithThePythonPipeline) {
  const std::string models = LOOKOUT_SHARED_MODELS;
  if (!fs::exists(models)) GTEST_SKIP() << models << " is not here";
  const TempDir folder;
  for (const auto& picture : fs::directory_iterator(models + "/samples")) {
    const fs::path label = folder.path() / picture.path().stem();
    fs::create_directory(label);
    fs::create_symlink(fs::absolute(picture.path()), label / picture.path().filename());
  }
  expect_agreement(models + "/" + GetParam(), folder.path().string());
}

INSTANTIATE_TEST_SUITE_P(All, EvalOfRealModels,
                         testing::Values("mobilenet_v2_qnnpack.pt", "mobilenet_v2_xnnpack.pt"));

}  // namespace
}  // namespace lookout
