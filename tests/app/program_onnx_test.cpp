// The program with ONNX models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "paths.h"
#include "tests/support/onnx_file.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class ProgramWithOnnx : public testing::Test {
 protected:
  std::string write(const OnnxFile& file) { return directory_.write("model.onnx", file.bytes()); }

  // Labels "red", "green" and "blue", whatever the file says of itself.
  std::string model() { return write(OnnxFile::sums_of_planes().described()); }

  TempDir directory_;
};

TEST_F(ProgramWithOnnx, NamesWhatItSees) {
  for (const char* color : {"red", "green", "blue"}) {
    const ProgramResult result = run_lookout(
        {std::string("test://") + color + "?frames=1", "--model", model(), "--format", "json"});
    ASSERT_EQ(result.status, 0) << result.err;
    const std::vector<Json> frames = classifications(result);
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_EQ(frames[0]["results"][0]["label"], color);
  }
}

TEST_F(ProgramWithOnnx, NamesItWithSeveralWorkersToo) {
  const ProgramResult result =
      run_lookout({"test://red?frames=20&fps=0", "--model", model(), "--set", "model.workers=3"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 20);
}

TEST_F(ProgramWithOnnx, TakesNoDevice) {
  expect_failure(
      run_lookout({"test://red?frames=1", "--model", model(), "--set", "model.device=acme"}), 72,
      "an engine, not a device");
}

TEST_F(ProgramWithOnnx, InspectTellsWhatTheFileHolds) {
  const ProgramResult result = run_lookout({"inspect", model(), "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["format"], "onnx");
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["onnx"]["opset"], 13);
  EXPECT_EQ(json["onnx"]["inputs"][0]["shape"], Json({-1, 3, 2, 2}));
  EXPECT_EQ(json["activations"], "float32");
  EXPECT_EQ(json["parameters"], 39);
  EXPECT_TRUE(json["kernels"].is_null());
  const ProgramResult run = run_lookout({"inspect", model(), "--run"});
  EXPECT_THAT(run.out, HasSubstr("float32, computed by MLAS kernels"));
  EXPECT_THAT(run.out, HasSubstr("runs on         ONNX Runtime "));
}

// inspect is for files that nobody trusts.
TEST_F(ProgramWithOnnx, InspectReadsNestedTextsWithoutACrash) {
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  OnnxFile info = OnnxFile::sums_of_planes().described();
  info.texts.emplace_back("lookout.producer_info", nested);
  const std::string path = write(info);
  const ProgramResult json = run_lookout({"inspect", path, "--format", "json"});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_TRUE(Json::parse(json.out)["producer_info"].is_null());
  EXPECT_EQ(run_lookout({"inspect", path}).status, 0);

  OnnxFile size = OnnxFile::sums_of_planes();
  size.input = {-1, 3, -1, -1};
  size.texts = {{"task", "classify"}, {"names", "{0: 'a'}"}, {"imgsz", nested}};
  expect_failure(run_lookout({"inspect", write(size)}), 65, "\"imgsz\" is not like [224, 224]");
}

TEST_F(ProgramWithOnnx, WarnsThatOperatorsAreNotSampled) {
  const ProgramResult result =
      run_lookout({"test://red?frames=1", "--model", model(), "--set", "profile.op-sampling=0.5"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("ONNX Runtime has no sampling of operators"));
}

TEST_F(ProgramWithOnnx, TracesItsOperators) {
  const std::string trace = directory_ / "trace.json";
  const ProgramResult result =
      run_lookout({"test://red?frames=3&fps=0", "--model", model(), "--trace", trace});
  ASSERT_EQ(result.status, 0) << result.err;
  const ProgramResult summary = run_lookout({"trace-summary", trace});
  EXPECT_THAT(summary.out, HasSubstr("Gemm"));
  EXPECT_THAT(summary.out, HasSubstr("library ONNX Runtime"));
}

TEST_F(ProgramWithOnnx, BenchMeasuresBothEngines) {
  const ProgramResult result =
      run_lookout({"bench", "--model", model(), "--model", LOOKOUT_SELFTEST, "--threads", "1",
                   "--frames", "5", "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json results = Json::parse(result.out)["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_THAT(results[0]["model"]["library"], HasSubstr("ONNX Runtime"));
  EXPECT_THAT(results[1]["model"]["library"], HasSubstr("LibTorch"));
}

TEST_F(ProgramWithOnnx, DoctorTriesItsModelAndBothEngines) {
  const ProgramResult result = run_lookout({"doctor", "test://red", "--model", model()});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("ok       onnxruntime "));
  EXPECT_THAT(result.out, HasSubstr("ok       libtorch "));
  EXPECT_THAT(result.out, HasSubstr("float32 activations on MLAS kernels"));
}

TEST_F(ProgramWithOnnx, DoctorSaysOfTwoEnginesWhatRunSays) {
  const std::string config = directory_.write(
      "lookout.toml", "[watch.gate]\nmodel = \"" LOOKOUT_SELFTEST "\"\n[watch.lamp]\nmodel = \"" +
                          model() + "\"\n");
  constexpr const char* kWhy = "ONNX models cannot be run: this process uses LibTorch already";
  expect_failure(run_lookout({"test://red?frames=1", "--config", config}), 72, kWhy);
  const ProgramResult doctor = run_lookout({"doctor", "test://red", "--config", config});
  EXPECT_EQ(doctor.status, 72);
  EXPECT_THAT(doctor.out, HasSubstr(kWhy));
}

TEST_F(ProgramWithOnnx, AReloadSaysThatItTakesARestart) {
  const std::string file = directory_ / "lookout.toml";
  directory_.write("lookout.toml", "[model]\nfile = \"" LOOKOUT_SELFTEST "\"\n");
  Program program({"test://red?fps=25", "--config", file});
  ASSERT_TRUE(program.wait_for(" ms)")) << program.err();
  directory_.write("lookout.toml", "[model]\nfile = \"" + model() + "\"\n");
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("reload: nothing was changed: ")) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_THAT(program.finish().err, HasSubstr("; restart lookout to use it"));
}

TEST_F(ProgramWithOnnx, EvalCountsItsAnswers) {
  std::filesystem::create_directory(directory_ / "pictures");
  for (const auto& [label, color] :
       {std::pair{"red", cv::Scalar(0, 0, 255)}, std::pair{"green", cv::Scalar(0, 255, 0)}}) {
    const std::filesystem::path folder = directory_.path() / "pictures" / label;
    std::filesystem::create_directory(folder);
    cv::imwrite(folder / "a.png", cv::Mat(8, 8, CV_8UC3, color));
  }
  const ProgramResult result =
      run_lookout({"eval", directory_ / "pictures", "--model", model(), "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["pictures"], 2);
  EXPECT_EQ(json["top1"], 2);
}

TEST_F(ProgramWithOnnx, BadFilesAreRefusedWithOneSentence) {
  OnnxFile external = OnnxFile::sums_of_planes().described();
  external.external = "model.onnx.data";
  OnnxFile unknown = OnnxFile::sums_of_planes().described();
  unknown.after = {"NoSuchOperator"};
  for (const OnnxFile& file : {external, unknown, OnnxFile::sums_of_planes()}) {
    const ProgramResult result = run_lookout({"test://red?frames=1", "--model", write(file)});
    EXPECT_EQ(result.status, 65);
    EXPECT_THAT(result.err, HasSubstr("lookout: model " + (directory_ / "model.onnx") + ": "));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace lookout
