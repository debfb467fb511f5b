#include "pipeline/onnx/onnx_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/onnx/onnx_classifier.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::microseconds;

Clock::time_point at(int us) { return Clock::time_point(microseconds(us)); }

std::vector<Trace::Operator> operators_in(const std::string& profile,
                                          const std::vector<ProfiledRun>& runs) {
  std::istringstream stream(profile);
  std::vector<Trace::Operator> operators;
  read_profile(stream, "net", runs,
               [&operators](const Trace::Operator& call) { operators.push_back(call); });
  return operators;
}

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
  const auto operators = operators_in(profile, runs);
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

// A run takes 10 us, and its operator is at 3 us. ONNX Runtime writes a run behind its operators.
TEST(OnnxProfile, EachRunHasItsOperators) {
  constexpr int kRuns = 1000;
  std::string profile;
  std::vector<ProfiledRun> runs;
  for (int run = 0; run < kRuns; ++run) {
    const int start = run * 10;
    profile += profile.empty() ? "[" : ",";
    profile += fmt::format(
        R"({{"cat":"Node","name":"a","tid":5,"ts":{},"dur":2,"args":{{"op_name":"Conv"}}}},)"
        R"({{"cat":"Session","name":"model_run","tid":5,"ts":{},"dur":9,"args":{{}}}})",
        start + 3, start);
    runs.push_back({static_cast<std::uint64_t>(run), 5, at(1'000'000 + start)});
  }
  const auto operators = operators_in(profile + "]", runs);
  ASSERT_EQ(operators.size(), kRuns);
  for (int run = 0; run < kRuns; ++run) {
    const Trace::Operator& call = operators[static_cast<std::size_t>(run)];
    EXPECT_EQ(call.frame, run);
    EXPECT_EQ(call.start, at(1'000'003 + run * 10));
  }
}

TEST(OnnxProfile, OtherTextsAreRefused) {
  const std::vector<ProfiledRun> runs{{std::uint64_t{7}, 5, at(1000)}};
  for (const char* text :
       {"[{", R"([{"name": "a"}])", R"({"cat": "Node"})",
        R"([{"cat":"Session","name":"model_run","tid":5,"ts":1e300,"dur":5}])",
        R"([{"cat":"Session","name":"model_run","tid":5,"ts":9223372036854775807,"dur":5}])"}) {
    EXPECT_THROW(operators_in(text, runs), std::exception) << text;
  }
}

TEST(OnnxTraces, HaveTheOperatorsOfNoMoreFramesThanAreKept) {
  const TempDir directory;
  const ModelArchive archive(
      directory.write("model.onnx", OnnxFile::sums_of_planes().described().bytes()));
  constexpr std::uint64_t kNodes = 16'000;  // as if it had so many
  OnnxTrace onnx(archive, 1, {}, "net", kNodes);
  Trace trace({}, [](const Trace&) {});
  const std::vector<float> values(12);
  const auto run = [&](std::uint64_t frame, Trace* of) {
    onnx.run(values, {1, 3, 2, 2}, {"logits"}, {frame, of});
    return onnx.has_room();
  };
  EXPECT_TRUE(run(1, &trace));
  EXPECT_TRUE(run(2, nullptr)) << "runs to warm up do not count";
  EXPECT_FALSE(run(3, &trace));
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
