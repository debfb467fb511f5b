// What a user says about a model whose file says nothing, with each engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tests/support/onnx_file.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Scores: four times the mean of red, 8 more of green, and of blue. Of a red picture it is red
// whose score is the highest if its values are above 2, else green.
class ProgramWithStatedModel : public testing::TestWithParam<const char*> {
 protected:
  ProgramWithStatedModel() {
    if (is_onnx()) {
      OnnxFile file = OnnxFile::sums_of_planes();
      file.biases = {0, 8, 0};
      model_ = directory_.write("model.onnx", file.bytes());
    } else {
      model_ = directory_ / "model.pt";
      write_archive(model_, "return x.mean([2, 3]) * 4 + torch.tensor([[0.0, 8.0, 0.0]])", "", "");
    }
    labels_ = directory_.write("labels.txt", kThreeLabels);
  }

  static bool is_onnx() { return std::string(GetParam()) == "onnx"; }

  ProgramResult run(const std::vector<std::string>& options,
                    const Program::Options& how = {}) const {
    std::vector<std::string> all{"test://red?frames=1", "--model", model_, "--format", "json"};
    all.insert(all.end(), options.begin(), options.end());
    return run_lookout(all, how);
  }

  std::string label_of(const ProgramResult& result) const {
    const std::vector<Json> frames = classifications(result);
    if (frames.size() != 1) return result.err;
    return frames[0]["results"][0]["label"];
  }

  // The best label of a red picture.
  std::string best(std::vector<std::string> options) const {
    options.insert(options.end(), {"--labels", labels_});
    return label_of(run(options));
  }

  TempDir directory_;
  std::string model_;
  std::string labels_;
};

TEST_P(ProgramWithStatedModel, TakesItsNormalisation) {
  EXPECT_EQ(best({"--scale", "0..1"}), "green");
  EXPECT_EQ(best({"--scale", "-1..1"}), "green");
  EXPECT_EQ(best({"--scale", "0..255"}), "red");
  EXPECT_EQ(best({"--scale", "0..255", "--channels", "bgr"}), "blue");
  EXPECT_EQ(best({"--mean", "0,0,0", "--std", "0.01,1,1"}), "red");
  EXPECT_EQ(best({"--mean", "0", "--std", "1"}), "green");
  EXPECT_EQ(best({"--scale", "0..255", "--mean", "254,0,0"}), "green");
  EXPECT_EQ(best({"--scale", "0..255", "--std", "255"}), "green");
}

TEST_P(ProgramWithStatedModel, WarnsOfWhatIsAssumedAlone) {
  const auto log = [this](std::vector<std::string> options) {
    options.insert(options.end(), {"--labels", labels_});
    return run(options).err;
  };
  EXPECT_THAT(log({}), HasSubstr(is_onnx() ? "ImageNet's mean and deviation are assumed"
                                           : "ImageNet's size, mean and deviation are assumed"));
  EXPECT_THAT(log({"--mean", "0.5"}), HasSubstr(is_onnx() ? "ImageNet's deviation is assumed"
                                                          : "ImageNet's size and deviation are"));
  EXPECT_THAT(log({"--input-size", "2", "--scale", "0..1"}), Not(HasSubstr("assumed")));
  const std::string sized = log({"--input-size", "16x12", "--mean", "0", "--std", "1"});
  EXPECT_THAT(sized, Not(HasSubstr("assumed")));
  EXPECT_THAT(sized, HasSubstr(is_onnx() ? "has the fixed size 2x2, which holds instead of 16x12"
                                         : ", 16x12 center-square"));
}

TEST_P(ProgramWithStatedModel, TakesItFromTheFileTheEnvironmentAndAFileBesideIt) {
  const std::string file =
      directory_.write("c.toml", "[model]\nmean = [0, 0.0, 0]\nstd = 0.01\ninput-size = \"8x8\"\n");
  EXPECT_EQ(best({"--config", file}), "red");
  EXPECT_EQ(best({"--config", file, "--std", "1"}), "green");
  EXPECT_EQ(best({"--set", "model.scale=0..255", "--set", "model.channels=bgr"}), "blue");
  Program::Options how;
  how.environment = {"LOOKOUT_MODEL_SCALE=0..255", "LOOKOUT_MODEL_INPUT_SIZE=8"};
  EXPECT_EQ(label_of(run({"--labels", labels_}, how)), "red");

  directory_.write("model.metadata.json",
                   R"({"input": {"width": 8, "height": 8, "scale": "0..255"},
                       "labels": {"0": "r", "1": "g", "2": "b"}})");
  const ProgramResult described = run({});
  EXPECT_EQ(label_of(described), "r");
  EXPECT_THAT(described.err, Not(HasSubstr("assumed")));
  EXPECT_EQ(best({"--scale", "0..1"}), "green");
}

