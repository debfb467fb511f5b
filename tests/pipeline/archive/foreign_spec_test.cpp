// Models that other programs describe, in TorchScript archives and in files beside a model.
#include "pipeline/archive/foreign_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <minizip/zip.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "pipeline/core/error.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class ForeignSpecs : public testing::Test {
 protected:
  // A TorchScript archive as far as it is read without LibTorch, with config.txt.
  ModelArchive torch(const std::string& config, const std::string& labels = "") {
    std::string path = directory_ / "model.pt";
    std::vector<std::pair<std::string, std::string>> members{{"m/data.pkl", "x"},
                                                             {"m/constants.pkl", "x"}};
    if (!config.empty()) members.emplace_back("m/extra/config.txt", config);
    if (!labels.empty()) members.emplace_back("m/extra/labels.txt", labels);
    void* file = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
    for (const auto& [name, content] : members) {
      zipOpenNewFileInZip64(file, name.c_str(), nullptr, nullptr, 0, nullptr, 0, nullptr,
                            Z_DEFLATED, Z_BEST_SPEED, 1);
      zipWriteInFileInZip(file, content.data(), static_cast<unsigned>(content.size()));
      zipCloseFileInZip(file);
    }
    zipClose(file, nullptr);
    return ModelArchive(path);
  }

  // With an input of any size.
  ModelArchive onnx(const std::vector<std::pair<std::string, std::string>>& texts = {}) {
    OnnxFile file = OnnxFile::sums_of_planes();
    file.input = {-1, 3, -1, -1};
    file.texts = texts;
    return ModelArchive(directory_.write("model.onnx", file.bytes()));
  }

  ModelSpec spec_of(const ModelArchive& archive) {
    return read_spec(archive, read_contents(archive), labels_, stated_);
  }

  void expect_refused(const ModelArchive& archive, const testing::Matcher<std::string>& sentence) {
    try {
      spec_of(archive);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(archive.path().string()), sentence));
    }
  }

  TempDir directory_;
  std::optional<std::vector<std::string>> labels_;
  StatedModel stated_;
};

TEST_F(ForeignSpecs, UltralyticsArchivesDescribeThemselves) {
  const ModelSpec spec = spec_of(torch(
      R"({"description": "Ultralytics YOLO11n-cls model", "author": "Ultralytics",
          "version": "8.3.1", "stride": 1, "task": "classify", "batch": 1, "imgsz": [64, 32],
          "names": {"0": "tench", "10": "k", "1": "b", "2": "c", "3": "d", "4": "e", "5": "f",
                    "6": "g", "7": "h", "8": "i", "9": "caf\u00e9"}, "args": {"half": false}})"));
  EXPECT_THAT(spec.labels,
              ElementsAre("tench", "b", "c", "d", "e", "f", "g", "h", "i", "café", "k"));
  EXPECT_EQ(spec.input.height, 64);
  EXPECT_EQ(spec.input.width, 32);
  EXPECT_THAT(spec.input.mean, ElementsAre(0, 0, 0));
  EXPECT_THAT(spec.input.std, ElementsAre(1, 1, 1));
  EXPECT_EQ(spec.output, ModelOutput::kProbabilities);
  EXPECT_EQ(spec.producer.at("ultralytics"), "8.3.1");
  EXPECT_EQ(assumption_text(spec), "");
}

