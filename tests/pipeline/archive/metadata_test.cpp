#include "pipeline/archive/metadata.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

Json good() {
  return Json::parse(R"({"name": "net",
    "input": {"width": 224, "height": 192, "mean": [0.5, 0.4, 0.3], "std": [0.1, 0.2, 0.3],
              "channel_order": "BGR", "resize": "letterbox"},
    "quantization": "qint8", "producer": {"torch": "1.13.1"}, "weights": "made up",
    "trained": false})");
}

void expect_refused(const std::string& metadata, const std::string& named) {
  try {
    parse_metadata(metadata);
    FAIL() << "accepted " << metadata;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

TEST(ModelSpec, ReadsEveryField) {
  const ModelSpec spec = parse_metadata(good().dump());
  EXPECT_EQ(spec.name, "net");
  EXPECT_EQ(spec.input.width, 224);
  EXPECT_EQ(spec.input.height, 192);
  EXPECT_FLOAT_EQ(spec.input.mean[1], 0.4F);
  EXPECT_FLOAT_EQ(spec.input.std[2], 0.3F);
  EXPECT_EQ(spec.input.channel_order, ChannelOrder::kBgr);
  EXPECT_EQ(spec.input.resize, ResizeMode::kLetterbox);
  EXPECT_EQ(spec.quantization, "qint8");
  EXPECT_EQ(spec.producer.at("torch"), "1.13.1");
  EXPECT_EQ(spec.weights, "made up");
  EXPECT_FALSE(spec.trained);
}

TEST(ModelSpec, ResizeIsCenterSquareWhereNotGiven) {
  Json metadata = good();
  metadata["input"].erase("resize");
  EXPECT_EQ(parse_metadata(metadata.dump()).input.resize, ResizeMode::kCenterSquare);
}

TEST(ModelSpec, OutputIsReadWhereItIsGiven) {
  Json metadata = good();
  EXPECT_FALSE(parse_metadata(metadata.dump()).output);
  metadata["output"] = "logits";
  EXPECT_EQ(parse_metadata(metadata.dump()).output, ModelOutput::kLogits);
  metadata["output"] = "probabilities";
  EXPECT_EQ(parse_metadata(metadata.dump()).output, ModelOutput::kProbabilities);
  metadata["output"] = "sigmoid";
  EXPECT_EQ(parse_metadata(metadata.dump()).output, ModelOutput::kSigmoid);
  metadata["output"] = "scores";
  expect_refused(metadata.dump(), "\"output\"");
}

TEST(ModelSpec, TheOutputForUnknownIsReadWhereItIsGiven) {
  Json metadata = good();
  EXPECT_FALSE(parse_metadata(metadata.dump()).unknown);
  metadata["unknown"] = 2;
  EXPECT_EQ(parse_metadata(metadata.dump()).unknown, 2U);
  for (const Json& wrong : {Json(-1), Json("unknown"), Json(1.5)}) {
    metadata["unknown"] = wrong;
    EXPECT_THROW(parse_metadata(metadata.dump()), Error) << wrong;
  }
}

TEST(ModelSpec, EveryOtherFieldIsNeededAndNamedWhenItIsMissing) {
  for (const char* key : {"name", "input", "quantization", "producer", "weights", "trained"}) {
    Json metadata = good();
    metadata.erase(key);
    expect_refused(metadata.dump(), std::string("\"") + key + "\"");
  }
  for (const char* key : {"width", "height", "mean", "std", "channel_order"}) {
    Json metadata = good();
    metadata["input"].erase(key);
    expect_refused(metadata.dump(), std::string("\"input.") + key + "\"");
  }
}

TEST(ModelSpec, WrongValuesAreNamed) {
  const std::vector<std::pair<std::string, Json>> wrong{
      {"width", 0},         {"width", 100'000},    {"height", "224"},   {"height", 1.5},
      {"mean", {1, 2}},     {"mean", {1, 2, "3"}}, {"std", {1, 1, 0}},  {"channel_order", "RGBA"},
      {"channel_order", 3}, {"resize", "squeeze"}, {"resize", nullptr}, {"std", "1"}};
  for (const auto& [key, value] : wrong) {
    Json metadata = good();
    metadata["input"][key] = value;
    expect_refused(metadata.dump(), "input." + key);
  }
  Json metadata = good();
  metadata["trained"] = "yes";
  expect_refused(metadata.dump(), "trained");
}

TEST(ModelSpec, SidesAreFromOneTo4096Pixels) {
  Json metadata = good();
  metadata["input"]["width"] = 1;
  metadata["input"]["height"] = 4096;
  EXPECT_EQ(parse_metadata(metadata.dump()).input.width, 1);
  EXPECT_EQ(parse_metadata(metadata.dump()).input.height, 4096);
  metadata["input"]["height"] = 4097;
  expect_refused(metadata.dump(), "from 1 to 4096");
}

TEST(ModelSpec, DeeplyNestedValuesAreRefused) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  for (const char* key : {"\"net\"", "\"letterbox\"", "\"1.13.1\""}) {
    std::string metadata = good().dump();
    metadata.replace(metadata.find(key), std::string(key).size(), deep);
    expect_refused(metadata, "values within values");
  }
  expect_refused(std::string(1'000'000, '['), "");
}

TEST(ModelSpec, SixteenLevelsAreNotTooDeep) {
  const auto nested = [](std::size_t levels) {
    Json metadata = good();
    Json inner = 1;
    for (std::size_t level = 1; level < levels; ++level) inner = Json::array({inner});
    metadata["notes"] = inner;
    return metadata.dump();
  };
  EXPECT_NO_THROW(parse_metadata(nested(16)));
  expect_refused(nested(17), "deeper than 16");
}

TEST(ModelSpec, AForeignValueIsNotRepeatedAtLength) {
  Json metadata = good();
  metadata["input"]["resize"] = std::string(100'000, 'x');
  expect_refused(metadata.dump(), "a long text is none of");
  metadata["input"]["resize"] = {1, 2};
  expect_refused(metadata.dump(), "what is no text is none of");
  metadata = good();
  metadata["producer"] = {{"torch", {1, 2}}, {"numpy", 2}};
  EXPECT_EQ(parse_metadata(metadata.dump()).producer.at("torch"), "?");
  EXPECT_EQ(parse_metadata(metadata.dump()).producer.at("numpy"), "2");
}

TEST(ModelSpec, RefusesWhatIsNotAJsonObject) {
  for (const char* text : {"", "{", "[]", "null", "\xff\xfe"}) {
    expect_refused(text, "is not a JSON object");
  }
}

TEST(Labels, OneALine) {
  EXPECT_EQ(parse_labels("tench\r\ngoldfish\n"), (std::vector<std::string>{"tench", "goldfish"}));
  EXPECT_EQ(parse_labels("caf\xc3\xa9"), (std::vector<std::string>{"caf\xc3\xa9"}));
  EXPECT_EQ(parse_labels("\xEF\xBB\xBFtench\n"), std::vector<std::string>{"tench"});
}

TEST(Labels, RefusesNulAndMoreThanAThousandBytes) {
  EXPECT_EQ(parse_labels(std::string(1000, 'a') + "\r\n").front().size(), 1000U);
  for (const std::string& text : {std::string(1001, 'a'), std::string("ab\0cd", 5)}) {
    try {
      parse_labels("tench\n" + text);
      FAIL() << "accepted " << text.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_EQ(std::string(error.what()).find("line 2 of the labels"), 0U) << error.what();
    }
  }
}

TEST(Labels, RefusesEmptyTextsEmptyLinesAndOtherEncodings) {
  for (const char* text : {"", "a\n\nb\n", "\n", "caf\xe9\n", "\xEF\xBB\xBF"}) {
    try {
      parse_labels(text);
      FAIL() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    }
  }
}

}  // namespace
}  // namespace lookout
