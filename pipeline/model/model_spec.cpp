#include "pipeline/model/model_spec.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "pipeline/error.h"
#include "pipeline/json_text.h"
#include "pipeline/model/byte_order_mark.h"
#include "pipeline/printable.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr int kMaxSide = 4096;           // pixels; a larger input is a mistake, not a model
constexpr std::size_t kMaxLabel = 1000;  // bytes
constexpr std::size_t kMaxQuoted = 60;   // bytes of a foreign text in a message

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::kBadData, "metadata.json " + what);
}

// `path` is for the message: "input.mean".
const Json& field(const Json& object, const char* key, const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end()) fail("has no field \"" + path + "\"");
  return *found;
}

std::string text_field(const Json& object, const char* key) {
  const Json& value = field(object, key, key);
  if (!value.is_string()) fail(std::string("has a \"") + key + "\" that is not a text");
  return value.get<std::string>();
}

int side(const Json& input, const char* key) {
  const std::string path = std::string("input.") + key;
  const Json& value = field(input, key, path);
  if (!value.is_number_integer() || value < 1 || value > kMaxSide) {
    fail("has a wrong \"" + path + "\": expected a size in pixels from 1 to " +
         std::to_string(kMaxSide));
  }
  return value.get<int>();
}

std::array<float, 3> three_numbers(const Json& input, const char* key) {
  const std::string path = std::string("input.") + key;
  const Json& value = field(input, key, path);
  if (!value.is_array() || value.size() != 3) fail("has a \"" + path + "\" without 3 numbers");
  std::array<float, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!value[i].is_number()) fail("has a \"" + path + "\" without 3 numbers");
    numbers[i] = value[i].get<float>();
  }
  return numbers;
}

// A foreign value for a message, in short.
std::string quoted(const Json& value) {
  if (!value.is_string()) return "what is no text";
  const std::string text = to_text(value);
  return text.size() > kMaxQuoted ? "a long text" : text;
}

// One of `all`, by its name. `path` is for the message: "input.resize".
template <typename Enum>
Enum name_field(const Json& object, const char* key, const std::string& path,
                std::initializer_list<Enum> all) {
  const Json& name = field(object, key, path);
  std::string known;
  for (const Enum value : all) {
    if (name == to_text(value)) return value;
    known += known.empty() ? "" : ", ";
    known += to_text(value);
  }
  fail("has an unknown \"" + path + "\": " + quoted(name) + " is none of " + known);
}

InputSpec parse_input(const Json& input) {
  if (!input.is_object()) fail("has an \"input\" that is not an object");
  InputSpec spec;
  spec.width = side(input, "width");
  spec.height = side(input, "height");
  spec.mean = three_numbers(input, "mean");
  spec.std = three_numbers(input, "std");
  for (const float deviation : spec.std) {
    if (!(deviation > 0)) fail("has an \"input.std\" that is not above zero");
  }
  spec.channel_order = name_field(input, "channel_order", "input.channel_order",
                                  {ChannelOrder::kRgb, ChannelOrder::kBgr});
  if (input.contains("resize")) {
    spec.resize =
        name_field(input, "resize", "input.resize",
                   {ResizeMode::kCenterSquare, ResizeMode::kStretch, ResizeMode::kLetterbox});
  }
  return spec;
}

std::string version_to_text(const Json& version) {
  if (version.is_string()) return version.get<std::string>();
  return version.is_primitive() ? to_text(version) : "?";
}

// One element a line; `what` they are, for errors.
std::vector<std::string> parse_lines(const std::string& text, const std::string& what) {
  std::vector<std::string> elements;
  std::istringstream lines(text.substr(byte_order_mark(text)));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::string where =
        "line " + std::to_string(elements.size() + 1) + " of the " + what + " ";
    if (line.empty()) throw Error(ErrorKind::kBadData, where + "is empty");
    if (!is_utf8(line)) throw Error(ErrorKind::kBadData, where + "is not UTF-8 text");
    if (line.find('\0') != std::string::npos) {
      throw Error(ErrorKind::kBadData, where + "has a NUL character");
    }
    if (line.size() > kMaxLabel) {
      throw Error(ErrorKind::kBadData,
                  where + "is longer than " + std::to_string(kMaxLabel) + " bytes");
    }
    elements.push_back(line);
  }
  if (elements.empty()) throw Error(ErrorKind::kBadData, "the " + what + " are empty");
  return elements;
}

}  // namespace

const char* to_text(ModelOutput output) {
  switch (output) {
    case ModelOutput::kLogits:
      return "logits";
    case ModelOutput::kProbabilities:
      return "probabilities";
    case ModelOutput::kSigmoid:
      return "sigmoid";
  }
  return "";
}

ModelSpec parse_metadata(const std::string& json) {
  bool too_deep = false;
  const Json root = parse_json(json, too_deep);
  if (too_deep) fail("has values within values, deeper than " + std::to_string(kMaxJsonDepth));
  if (!root.is_object()) fail("is not a JSON object");
  ModelSpec spec;
  spec.name = text_field(root, "name");
  spec.input = parse_input(field(root, "input", "input"));
  if (root.contains("output")) {
    spec.output =
        name_field(root, "output", "output",
                   {ModelOutput::kLogits, ModelOutput::kProbabilities, ModelOutput::kSigmoid});
  }
  if (root.contains("unknown")) {
    const Json& unknown = root["unknown"];
    if (!unknown.is_number_unsigned()) {
      fail("has an \"unknown\" that is not the number of an output, from 0");
    }
    spec.unknown = unknown.get<std::size_t>();
  }
  spec.quantization = text_field(root, "quantization");
  spec.weights = text_field(root, "weights");
  const Json& trained = field(root, "trained", "trained");
  if (!trained.is_boolean()) fail("has a \"trained\" that is neither true nor false");
  spec.trained = trained.get<bool>();
  const Json& producer = field(root, "producer", "producer");
  if (!producer.is_object()) fail("has a \"producer\" that is not an object");
  for (const auto& [tool, version] : producer.items()) {
    spec.producer[tool] = version_to_text(version);
  }
  return spec;
}

std::string producer_text(const ModelSpec& spec) {
  std::string text;
  for (const auto& [tool, version] : spec.producer) {
    if (!text.empty()) text += ", ";
    text.append(tool).append(" ").append(version);
  }
  return text;
}

std::vector<std::string> parse_labels(const std::string& text) {
  return parse_lines(text, "labels");
}

std::vector<std::string> parse_class_ids(const std::string& text, std::size_t outputs) {
  std::vector<std::string> ids = parse_lines(text, "class ids");
  if (ids.size() == outputs) return ids;
  throw Error(ErrorKind::kBadData, "class_ids.txt has " + std::to_string(ids.size()) +
                                       " lines, but there are " + std::to_string(outputs) +
                                       " labels");
}

}  // namespace lookout