TEST_F(ForeignSpecs, UltralyticsArchivesOfOtherTasksAreRefusedWithTheirTask) {
  labels_ = {{"a"}};
  for (const char* task : {"detect", "segment", "pose", "obb"}) {
    expect_refused(torch(std::string(R"({"task": ")") + task + R"(", "names": ["a"]})"),
                   EndsWith(std::string("is an Ultralytics model for ") + task +
                            "; lookout runs classifiers"));
  }
}

TEST_F(ForeignSpecs, GivenLabelsWinOverNamesThatCannotBeRead) {
  for (const char* names : {"\"x\"", "{\"1\": \"a\"}", "null", "[]"}) {
    const std::string config =
        std::string(R"({"task": "classify", "imgsz": 64, "names": )") + names + "}";
    labels_.reset();
    expect_refused(torch(config), AllOf(HasSubstr("its \"names\" "), HasSubstr("--labels FILE")));
    labels_ = {{"a", "b"}};
    EXPECT_THAT(spec_of(torch(config)).labels, ElementsAre("a", "b"));
    EXPECT_EQ(spec_of(torch(config)).input.width, 64);
  }
}

// YOLOv5's exporter names no task.
TEST_F(ForeignSpecs, NamesWithoutATaskAreLabelsAlone) {
  const ModelSpec spec = spec_of(torch(R"({"shape": [1, 3, 224, 224], "stride": 1,
                                           "names": {"0": "ants", "1": "bees"}})"));
  EXPECT_THAT(spec.labels, ElementsAre("ants", "bees"));
  EXPECT_THAT(assumption_text(spec), HasSubstr("size, mean and deviation are assumed"));
  EXPECT_THAT(spec_of(onnx({{"stride", "1"}, {"names", "['a', 'b', 'c']"}})).labels,
              ElementsAre("a", "b", "c"));
}

TEST_F(ForeignSpecs, OtherConfigTextsAreLeftAlone) {
  for (const char* config : {"", "hello", "[1]", "{\"a\": 1}", "{"}) {
    EXPECT_THAT(spec_of(torch(config, "a\nb\n")).labels, ElementsAre("a", "b")) << config;
    expect_refused(torch(config), HasSubstr("has no metadata.json: give --labels FILE"));
  }
}

TEST_F(ForeignSpecs, WhatIsStatedWinsOverAllButTheGraph) {
  stated_.size = InputSize{96, 80};
  stated_.normalisation = {PixelScale::kBytes, std::array{127.5F, 0.0F, 255.0F}, std::nullopt};
  stated_.channels = ChannelOrder::kBgr;
  stated_.output = ModelOutput::kSigmoid;
  const char* const config = R"({"task": "classify", "imgsz": 64, "names": ["a"]})";
  for (const ModelArchive& archive :
       {torch(config), onnx({{"task", "classify"}, {"imgsz", "64"}, {"names", "['a']"}})}) {
    const ModelSpec spec = spec_of(archive);
    EXPECT_EQ(spec.input.width, 96);
    EXPECT_EQ(spec.input.height, 80);
    EXPECT_THAT(spec.input.mean, ElementsAre(0.5F, 0.0F, 1.0F));
    EXPECT_THAT(spec.input.std, ElementsAre(1 / 255.0F, 1 / 255.0F, 1 / 255.0F));
    EXPECT_EQ(spec.input.channel_order, ChannelOrder::kBgr);
    EXPECT_EQ(spec.output, ModelOutput::kSigmoid);
  }
  const ModelArchive fixed(directory_.write("fixed.onnx", OnnxFile::sums_of_planes().bytes()));
  const ModelArchive described(
      directory_.write("described.onnx", OnnxFile::sums_of_planes().described().bytes()));
  labels_ = {{"a", "b", "c"}};
  for (const ModelArchive* archive : {&fixed, &described}) {
    EXPECT_EQ(spec_of(*archive).input.width, 2);
    EXPECT_EQ(spec_of(*archive).input.mean[0], 0.5F);
  }
}

TEST_F(ForeignSpecs, WhatIsAssumedIsNamed) {
  labels_ = {{"a", "b", "c"}};
  const auto assumed = [this](const StatedModel& stated) {
    stated_ = stated;
    return assumption_text(spec_of(onnx()));
  };
  StatedModel stated;
  EXPECT_THAT(assumed(stated), HasSubstr("ImageNet's size, mean and deviation are assumed"));
  stated.size = InputSize{8, 8};
  EXPECT_THAT(assumed(stated), HasSubstr("ImageNet's mean and deviation are assumed"));
  stated.normalisation.mean = std::array{0.0F, 0.0F, 0.0F};
  EXPECT_EQ(assumed(stated), "ImageNet's deviation is assumed; --std says something else");
  stated.normalisation.std = std::array{1.0F, 1.0F, 1.0F};
  EXPECT_EQ(assumed(stated), "");
  stated.normalisation = {PixelScale::kSigned, std::nullopt, std::nullopt};
  EXPECT_EQ(assumed(stated), "");
}

TEST_F(ForeignSpecs, AFileOfTheModelsNameDescribesIt) {
  for (const char* name : {"model.metadata.json", "model.onnx.metadata.json"}) {
    const std::string file =
        directory_.write(name, R"({"input": {"width": 48, "height": 32, "mean": [0.5, 0.5, 0.5],
                                   "std": [0.25, 0.25, 0.25], "channel_order": "BGR",
                                   "resize": "stretch"},
                                   "output": "sigmoid", "labels": ["a", "b", "c"]})");
    directory_.write("other.onnx", "x");
    const ModelSpec spec = spec_of(onnx());
    EXPECT_EQ(spec.input.width, 48);
    EXPECT_EQ(spec.input.height, 32);
    EXPECT_EQ(spec.input.mean[0], 0.5F);
    EXPECT_EQ(spec.input.std[2], 0.25F);
    EXPECT_EQ(spec.input.channel_order, ChannelOrder::kBgr);
    EXPECT_EQ(spec.input.resize, ResizeMode::kStretch);
    EXPECT_EQ(spec.output, ModelOutput::kSigmoid);
    EXPECT_EQ(spec.name, "model");
    EXPECT_THAT(spec.labels, ElementsAre("a", "b", "c"));
    EXPECT_EQ(assumption_text(spec), "");
    std::filesystem::remove(file);
  }
  directory_.write("model.metadata.json", R"({"input": {"scale": "-1..1"}, "labels": {"0": "a"}})");
  labels_ = {{"x", "y"}};
  const ModelSpec spec = spec_of(torch(""));
  EXPECT_THAT(spec.input.mean, ElementsAre(0.5F, 0.5F, 0.5F));
  EXPECT_THAT(spec.input.std, ElementsAre(0.5F, 0.5F, 0.5F));
  EXPECT_THAT(spec.labels, ElementsAre("x", "y"));
  EXPECT_THAT(assumption_text(spec), HasSubstr("ImageNet's size is assumed"));
  stated_.normalisation = {PixelScale::kUnit, std::nullopt, std::nullopt};
  EXPECT_THAT(spec_of(torch("")).input.mean, ElementsAre(0, 0, 0));
}

