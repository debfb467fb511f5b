#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "paths.h"
#include "pipeline/profile/operator_profile.h"
#include "pipeline/profile/trace.h"
#include "pipeline/torch/torch_classifier.h"
#include "pipeline/torch/torch_graph.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

// aten::conv2d does nothing but call aten::convolution, and that aten::_convolution, and so on:
// nearly all of the time is the innermost one's.
constexpr const char* kNested =
    "y = torch.conv2d(x, torch.ones([16, 3, 5, 5]))\n"
    "  return torch.conv2d(y, torch.ones([3, 16, 5, 5])).mean([2, 3])";
constexpr int kSide = 14;  // the emulator takes 0.05 s for a frame of 32

const OperatorRow& row(const OperatorTable& table, const std::string& name) {
  for (const OperatorRow& row : table.rows) {
    if (row.name == name) return row;
  }
  throw std::runtime_error("no " + name);
}

class Operators : public testing::Test {
 protected:
  Operators() {
    write(kNested);
    image_.width = kSide;
    image_.height = kSide;
    image_.values.assign(static_cast<std::size_t>(kSide) * kSide * 3, 0.5F);
  }

  // The model that classifies.
  void write(const std::string& forward_body) {
    std::string metadata = small_metadata();
    for (const char* key : {"\"width\": 8", "\"height\": 8"}) {
      metadata.replace(
          metadata.find(key), std::string(key).size(),
          std::string(key).substr(0, std::string(key).size() - 1) + std::to_string(kSide));
    }
    write_archive(directory_ / "model.pt", forward_body, metadata, kThreeLabels);
  }

  // Of some frames of the model, without its warm-up.
  OperatorTable sample(double probability, int frames, OperatorGroup group = OperatorGroup::kName) {
    OperatorProfile profile(probability, group);
    ClassifierOptions options;
    options.operators = &profile;
    const auto classifier = open_torch_model(ModelArchive(directory_ / "model.pt"), options);
    EXPECT_TRUE(profile.table().rows.empty()) << "the warm-up is not counted";
    std::vector<float> logits;
    for (int i = 0; i < frames; ++i) {
      classifier->classify(image_, {1000 + static_cast<std::uint64_t>(i), nullptr}, logits);
    }
    return profile.table();
  }

  // Of an operator's time its own part, the least of several runs: another process may take the
  // processor from a call for milliseconds.
  double least_self_share(const std::string& name, double rate, int frames) {
    double least = 1;
    for (int run = 0; run < 4; ++run) {
      const OperatorTable table = sample(rate, frames);
      const OperatorRow& found = row(table, name);
      least = std::min(least, static_cast<double>(found.self.count()) /
                                  static_cast<double>(found.total.count()));
    }
    return least;
  }

  TempDir directory_;
  ImageTensor image_;
};

TEST_F(Operators, AreCountedWithTheirSelfTime) {
  const OperatorTable table = sample(1, 20);
  EXPECT_EQ(table.frames, 20U);
  EXPECT_EQ(row(table, "aten::conv2d").calls, 40);
  EXPECT_EQ(row(table, "aten::conv2d").sampled, 40U);
  EXPECT_EQ(row(table, "aten::mean").calls, 20);
  Clock::duration self{};
  double share = 0;
  for (const OperatorRow& row : table.rows) {
    EXPECT_EQ(row.model, "small");
    EXPECT_EQ(row.shapes, "");
    EXPECT_GE(row.self.count(), 0) << row.name;
    EXPECT_LE(row.self, row.total) << row.name;
    EXPECT_GE(row.max_frame, 1000U) << row.name;
    EXPECT_LE(row.max_frame, 1019U) << row.name;
    self += row.self;
    share += row.share;
  }
  EXPECT_NEAR(share, 1, 1e-9);
  // Nothing is lost, and nothing counted twice.
  EXPECT_EQ(self, row(table, "aten::conv2d").total + row(table, "aten::mean").total);
  EXPECT_LT(least_self_share("aten::conv2d", 1, 20), 0.5);
  EXPECT_GE(table.rows.front().self, table.rows.back().self);
}

