#include "pipeline/onnx/onnx_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "pipeline/onnx/onnx_classifier.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::microseconds;

Clock::time_point at(int us) { return Clock::time_point(microseconds(us)); }

TEST(OnnxProfile, TimesOfOperatorsAreThoseOfTheFramesOfTheirThread) {
  const std::string profile = R"([
    {"cat":"Session","name":"session_initialization","ph":"X","tid":5,"ts":0,"dur":3,"args":{}},
    {"cat":"Session","name":"model_run","ph":"X","tid":5,"ts":10,"dur":5,"args":{}},
    {"cat":"Node","name":"a","ph":"X","tid":5,"ts":11,"dur":1,"args":{"op_name":"WarmUp"}},
    {"cat":"Node","name":"/0/Conv_kernel_time","ph":"X","tid":5,"ts":21,"dur":2,
     "args":{"op_name":"Conv","output_size":"6272"}},
    {"cat":"Session","name":"model_run","ph":"X","tid":6,"ts":20,"dur":9,"args":{}},
    {"cat":"Session","name":"model_run","ph":"X","tid":5,"ts":20,"dur":9,"args":{}},
    {"cat":"Node","name":"c","ph":"X","tid":6,"ts":25,"dur":1,"args":{"op_name":"Gemm"}}])";
  const std::vector<ProfiledRun> runs{
      {{}, 5, at(1000)}, {std::uint64_t{7}, 5, at(2000)}, {std::uint64_t{8}, 6, at(3000)}};
  const auto operators = read_profile(profile, "net", runs);
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].what.model, "net");
  EXPECT_EQ(operators[0].what.name, "Conv");
  EXPECT_EQ(operators[0].what.layer, "/0/Conv");
  EXPECT_EQ(operators[0].bytes, 6272U);
  EXPECT_EQ(operators[1].bytes, 0U) << "not told";
  EXPECT_EQ(operators[0].frame, 7U);
  EXPECT_EQ(operators[0].start, at(2001));
  EXPECT_EQ(operators[0].end, at(2003));
  EXPECT_EQ(operators[1].what.name, "Gemm");
  EXPECT_EQ(operators[1].frame, 8U);
  EXPECT_EQ(operators[1].start, at(3005));
}

TEST(OnnxProfile, OtherTextsAreRefused) {
  EXPECT_THROW(read_profile("[{", "net", {}), std::exception);
  EXPECT_THROW(read_profile(R"([{"name": "a"}])", "net", {}), std::exception);
}

TEST(OnnxTraces, HaveTheOperatorsOfTracedFramesAlone) {
  const TempDir directory;
  directory.write("model.onnx", OnnxFile::sums_of_planes().described().bytes());
  ClassifierOptions options;
  options.trace = true;
  const auto model =
      std::move(open_onnx_models(ModelArchive(directory / "model.onnx"), options, 1).front());
  std::string text;
  Trace trace({}, [&text](const Trace& complete) {
    complete.write_json([&text](std::string_view part) { text += part; });
  });
  ImageTensor image;
  image.width = image.height = 2;
  image.values.resize(12);
  std::vector<float> logits;
  for (const std::uint64_t frame : {4, 5, 6}) {
    const auto start = Clock::now();
    model->classify(image, {frame, frame == 5 ? &trace : nullptr}, logits);
    if (frame != 5) continue;
    trace.record(Stage::kInference, frame, start, Clock::now());
    trace.record(Stage::kReport, frame, Clock::now(), Clock::now());
  }
  trace.finish();
  int gemms = 0;
  const auto json = nlohmann::json::parse(text);
  for (const auto& event : json["traceEvents"]) {
    if (event["name"] != "Gemm") continue;
    ++gemms;
    EXPECT_EQ(event["args"]["frame"], 5);
  }
  EXPECT_EQ(gemms, 1);
}

}  // namespace
}  // namespace lookout