TEST_F(ForeignSpecs, AWrongFileOfTheModelsNameIsRefused) {
  labels_ = {{"a", "b", "c"}};
  for (const auto& [text, named] : std::vector<std::pair<std::string, std::string>>{
           {"", "is not a JSON object"},
           {R"({"input": {"width": 8}})", "has no field \"input.height\""},
           {R"({"input": {"std": [0, 1, 1]}})", "not above zero"},
           {R"({"input": {"mean": [123, 117, 104]}})", "is not one of pixels from 0 to 1"},
           {R"({"input": {"scale": "0-255"}})", "\"0-255\" is none of 0..1, 0..255, -1..1"},
           {R"({"output": "softmax"})", "\"softmax\" is none of logits, probabilities, sigmoid"},
           {std::string((1 << 20) + 1, ' '), "is longer than 1 MB"}}) {
    const std::string file = directory_.write("model.metadata.json", text);
    expect_refused(onnx(), AllOf(HasSubstr(file), HasSubstr(named)));
  }
}

TEST_F(ForeignSpecs, MetadataOfTheFolderBelongsToItsOnlyModelOrToTheNamedOne) {
  labels_ = {{"a", "b", "c"}};
  const auto width = [this] { return spec_of(onnx()).input.width; };
  directory_.write("metadata.json", R"({"input": {"width": 48, "height": 48}})");
  directory_.write("labels.txt", "a\nb\nc\n");
  EXPECT_EQ(width(), 48);
  directory_.write("other.pt", "x");
  EXPECT_EQ(width(), 224);
  directory_.write("metadata.json", R"({"name": "other", "input": {"width": 48, "height": 48}})");
  EXPECT_EQ(width(), 224);
  EXPECT_EQ(description_beside(directory_ / "model.onnx"), std::nullopt);
  directory_.write("metadata.json", R"({"name": "model", "input": {"width": 48, "height": 48}})");
  EXPECT_EQ(width(), 48);
  EXPECT_EQ(description_beside(directory_ / "model.onnx"), directory_ / "metadata.json");
  directory_.write("model.metadata.json", "{}");
  EXPECT_EQ(description_beside(directory_ / "model.onnx"), directory_ / "model.metadata.json");
}