TEST_P(ProgramWithStatedModel, IsTheSameInEveryCommand) {
  std::filesystem::create_directories(directory_ / "pictures/red");
  cv::imwrite(directory_ / "pictures/red/a.png", cv::Mat(8, 8, CV_8UC3, cv::Scalar(0, 0, 255)));
  const std::string pictures = directory_ / "pictures";
  for (const auto& [scale, right] : {std::pair{"0..255", 1}, std::pair{"0..1", 0}}) {
    const ProgramResult eval =
        run_lookout({"eval", pictures, "--model", model_, "--labels", labels_, "--scale", scale,
                     "--input-size", "8", "--model-output", "logits", "--format", "json"});
    ASSERT_EQ(eval.status, 0) << eval.err;
    EXPECT_EQ(Json::parse(eval.out)["top1"], right);
    EXPECT_THAT(eval.err, Not(HasSubstr("assumed")));
  }
  const ProgramResult bench = run_lookout(
      {"bench",  "--model",   model_,  "--labels", labels_,      "--input-size", "8x6",
       "--mean", "0.5",       "--std", "0.5",      "--channels", "bgr",          "--output",
       "logits", "--threads", "1",     "--frames", "2",          "--format",     "json"});
  ASSERT_EQ(bench.status, 0) << bench.err;
  EXPECT_EQ(Json::parse(bench.out)["results"][0]["model"]["input"], is_onnx() ? "2x2" : "8x6");
  const ProgramResult inspect =
      run_lookout({"inspect", model_, "--input-size", "8x6", "--scale", "-1..1", "--channels",
                   "bgr", "--output", "sigmoid", "--format", "json"});
  ASSERT_EQ(inspect.status, 0) << inspect.err;
  const Json json = Json::parse(inspect.out);
  EXPECT_EQ(json["input"]["width"], is_onnx() ? 2 : 8);
  EXPECT_EQ(json["input"]["mean"], Json({0.5, 0.5, 0.5}));
  EXPECT_EQ(json["input"]["channel_order"], "BGR");
  EXPECT_EQ(json["output"], "sigmoid");
  const ProgramResult doctor = run_lookout({"doctor", "test://red", "--model", model_, "--labels",
                                            labels_, "--input-size", "8x6", "--scale", "0..1"});
  EXPECT_EQ(doctor.status, 0) << doctor.out;
}

TEST_P(ProgramWithStatedModel, IsRefusedWhenItCannotBeMeant) {
  expect_failure(run({"--labels", labels_, "--mean", "123.7,116.3,103.5"}), 64,
                 "the mean is not one of pixels from 0 to 1: say the scale, too");
  expect_failure(run({"--labels", labels_, "--std", "58"}), 64, "the deviation is not one of");
  expect_failure(run({"--labels", labels_, "--std", "0,1,1"}), 64, "three numbers above 0");
  expect_failure(run({"--labels", labels_, "--input-size", "0x3"}), 64, "as in 299 or 320x240");
  expect_failure(run_lookout({"eval", directory_ / ".", "--model", model_, "--output", "sigmoid"}),
                 64, "--model-output sigmoid says what the model gives");
}

TEST_P(ProgramWithStatedModel, TakesLabelsOfOtherPrograms) {
  for (const auto& [name, text] : std::vector<std::pair<const char*, const char*>>{
           {"index_to_name.json", R"({"0": ["n0", "r"], "1": "g", "2": "b"})"},
           {"data.yaml", "nc: 3\nnames:\n  0: r\n  1: g\n  2: b\n"},
           {"teachable.txt", "0 r\n1 g\n2 b\n\n"}}) {
    EXPECT_EQ(label_of(run({"--scale", "0..255", "--labels", directory_.write(name, text)})), "r")
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ProgramWithStatedModel, testing::Values("torch", "onnx"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace lookout
