#include "pipeline/archive/metadata.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "pipeline/archive/foreign_names.h"
#include "pipeline/core/byte_order_mark.h"
#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

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
  if (!value.is_number_integer() || value < 1 || value > kMaxInputSide) {
    fail("has a wrong \"" + path + "\": expected a size in pixels from 1 to " +
         std::to_string(kMaxInputSide));
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

// Which fields have to be there.
enum class Fields { kAll, kAny };

// Whether to read a field.
bool reads(const Json& object, const char* key, Fields fields) {
  return fields == Fields::kAll || object.contains(key);
}

Normalisation parse_normalisation(const Json& input, Fields fields) {
  Normalisation stated;
  if (reads(input, "mean", fields)) stated.mean = three_numbers(input, "mean");
  if (reads(input, "std", fields)) stated.std = three_numbers(input, "std");
  for (const float deviation : stated.std.value_or(std::array<float, 3>{1, 1, 1})) {
    if (!(deviation > 0)) fail("has an \"input.std\" that is not above zero");
  }
  if (input.contains("scale")) {
    stated.scale = name_field(input, "scale", "input.scale",
                              {PixelScale::kUnit, PixelScale::kBytes, PixelScale::kSigned});
  }
  return stated;
}

void parse_input(const Json& input, Fields fields, ModelSpec& spec) {
  if (!input.is_object()) fail("has an \"input\" that is not an object");
  if (reads(input, "width", fields) || input.contains("height")) {
    spec.input.width = side(input, "width");
    spec.input.height = side(input, "height");
    spec.assumed.size = false;
  }
  const Normalisation stated = parse_normalisation(input, fields);
  const std::string problem = fields == Fields::kAny ? problem_of(stated) : "";
  if (!problem.empty()) fail("has a wrong \"input\": " + problem);
  apply(stated, spec);
  if (reads(input, "channel_order", fields)) {
    spec.input.channel_order = name_field(input, "channel_order", "input.channel_order",
                                          {ChannelOrder::kRgb, ChannelOrder::kBgr});
  }
  if (input.contains("resize")) {
    spec.input.resize =
        name_field(input, "resize", "input.resize",
                   {ResizeMode::kCenterSquare, ResizeMode::kStretch, ResizeMode::kLetterbox});
  }
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
    elements.push_back(line);
  }
  while (!elements.empty() && elements.back().empty()) elements.pop_back();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string problem = problem_of_label(elements[i]);
    if (problem.empty()) continue;
    std::string sentence = "line " + std::to_string(i + 1);
    sentence.append(" of the ").append(what).append(" ").append(problem);
    throw Error(ErrorKind::kBadData, sentence);
  }
  if (elements.empty()) throw Error(ErrorKind::kBadData, "the " + what + " are empty");
  return elements;
}

Json parse_object(const std::string& json) {
  bool too_deep = false;
  Json root = parse_json(json, too_deep);
  if (too_deep) fail("has values within values, deeper than " + std::to_string(kMaxJsonDepth));
  if (!root.is_object()) fail("is not a JSON object");
  return root;
}

// What both an archive's metadata and a file beside a model may say.
void parse_model(const Json& root, Fields fields, ModelSpec& spec) {
  if (reads(root, "name", fields)) spec.name = text_field(root, "name");
  if (reads(root, "input", fields)) parse_input(field(root, "input", "input"), fields, spec);
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
}

}  // namespace

ModelSpec parse_metadata(const std::string& json) {
  const Json root = parse_object(json);
  ModelSpec spec;
  parse_model(root, Fields::kAll, spec);
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

void take_metadata(const std::string& json, ModelSpec& spec) {
  const Json root = parse_object(json);
  parse_model(root, Fields::kAny, spec);
  if (!root.contains("labels") || !spec.labels.empty()) return;
  try {
    spec.labels = names_of(root["labels"]);
  } catch (const std::runtime_error& error) {
    fail(std::string("has \"labels\" that ") + error.what());
  }
}

std::string problem_of_label(const std::string& text) {
  if (text.empty()) return "is empty";
  if (!is_utf8(text)) return "is not UTF-8 text";
  if (text.find('\0') != std::string::npos) return "has a NUL character";
  if (text.size() > kMaxLabel) return "is longer than " + std::to_string(kMaxLabel) + " bytes";
  return "";
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