TEST_F(ForeignSpecs, OtherFilesOfThatNameAreLeftAlone) {
  labels_ = {{"a", "b", "c"}};
  for (const char* text : {R"({"labels": ["x"], "imageSize": 96, "modelName": "tm"})", "[]", "x",
                           R"({"input": "pictures"})", ""}) {
    directory_.write("metadata.json", text);
    directory_.write("config.json", text);
    EXPECT_THAT(assumption_text(spec_of(onnx())), HasSubstr("size, mean and deviation")) << text;
  }
  std::filesystem::remove(directory_ / "metadata.json");
  std::filesystem::create_directory(directory_ / "metadata.json");
  EXPECT_EQ(spec_of(onnx()).input.width, 224);
}

TEST_F(ForeignSpecs, AModelWithMetadataOfItsOwnNeedsNoFile) {
  directory_.write("described.metadata.json", R"({"input": {"mean": [1, 1, 1]}})");
  const ModelArchive described(
      directory_.write("described.onnx", OnnxFile::sums_of_planes().described().bytes()));
  EXPECT_EQ(spec_of(described).input.mean[0], 0);
}

TEST_F(ForeignSpecs, TheImagePropertiesOfOnnxAreRead) {
  labels_ = {"red", "green", "blue"};
  const ModelSpec bytes = spec_of(onnx(
      {{"Image.BitmapPixelFormat", "Bgr8"}, {"Image.NominalPixelRange", "NominalRange_0_255"}}));
  EXPECT_EQ(bytes.input.channel_order, ChannelOrder::kBgr);
  EXPECT_FALSE(bytes.assumed.mean || bytes.assumed.std);
  EXPECT_THAT(bytes.input.std, testing::Each(testing::FloatNear(1.0F / 255, 1e-6F)));
  const ModelSpec video = spec_of(onnx({{"Image.NominalPixelRange", "NominalRange_16_235"}}));
  EXPECT_TRUE(video.assumed.mean && video.assumed.std);
}

const char* const kTimmConfig =
    R"({"architecture": "resnet50", "num_classes": 3, "label_names": ["n1", "n2", "n3"],
        "label_descriptions": {"n1": "tench", "n2": "goldfish", "n3": "shark"},
        "pretrained_cfg": {"tag": "a1_in1k", "input_size": [3, 288, 256], "crop_pct": 0.95,
                           "crop_mode": "squash", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.2, 0.2]}})";

TEST_F(ForeignSpecs, TimmsConfigurationBesideItsOnlyModelIsRead) {
  directory_.write("config.json", kTimmConfig);
  const ModelSpec spec = spec_of(onnx());
  EXPECT_EQ(spec.input.height, 288);
  EXPECT_EQ(spec.input.width, 256);
  EXPECT_THAT(spec.input.mean, ElementsAre(0.5F, 0.4F, 0.3F));
  EXPECT_EQ(spec.input.resize, ResizeMode::kStretch);
  EXPECT_THAT(spec.labels, ElementsAre("tench", "goldfish", "shark"));
  EXPECT_EQ(assumption_text(spec), "");
  std::filesystem::remove(directory_ / "model.onnx");
  EXPECT_EQ(spec_of(torch("")).input.height, 288);
  directory_.write("other.pt", "x");
  expect_refused(torch(""), HasSubstr("give --labels FILE"));
}

TEST_F(ForeignSpecs, TimmsConfigurationInTheModelIsRead) {
  labels_ = {{"a", "b", "c"}};
  for (const char* config :
       {"{'input_size': (3, 96, 64), 'mean': (0.5, 0.5, 0.5), 'std': (0.5, 0.5, 0.5)}",
        R"({"input_size": [3, 96, 64], "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]})"}) {
    const ModelSpec spec = spec_of(onnx({{"pretrained_cfg", config}}));
    EXPECT_EQ(spec.input.height, 96);
    EXPECT_EQ(spec.input.width, 64);
    EXPECT_EQ(spec.input.std[1], 0.5F);
  }
  EXPECT_EQ(spec_of(torch(R"({"pretrained_cfg": {"input_size": [3, 96, 64]}})")).input.width, 64);
  for (const char* config : {"x", "{'input_size': 3}", "{'mean': (1, 2)}", "{'std': (0, 1, 1)}"}) {
    expect_refused(onnx({{"pretrained_cfg", config}}), HasSubstr("its \""));
  }
}

}  // namespace
}  // namespace lookout
