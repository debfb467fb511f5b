#include "pipeline/core/model_spec.h"

#include <fmt/format.h>

namespace lookout {
namespace {

// "a, b and c".
std::string enumerated(const std::vector<std::string>& parts) {
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
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

void apply(const Normalisation& stated, ModelSpec& spec) {
  apply(stated, spec.input);
  spec.assumed.mean = spec.assumed.mean && !stated.mean && !stated.scale;
  spec.assumed.std = spec.assumed.std && !stated.std && !stated.scale;
}

void apply(const StatedModel& stated, ModelSpec& spec) {
  if (stated.size) {
    spec.input.width = stated.size->width;
    spec.input.height = stated.size->height;
    spec.assumed.size = false;
  }
  apply(stated.normalisation, spec);
  if (stated.channels) spec.input.channel_order = *stated.channels;
  if (stated.output) spec.output = stated.output;
}

std::string assumption_text(const ModelSpec& spec) {
  std::vector<std::string> values;
  std::vector<std::string> options;
  const auto add = [&](bool is_assumed, const char* value, const char* option) {
    if (!is_assumed) return;
    values.emplace_back(value);
    options.emplace_back(option);
  };
  add(spec.assumed.size, "size", "--input-size");
  add(spec.assumed.mean, "mean", "--mean");
  add(spec.assumed.std, "deviation", "--std");
  if (values.empty()) return "";
  return "ImageNet's " + enumerated(values) + (values.size() == 1 ? " is" : " are") + " assumed; " +
         enumerated(options) + (values.size() == 1 ? " says" : " say") + " something else";
}

std::string producer_text(const ModelSpec& spec) {
  std::string text;
  for (const auto& [tool, version] : spec.producer) {
    if (!text.empty()) text += ", ";
    text.append(tool).append(" ").append(version);
  }
  return text;
}

ModelInfo model_info(const ModelSpec& spec) {
  ModelInfo info;
  info.name = spec.name;
  info.labels = spec.labels;
  info.class_ids = spec.class_ids;
  info.unknown = spec.unknown;
  info.input = fmt::format(R"("resize":"{}","width":{},"height":{})", to_text(spec.input.resize),
                           spec.input.width, spec.input.height);
  return info;
}

}  // namespace lookout
