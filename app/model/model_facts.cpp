#include "app/model/model_facts.h"

#include <fmt/format.h>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

std::string labels_text(const std::vector<std::string>& labels) {
  if (labels.empty()) return "none: --labels FILE is needed to run it";
  return fmt::format("{}: {}, ..., {}", labels.size(), labels.front(), labels.back());
}

std::string text_if(bool known, const std::string& text) { return known ? text : ""; }

Json null_if_empty(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json to_json(const InputSpec& input) {
  return {{"width", input.width},
          {"height", input.height},
          {"mean", input.mean},
          {"std", input.std},
          {"channel_order", to_text(input.channel_order)},
          {"resize", to_text(input.resize)}};
}

}  // namespace

Facts to_facts(const ModelDescription& model) {
  const ModelSpec& spec = model.spec;
  const InputSpec& input = spec.input;
  const ModelFacts& facts = model.facts;
  const std::string producer = producer_text(spec);
  return {
      {"name", spec.name},
      {"file", model.file + text_if(model.bytes > 0, fmt::format(", {} bytes", model.bytes))},
      {"sha256", model.sha256},
      {"input", fmt::format("{}x{} {}, {}", input.width, input.height, to_text(input.channel_order),
                            to_text(input.resize))},
      {"normalisation", fmt::format("(pixel / 255 - mean) / std, mean {}, std {}",
                                    joined(input.mean, " "), joined(input.std, " "))},
      {"output", spec.output ? to_text(*spec.output) : "not stated: found out when it is run"},
      {"labels", labels_text(spec.labels)},
      {"quantization", spec.quantization},
      {"producer", producer.empty() ? "unknown" : producer},
      {"weights", spec.weights},
      {"trained", spec.trained ? "yes" : "no: random weights"},
      {"activations", facts.activations + text_if(!facts.kernels.empty(),
                                                  ", computed by " + facts.kernels + " kernels")},
      {"parameters", model.parameters ? std::to_string(*model.parameters) : ""},
      {"runs on", text_if(!facts.library.empty(),
                          fmt::format("{}, engine {}", library_text(facts), facts.engine))},
      {"threads", text_if(model.threads > 0, std::to_string(model.threads))}};
}

Json to_json(const ModelDescription& model) {
  const ModelSpec& spec = model.spec;
  const ModelFacts& facts = model.facts;
  return {{"file", model.file},
          {"sha256", model.sha256},
          {"bytes", model.bytes},
          {"name", spec.name},
          {"input", to_json(spec.input)},
          {"output", spec.output ? Json(to_text(*spec.output)) : Json()},
          {"labels", spec.labels},
          {"activations", null_if_empty(facts.activations)},
          {"kernels", null_if_empty(facts.kernels)},
          {"quantization", spec.quantization},
          {"parameters", or_null(model.parameters)},
          {"producer", spec.producer},
          {"weights", spec.weights},
          {"trained", spec.trained},
          {"unknown", or_null(spec.unknown)},
          {"library", facts.library.empty() ? Json() : Json(library_text(facts))},
          {"engine", null_if_empty(facts.engine)}};
}

Json pick(const Json& json, std::initializer_list<const char*> keys) {
  Json picked = Json::object();
  for (const char* key : keys) picked[key] = json.at(key);
  return picked;
}

Json archive_facts(const ModelSpec& spec, const ModelFacts& facts) {
  return pick(to_json(ModelDescription{"", "", 0, spec, facts}),
              {"name", "producer", "weights", "quantization", "activations", "kernels", "library",
               "engine"});
}

}  // namespace lookout