// Of the operators that a sampled one calls few are sampled themselves: were only those subtracted,
// nearly all of an outer one's time would be its own.
TEST_F(Operators, HaveTheSameSelfTimeWhenFewCallsAreSampled) {
  for (const char* name : {"aten::conv2d", "aten::convolution"}) {
    const double of_some = least_self_share(name, 0.05, 300);
    EXPECT_NEAR(of_some, least_self_share(name, 1, 50), 0.3) << name;
    EXPECT_LT(of_some, 0.6) << name;
  }
}

TEST_F(Operators, AreSampledAboutAsOftenAsAsked) {
  const OperatorTable table = sample(0.1, 1000);
  // Of 2000 calls 200, give or take 13; and of all operators, too.
  const OperatorRow& conv = row(table, "aten::conv2d");
  EXPECT_GT(conv.sampled, 120U);
  EXPECT_LT(conv.sampled, 280U);
  EXPECT_DOUBLE_EQ(conv.calls, static_cast<double>(conv.sampled) * 10);
  EXPECT_GT(row(table, "aten::mean").sampled, 50U);
  EXPECT_LT(row(table, "aten::mean").sampled, 150U);
}

TEST_F(Operators, HaveTheShapesOfTheirInputs) {
  const OperatorTable table = sample(1, 3, OperatorGroup::kShape);
  std::map<std::string, double> calls;
  for (const OperatorRow& row : table.rows) {
    if (row.name == "aten::conv2d") calls[row.shapes] = row.calls;
  }
  EXPECT_EQ(calls, (std::map<std::string, double>{{"[1, 3, 14, 14] [16, 3, 5, 5]", 3},
                                                  {"[1, 16, 10, 10] [3, 16, 5, 5]", 3}}));
}

// While the convolution runs, the other operand of the addition waits.
TEST_F(Operators, HaveNoShapesOfWhatOthersWaitFor) {
  write("return (x * 2. + torch.conv2d(x, torch.ones([3, 3, 1, 1]))).mean([2, 3])");
  EXPECT_EQ(row(sample(1, 1, OperatorGroup::kShape), "aten::conv2d").shapes,
            "[1, 3, 14, 14] [3, 3, 1, 1]");
}

TEST_F(Operators, HaveTheShapesOfListsToo) {
  write("return torch.cat([x, x], 1).mean([2, 3])[:, :3]");
  EXPECT_EQ(row(sample(1, 1, OperatorGroup::kShape), "aten::cat").shapes,
            "[1, 3, 14, 14] [1, 3, 14, 14]");
}

constexpr std::uint64_t kInputBytes = 4 * 3 * kSide * kSide;

TEST_F(Operators, PeakOfAListIsThatOfItsTensors) {
  write("return torch.cat([x, x * 2.], 1).mean([2, 3])[:, :3]");
  EXPECT_EQ(sample(1, 1).peak_live_bytes, 4 * kInputBytes) << "both, and what they are joined to";
}

TEST_F(Operators, PeakOfABranchLeavesOutWhatItNeedsNoMore) {
  write(
      "y = x\n"
      "  if bool(x.sum() > -1.):\n"
      "    y = x * 2.\n"
      "    y = y * 2.\n"
      "    y = y * 2.\n"
      "    y = y * 2.\n"
      "  return y.mean([2, 3])");
  EXPECT_EQ(sample(1, 1).peak_live_bytes, 3 * kInputBytes) << "the input, an operand and a result";
}

TEST_F(Operators, PeakOfALoopIsThatOfOneRound) {
  write(
      "y = x * 2.\n"
      "  for i in range(int(x.size(1)) + 5):\n"
      "    y = y * 2.\n"
      "  return y.mean([2, 3])");
  const auto peak = sample(1, 1).peak_live_bytes;
  ASSERT_TRUE(peak.has_value());
  EXPECT_LE(*peak, 3 * kInputBytes);
}

TEST_F(Operators, TellWhatTheyAllocate) {
  const OperatorTable table = sample(1, 10);
  double bytes = 0;
  for (const OperatorRow& row : table.rows) bytes += row.bytes / 10;
  // The two weights of ones, the outputs of the convolutions and their means, of 4 bytes each, and
  // what a convolution needs besides.
  const double outputs = 4 * (16 * 10 * 10 + 3 * 6 * 6 + 3);
  EXPECT_GE(bytes, outputs);
  // The input, 16 channels and 3 channels: at some time two of these are alive.
  ASSERT_TRUE(table.peak_live_bytes.has_value());
  EXPECT_EQ(*table.peak_live_bytes, 4U * (3 * 14 * 14 + 16 * 10 * 10));
}

