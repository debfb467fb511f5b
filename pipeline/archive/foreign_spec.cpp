#include "pipeline/archive/foreign_spec.h"
#include "pipeline/archive/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "pipeline/archive/foreign_names.h"
#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/log.h"
#include "pipeline/core/lower_case.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kTimmConfig = "pretrained_cfg";
constexpr const char* kSize = "imgsz";  // of Ultralytics
constexpr const char* kPixelFormat = "Image.BitmapPixelFormat";
constexpr const char* kPixelRange = "Image.NominalPixelRange";

std::string text_of(const ForeignTexts& texts, const char* key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

// The task of Ultralytics' exporter; empty: the texts are not its.
std::string ultralytics_task(const ForeignTexts& texts) {
  const std::string task = text_of(texts, "task");
  constexpr std::array kTasks{"classify", "detect", "segment", "pose", "obb"};
  const bool known = std::find(kTasks.begin(), kTasks.end(), task) != kTasks.end();
  const bool is_its =
      text_of(texts, "author") == "Ultralytics" || (known && texts.count("names") != 0);
  return is_its ? task : "";
}

void set_normalisation(const std::array<float, 3>& mean, const std::array<float, 3>& std,
                       ModelSpec& spec) {
  StatedModel stated;
  stated.normalisation = {std::nullopt, mean, std};
  apply(stated, spec);
}

// Height and width; one number is both.
std::optional<InputSize> size_in(const Json& value) {
  const Json& height = value.is_array() && !value.empty() ? value.front() : value;
  const Json& width = value.is_array() && value.size() == 2 ? value.back() : height;
  const auto is_side = [](const Json& side) {
    return side.is_number_unsigned() && side > 0 && side <= kMaxInputSide;
  };
  if (!is_side(height) || !is_side(width) || (value.is_array() && value.size() > 2)) {
    return std::nullopt;
  }
  return InputSize{width.get<int>(), height.get<int>()};
}

void take_size(const InputSize& size, ModelSpec& spec) {
  StatedModel stated;
  stated.size = size;
  apply(stated, spec);
}

void take_ultralytics(const ForeignTexts& texts, ModelSpec& spec) {
  if (const auto size = size_in(parse_literal(text_of(texts, kSize)))) take_size(*size, spec);
  set_normalisation({0, 0, 0}, {1, 1, 1}, spec);
  spec.output = ModelOutput::kProbabilities;
  const std::string description = text_of(texts, "description");
  spec.weights = description.empty() ? "Ultralytics" : description;
  const std::string version = text_of(texts, "version");
  if (!version.empty()) spec.producer["ultralytics"] = version;
}

std::optional<std::array<float, 3>> three_in(const Json& config, const char* key) {
  if (!config.contains(key)) return std::nullopt;
  const Json& value = config[key];
  const bool numbers =
      value.is_array() && value.size() == 3 &&
      std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_number(); });
  if (!numbers) throw std::runtime_error(fmt::format("its \"{}\" has no 3 numbers", key));
  return std::array{value[0].get<float>(), value[1].get<float>(), value[2].get<float>()};
}

// timm's pretrained_cfg: "input_size" is [channels, height, width].
void take_timm(const Json& config, ModelSpec& spec) {
  if (!config.is_object()) throw std::runtime_error("its \"pretrained_cfg\" is no object");
  if (config.contains("input_size")) {
    const Json& size = config["input_size"];
    const bool three = size.is_array() && size.size() == 3;
    const auto known = three ? size_in({size[1], size[2]}) : std::nullopt;
    if (!known) throw std::runtime_error("its \"input_size\" is not like [3, 224, 224]");
    take_size(*known, spec);
  }
  StatedModel stated;
  stated.normalisation.mean = three_in(config, "mean");
  stated.normalisation.std = three_in(config, "std");
  for (const float deviation : stated.normalisation.std.value_or(std::array{1.0F, 1.0F, 1.0F})) {
    if (!(deviation > 0)) throw std::runtime_error("its \"std\" is not above zero");
  }
  apply(stated, spec);
  const Json mode = config.value("crop_mode", Json());
  if (mode == "squash") spec.input.resize = ResizeMode::kStretch;
  if (mode == "border") spec.input.resize = ResizeMode::kLetterbox;
}

// The properties of images that ONNX itself has. A range for video (16 to 235) stays assumed.
void take_image_properties(const ForeignTexts& texts, ModelSpec& spec) {
  StatedModel stated;
  const std::string format = text_of(texts, kPixelFormat);
  if (format == "Bgr8") stated.channels = ChannelOrder::kBgr;
  if (format == "Rgb8") stated.channels = ChannelOrder::kRgb;
  const std::string range = text_of(texts, kPixelRange);
  if (range == "NominalRange_0_255") stated.normalisation.scale = PixelScale::kBytes;
  if (range == "Normalized_0_1") stated.normalisation.scale = PixelScale::kUnit;
  if (range == "Normalized_1_1") stated.normalisation.scale = PixelScale::kSigned;
  apply(stated, spec);
}

// What a file of at most `kMaxText` holds; nothing: there is no such file. Another one that cannot
// be read is refused.
std::optional<std::string> text_in(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  const auto refuse = [&file](ErrorKind kind, const char* why) {
    throw Error(kind, fmt::format("{}, which describes the model, {}", file.string(), why));
  };
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(ErrorKind::kPermission, "cannot be read");
  std::string text(ArchiveContents::kMaxText + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > ArchiveContents::kMaxText) {
    refuse(ErrorKind::kBadData, "is longer than 1 MB, which no such text is");
  }
  return text;
}

