#include "pipeline/model/onnx_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "pipeline/json_text.h"

namespace lookout {
namespace {

constexpr std::int64_t kMaxImageSide = 4096;  // as metadata.json's
constexpr std::size_t kMaxLabels = 1'000'000;

std::string shape_text(const OnnxValue& value) {
  std::string text;
  for (const std::int64_t dim : value.dims) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dim < 0 ? "any" : std::to_string(dim));
  }
  return fmt::format("{} [{}]", value.type, text);
}

[[noreturn]] void refuse_input(const OnnxValue& input) {
  throw std::runtime_error(
      fmt::format("its input is {}, but a classifier takes floats [1, 3, height, width] or "
                  "[1, height, width, 3], where the first may be any, or such bytes",
                  shape_text(input)));
}

bool is_bytes(const OnnxValue& input) { return input.type == "uint8" || input.type == "int8"; }

// Throws for what is no picture.
TensorLayout layout_of(const OnnxValue& input) {
  const std::vector<std::int64_t>& dims = input.dims;
  const bool numbers = is_bytes(input) || input.type == "float" || input.type == "float16" ||
                       input.type == "bfloat16" || input.type == "double";
  if (!numbers || dims.size() != 4 || (dims[0] != 1 && dims[0] != -1)) refuse_input(input);
  const bool planar = dims[1] == 3;
  if (!planar && dims[3] != 3) refuse_input(input);
  const bool is_size = std::all_of(dims.begin() + 1, dims.end(), [](std::int64_t size) {
    return size != 0 && size <= kMaxImageSide;
  });
  if (!is_size) refuse_input(input);
  return planar ? TensorLayout::kPlanar : TensorLayout::kChannelsLast;
}

// Of one side; `graph`: -1 if it may be any.
void take_side(const char* name, std::int64_t graph, bool described, int& side) {
  if (graph < 0 || graph == side) return;
  if (described) {
    throw std::runtime_error(fmt::format(
        "its metadata says that the {} is {}, but its input has {}", name, side, graph));
  }
  side = static_cast<int>(graph);
}

// Reads a Python dictionary of numbers and texts, as str() writes it: {0: 'tench', 1: "jack-o'"}.
class PythonNames {
 public:
  explicit PythonNames(std::string_view text) : left_(text) {}

  std::vector<std::string> read() {
    std::vector<std::string> names;
    expect('{');
    while (!take('}')) {
      if (!names.empty()) expect(',');
      if (!names.empty() && take('}')) break;
      expect_number(names.size());
      expect(':');
      names.push_back(text());
      if (names.size() > kMaxLabels) fail();
    }
    return names;
  }

 private:
  [[noreturn]] static void fail() {
    throw std::runtime_error(
        "its \"names\" are no dictionary of 0, 1, 2, ... and texts; give --labels FILE");
  }

  void skip_blanks() {
    left_.remove_prefix(std::min(left_.find_first_not_of(" \n"), left_.size()));
  }

  bool take(char wanted) {
    skip_blanks();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail();
  }

  void expect_number(std::size_t wanted) {
    skip_blanks();
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc() || value != wanted) fail();
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
  }

  std::string text() {
    skip_blanks();
    if (left_.empty() || (left_.front() != '\'' && left_.front() != '"')) fail();
    const char quote = left_.front();
    std::string text;
    for (std::size_t i = 1; i < left_.size(); ++i) {
      if (left_[i] == quote) {
        left_.remove_prefix(i + 1);
        return text;
      }
      if (left_[i] == '\\' && ++i == left_.size()) fail();
      text += left_[i];
    }
    fail();
  }

  std::string_view left_;
};

// "[224, 224]": height and width.
void take_size(const std::string& text, InputSpec& input) {
  const auto size = parse_json(text);
  const bool two = size.is_array() && size.size() == 2;
  const auto is_side = [](const nlohmann::json& side) {
    return side.is_number_integer() && side > 0 && side <= kMaxImageSide;
  };
  if (!two || !is_side(size[0]) || !is_side(size[1])) {
    throw std::runtime_error("its \"imgsz\" is not like [224, 224]");
  }
  input.height = size[0].get<int>();
  input.width = size[1].get<int>();
}

std::string text_of(const std::map<std::string, std::string>& texts, const char* key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

}  // namespace

void take_input(const OnnxContents& contents, bool described, InputSpec& input) {
  if (contents.inputs.size() != 1) {
    throw std::runtime_error(
        fmt::format("it takes {} inputs, but a classifier takes one", contents.inputs.size()));
  }
  const OnnxValue& value = contents.inputs.front();
  input.layout = layout_of(value);
  const bool planar = input.layout == TensorLayout::kPlanar;
  take_side("height", value.dims[planar ? 2 : 1], described, input.height);
  take_side("width", value.dims[planar ? 3 : 2], described, input.width);
  if (is_bytes(value)) {
    const float first = value.type == "int8" ? 128.0F : 0.0F;
    input.mean.fill(first / 255);
    input.std.fill(1.0F / 255);
  }
}

bool is_ultralytics(const std::map<std::string, std::string>& texts) {
  return text_of(texts, "task") == "classify" && texts.count("names") != 0;
}

void describe_ultralytics(const std::map<std::string, std::string>& texts, ModelSpec& spec) {
  spec.labels = PythonNames(text_of(texts, "names")).read();
  const std::string size = text_of(texts, "imgsz");
  if (!size.empty()) take_size(size, spec.input);
  spec.input.mean = {0, 0, 0};
  spec.input.std = {1, 1, 1};
  spec.output = ModelOutput::kProbabilities;
  const std::string description = text_of(texts, "description");
  spec.weights = description.empty() ? "Ultralytics" : description;
  const std::string version = text_of(texts, "version");
  if (!version.empty()) spec.producer["ultralytics"] = version;
}

}  // namespace lookout