TEST_F(Operators, AllocateAsMuchWhenFewCallsAreSampled) {
  const OperatorTable all = sample(1, 20);
  const OperatorTable some = sample(0.2, 1000);
  const auto of_a_frame = [](const OperatorTable& table) {
    double bytes = 0;
    for (const OperatorRow& row : table.rows) bytes += row.bytes;
    return bytes / static_cast<double>(table.frames);
  };
  EXPECT_NEAR(of_a_frame(some), of_a_frame(all), 0.25 * of_a_frame(all));
}

TEST(OperatorLayers, AreThoseOfTheModel) {
  OperatorProfile profile(1, OperatorGroup::kLayer);
  ClassifierOptions options;
  options.operators = &profile;
  const auto classifier = open_torch_model(ModelArchive(LOOKOUT_SELFTEST), options);
  std::vector<float> logits;
  const InputSpec& input = classifier->spec().input;
  ImageTensor image;
  image.width = input.width;
  image.height = input.height;
  image.values.assign(static_cast<std::size_t>(input.width) * input.height * 3, 0.5F);
  classifier->classify(image, {}, logits);
  // MobileNetV2 has 52 convolutions and a linear layer.
  std::set<std::string> layers;
  std::set<std::string> additions;
  for (const OperatorRow& row : profile.table().rows) {
    if (row.name.rfind("quantized::conv2d", 0) == 0 || row.name == "quantized::linear") {
      EXPECT_TRUE(layers.insert(row.layer).second) << row.layer;
      EXPECT_EQ(row.calls, 1) << row.layer;
    }
    if (row.name == "quantized::add") additions.insert(row.layer);
  }
  EXPECT_EQ(layers.size(), 53U);
  for (const char* name : {"features.0.0", "features.3.conv.2", "features.17.conv.0.0",
                           "features.18.0", "classifier.1"}) {
    EXPECT_EQ(layers.count(name), 1U) << name;
  }
  EXPECT_EQ(additions.size(), 10U);
  EXPECT_EQ(additions.count("features.3.skip_add"), 1U);
}

TEST(OperatorLayers, AreReadFromLibTorchsCalls) {
  EXPECT_EQ(layer_of({"TOP(Net)::forward", "SELF(Net)::forward", "features(Sequential)::forward",
                      "3(Block)::forward"}),
            "features.3");
  EXPECT_EQ(layer_of({"TOP(Net)::forward", "::forward"}), "");
  EXPECT_EQ(layer_of({"TOP(Net)::forward", "INSTANCE_NAME_UNKNOWN(Label)::forward"}), "");
  EXPECT_EQ(layer_of({}), "");
}

TEST_F(Operators, AreInTheTraceWithinTheirFramesInference) {
  std::string text;
  TraceOptions trace_options;
  trace_options.frames = 2;
  Trace trace(trace_options, [&text](const Trace& done) {
    done.write_json([&text](std::string_view part) { text += part; });
  });
  const auto classifier = open_torch_model(ModelArchive(directory_ / "model.pt"), {});
  std::vector<float> logits;
  for (std::uint64_t i = 0; i < 3; ++i) {
    {
      const TraceSpan span(&trace, Stage::kInference, i);
      classifier->classify(image_, {i, trace.traces(i) ? &trace : nullptr}, logits);
    }
    const TraceSpan report(&trace, Stage::kReport, i);
  }
  trace.finish();

  std::map<int, std::pair<double, double>> inference;
  std::map<std::string, int> names;
  const nlohmann::json events = nlohmann::json::parse(text)["traceEvents"];
  for (const auto& event : events) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"];
    const double end = start + event["dur"].get<double>();
    const int frame = event["args"]["frame"];
    if (event["name"] == "inference") inference[frame] = {start, end};
    if (event["cat"] != "operator") continue;
    ++names[event["name"]];
    EXPECT_EQ(event["args"]["model"], "small");
    ASSERT_EQ(inference.count(frame), 1U) << event;
    EXPECT_GE(start, inference[frame].first);
    EXPECT_LE(end, inference[frame].second + 1e-3);
  }
  EXPECT_EQ(inference.size(), 2U);
  EXPECT_EQ(names["aten::conv2d"], 4);
  EXPECT_EQ(names["aten::mean"], 2);
}

}  // namespace
}  // namespace lookout