bool is_model(const fs::path& file) {
  const std::string extension = lower_case_extension(file.string());
  if (extension.empty()) return false;
  return std::any_of(kEngines.begin(), kEngines.end(), [&extension](const EngineRow& row) {
    const auto& others = row.other_suffixes;
    return extension == row.suffix ||
           std::find(others.begin(), others.end(), extension) != others.end();
  });
}

// Whether no other file of its folder looks like a model.
bool is_alone(const fs::path& model) {
  std::error_code error;
  fs::directory_iterator files(model.has_parent_path() ? model.parent_path() : ".", error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    if (is_model(files->path()) && files->path().filename() != model.filename()) return false;
  }
  return !error;
}

// Calls `take` for a file's content, and names the file in its errors.
template <typename Take>
void take_file(const fs::path& file, Take take) {
  try {
    take();
  } catch (const std::runtime_error& error) {
    throw Error(ErrorKind::kBadData, fmt::format("{}: {}", file.string(), error.what()));
  }
}

// A file beside a model that describes it.
struct Description {
  fs::path file;
  std::string text;
};

std::optional<Description> named_beside(const fs::path& model) {
  const auto places = places_beside(model);
  for (const fs::path& file : {places[0], places[1]}) {
    if (auto text = text_in(file)) return Description{file, std::move(*text)};
  }
  return std::nullopt;
}

// A metadata.json that belongs to several models, or is another program's, is left alone.
std::optional<Description> metadata_beside(const fs::path& model) {
  const fs::path file = places_beside(model)[2];
  auto text = text_in(file);
  if (!text) return std::nullopt;
  const Json root = parse_json(*text);
  const bool is_ours = root.is_object() && root.contains("input") && root["input"].is_object();
  if (!is_ours) return std::nullopt;
  if (root.value("name", Json()) == model.stem().string() || is_alone(model)) {
    return Description{file, std::move(*text)};
  }
  log_info("{} is not read, since there are several models: {}.metadata.json would be",
           file.string(), model.stem().string());
  return std::nullopt;
}

std::optional<Description> timm_beside(const fs::path& model) {
  const fs::path file = places_beside(model)[3];
  auto text = text_in(file);
  if (!text) return std::nullopt;
  const Json root = parse_json(*text);
  const bool is_timm = root.is_object() && root.contains(kTimmConfig) && is_alone(model);
  return is_timm ? std::optional(Description{file, std::move(*text)}) : std::nullopt;
}

}  // namespace

ForeignTexts foreign_texts(const ArchiveContents& contents) {
  if (contents.onnx) return contents.onnx->texts;
  ForeignTexts texts;
  const Json config = parse_json(contents.config);
  if (!config.is_object()) return texts;
  for (const auto& [key, value] : config.items()) {
    texts[key] = value.is_string() ? value.get<std::string>() : to_text(value);
  }
  return texts;
}

void take_foreign(const ForeignTexts& texts, ModelSpec& spec) {
  const std::string task = ultralytics_task(texts);
  if (task == "classify") {
    take_ultralytics(texts, spec);
  } else if (!task.empty()) {
    throw std::runtime_error(
        fmt::format("is an Ultralytics model for {}; lookout runs classifiers", task));
  } else if (texts.count(kTimmConfig) != 0) {
    take_timm(parse_literal(text_of(texts, kTimmConfig)), spec);
  } else {
    take_image_properties(texts, spec);
  }
}

void check_foreign_size(const ForeignTexts& texts, const ModelSpec& spec) {
  if (!spec.assumed.size || text_of(texts, kSize).empty()) return;
  throw std::runtime_error("its \"imgsz\" is not like [224, 224]; give --input-size WxH");
}

std::vector<std::string> foreign_labels(const ForeignTexts& texts) {
  if (texts.count("names") == 0) return {};
  try {
    return names_of(parse_literal(text_of(texts, "names")));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("its \"names\" {}; give --labels FILE", error.what()));
  }
}

void take_beside(const fs::path& model, ModelSpec& spec) {
  const auto take = [&spec](const Description& found) {
    take_file(found.file, [&] { take_metadata(found.text, spec); });
  };
  if (const auto named = named_beside(model)) return take(*named);
  if (const auto metadata = metadata_beside(model)) take(*metadata);
  if (!spec.assumed.size && !spec.assumed.mean && !spec.assumed.std) return;
  if (const auto timm = timm_beside(model)) {
    take_file(timm->file, [&] {
      const Json root = parse_json(timm->text);
      take_timm(root[kTimmConfig], spec);
      if (spec.labels.empty() && root.contains("label_names")) spec.labels = names_of(root);
    });
  }
}

std::array<fs::path, 4> places_beside(const fs::path& model) {
  const fs::path folder = model.parent_path();
  return {folder / (model.filename().string() + ".metadata.json"),
          folder / (model.stem().string() + ".metadata.json"), folder / "metadata.json",
          folder / "config.json"};
}

std::optional<fs::path> description_beside(const fs::path& model) {
  for (const auto find : {named_beside, metadata_beside, timm_beside}) {
    if (const auto found = find(model)) return found->file;
  }
  return std::nullopt;
}

}  // namespace lookout
