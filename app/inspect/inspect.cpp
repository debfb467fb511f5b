#include "app/inspect/inspect.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/inspect/device_report.h"
#include "app/inspect/model_code.h"
#include "app/model/models.h"
#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

struct Description {
  std::string file;
  std::string sha256;
  std::uint64_t bytes = 0;
  ArchiveContents contents;
  ModelSpec spec;
  std::unique_ptr<Classifier> model;  // null: it was not run

  // Those that the file tells when the model was not run.
  std::optional<std::string> activations() const {
    if (model) return model->facts().activations;
    return contents.onnx ? std::optional(contents.onnx->activations) : std::nullopt;
  }
  std::optional<std::uint64_t> parameters() const {
    if (model) return model->facts().parameters;
    return contents.onnx ? std::optional(contents.onnx->parameters) : std::nullopt;
  }
  DeviceUse device_use() const { return model ? model->device_use() : DeviceUse(); }
};

// Without labels if there are none.
ModelSpec spec_without_running(const ModelArchive& archive, const ArchiveContents& contents,
                               const ModelOptions& options) {
  auto labels = read_labels(options.labels);
  if (!labels) labels.emplace();
  return read_spec(archive, contents, labels, stated_model(options));
}

// Whether something of the model is to be run.
bool runs(const InspectOptions& options) {
  const DeviceOptions device = checked_device(options.model.device);
  const bool run = options.run || !device.name.empty();
  if ((options.code || options.graph) && (run || options.code == options.graph)) {
    throw Error(
        ErrorKind::kUsage,
        "--code and --graph show a file without running it: give one of them, without --run "
        "and --device");
  }
  if (!run && !options.model.operators.empty()) {
    throw Error(ErrorKind::kUsage,
                "--operators is about running the model: --run or --device NAME is needed");
  }
  return run;
}

Description describe(const InspectOptions& options, bool run) {
  const ModelArchive archive = read_archive(options.model);
  Description description;
  description.file = archive.path().string();
  description.sha256 = archive.sha256();
  description.bytes = archive.bytes().size();
  description.contents = read_contents(archive);
  if (run) {
    description.model = open_to_describe(archive, options.model, /*count_parameters=*/true);
    description.spec = description.model->spec();
  } else {
    description.spec = spec_without_running(archive, description.contents, options.model);
  }
  return description;
}

// The kind of a member, by its name.
const char* kind_of(std::string_view name) {
  const auto begins = [name](std::string_view start) {
    return name.substr(0, start.size()) == start;
  };
  if (begins("data/") || begins("constants/")) return "weights";
  if (begins("code/")) return "code";
  return begins("extra/") ? "texts" : "others";
}

struct Part {
  std::uint64_t members = 0;
  std::uint64_t bytes = 0;
};

std::map<std::string, Part> parts_of(const ArchiveContents& contents) {
  std::map<std::string, Part> parts;
  for (const ArchiveMember& member : contents.members) {
    Part& part = parts[kind_of(member.name)];
    ++part.members;
    part.bytes += member.bytes;
  }
  return parts;
}

const char* format_text(const ArchiveContents& contents) { return row_of(contents.engine).format; }

std::uint64_t weight_bytes(const ArchiveContents& contents) {
  return contents.onnx ? contents.onnx->weight_bytes : parts_of(contents)["weights"].bytes;
}

// Null for another format.
Json onnx_json(const ArchiveContents& contents) {
  if (!contents.onnx) return {};
  const OnnxContents& onnx = *contents.onnx;
  return {{"opset", onnx.opset},
          {"producer", onnx.producer},
          {"inputs", values_json(onnx.inputs)},
          {"outputs", values_json(onnx.outputs)},
          {"operators", onnx.operators}};
}

Json input_json(const InputSpec& input) {
  return {{"width", input.width},
          {"height", input.height},
          {"mean", input.mean},
          {"std", input.std},
          {"channel_order", to_text(input.channel_order)},
          {"resize", to_text(input.resize)}};
}

// Null when there is none, or when parse_ordered_json() refuses it.
Json producer_info_json(const ArchiveContents& contents) {
  Json json = parse_ordered_json(contents.producer_info);
  return json.is_discarded() ? Json() : std::move(json);
}

std::string to_json(const Description& description) {
  const ModelSpec& spec = description.spec;
  const ModelFacts* facts = description.model ? &description.model->facts() : nullptr;
  const auto if_run = [facts](auto member) { return facts ? Json(facts->*member) : Json(); };
  Json members = Json::array();
  for (const ArchiveMember& member : description.contents.members) {
    members.push_back({{"name", member.name}, {"bytes", member.bytes}});
  }
  const Json report{{"schema", 1},
                    {"type", "model"},
                    {"file", description.file},
                    {"sha256", description.sha256},
                    {"bytes", description.bytes},
                    {"name", spec.name},
                    {"format", format_text(description.contents)},
                    {"metadata", !description.contents.metadata.empty()},
                    {"input", input_json(spec.input)},
                    {"output", spec.output ? Json(to_text(*spec.output)) : Json()},
                    {"labels", spec.labels},
                    {"activations", or_null(description.activations())},
                    {"kernels", if_run(&ModelFacts::kernels)},
                    {"quantization", spec.quantization},
                    {"parameters", or_null(description.parameters())},
                    {"weight_bytes", weight_bytes(description.contents)},
                    {"producer", spec.producer},
                    {"weights", spec.weights},
                    {"trained", spec.trained},
                    {"unknown", or_null(spec.unknown)},
                    {"producer_info", producer_info_json(description.contents)},
                    {"operators_needed", description.contents.foreign_operators},
                    {"library", facts ? Json(library_text(*facts)) : Json()},
                    {"engine", if_run(&ModelFacts::engine)},
                    {"members", std::move(members)},
                    {"onnx", onnx_json(description.contents)},
                    {"device", device_json(description.device_use())}};
  return to_text(report) + "\n";
}

std::string labels_text(const std::vector<std::string>& labels) {
  if (labels.empty()) return "none: --labels FILE is needed to run it";
  return fmt::format("{}: {}, ..., {}", labels.size(), labels.front(), labels.back());
}

std::string onnx_text(const OnnxContents& onnx) {
  int nodes = 0;
  for (const auto& [type, count] : onnx.operators) nodes += count;
  return fmt::format("weights {} bytes, {} operators of opset {}{}{}", onnx.weight_bytes, nodes,
                     onnx.opset, onnx.producer.empty() ? "" : ", written by ", onnx.producer);
}

std::string contents_text(const ArchiveContents& contents) {
  if (contents.onnx) return onnx_text(*contents.onnx);
  std::string text;
  for (const auto& [kind, part] : parts_of(contents)) {
    text += fmt::format("{}{} {} bytes in {} member{}", text.empty() ? "" : ", ", kind, part.bytes,
                        part.members, part.members == 1 ? "" : "s");
  }
  return text;
}

using Line = std::pair<const char*, std::string>;

// What `lookout train` or models/train.py wrote about the training; empty: nothing.
std::string training_text(const ArchiveContents& contents) {
  const Json info = producer_info_json(contents);
  try {
    const Json& accuracy = info.at("accuracy");
    const bool of_classes = accuracy.contains("mean_class_percent");
    return fmt::format(
        "{} pictures, {:.1f} % right{} ({}); base {}", info.at("pictures").get<std::uint64_t>(),
        accuracy.at(of_classes ? "mean_class_percent" : "percent").get<double>(),
        of_classes ? ", mean over the classes" : "", info.at("validation").get<std::string>(),
        info.at("base").at("name").get<std::string>());
  } catch (const Json::exception&) {
    return {};
  }
}

// Facts that an engine tells when it has loaded the model, or a file without it.
std::vector<Line> lines_of_facts(const Description& description) {
  std::vector<Line> lines;
  const std::string computed =
      description.model ? ", computed by " + description.model->facts().kernels + " kernels" : "";
  if (const auto activations = description.activations()) {
    lines.push_back({"activations", *activations + computed});
  }
  if (const auto parameters = description.parameters()) {
    lines.push_back({"parameters", std::to_string(*parameters)});
  }
  if (description.model) {
    const ModelFacts& facts = description.model->facts();
    lines.push_back({"runs on", library_text(facts) + ", engine " + facts.engine});
  }
  return lines;
}

std::vector<Line> lines(const Description& description) {
  const ModelSpec& spec = description.spec;
  const InputSpec& input = spec.input;
  const std::string producer = producer_text(spec);
  std::vector<Line> lines{
      {"name", spec.name},
      {"file", fmt::format("{}, {} bytes", description.file, description.bytes)},
      {"sha256", description.sha256},
      {"input", fmt::format("{}x{} {}, {}", input.width, input.height, to_text(input.channel_order),
                            to_text(input.resize))},
      {"normalisation", fmt::format("(pixel / 255 - mean) / std, mean {}, std {}",
                                    joined(input.mean, " "), joined(input.std, " "))},
      {"output", spec.output ? to_text(*spec.output) : "not stated: found out when it is run"},
      {"labels", labels_text(spec.labels)},
      {"quantization", spec.quantization},
      {"producer", producer.empty() ? "unknown" : producer},
      {"weights", spec.weights},
      {"trained", spec.trained ? "yes" : "no"},
      {"contents", contents_text(description.contents)}};
  const OperatorNames& foreign = description.contents.foreign_operators;
  if (!foreign.empty()) {
    lines.push_back({"needs operators",
                     fmt::format("{}, of a library: --operators FILE", joined(foreign, ", "))});
  }
  const std::string training = training_text(description.contents);
  if (!training.empty()) lines.insert(lines.end() - 1, {"training", training});
  for (Line& line : lines_of_facts(description)) lines.push_back(std::move(line));
  return lines;
}

std::string to_text(const Description& description) {
  std::string text;
  for (const auto& [key, value] : lines(description)) {
    append_format(text, "{:<15} {}\n", key, printable(value));
  }
  const std::string assumed = assumption_text(description.spec);
  if (!assumed.empty()) {
    append_format(text, "This file has no {}: {}.\n", row_of(description.contents.engine).metadata,
                  assumed);
  }
  if (!description.model && description.contents.onnx) {
    text += "The model was not run; --run also shows the engine's kernels.\n";
  } else if (!description.model) {
    text +=
        "The model was not run. Loading it runs code: if you trust it, --run also shows its "
        "parameters and kernels.\n";
  }
  return text + device_text(description.device_use());
}

}  // namespace

std::string inspect(const InspectOptions& options) {
  const bool run = runs(options);
  if (options.code) return model_code(read_archive(options.model), options.format);
  if (options.graph) return model_graph(read_archive(options.model), options.format);
  const Description description = describe(options, run);
  return options.format == Format::kJson ? to_json(description) : to_text(description);
}

}  // namespace lookout
