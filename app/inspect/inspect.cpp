#include "app/inspect/inspect.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "app/inspect/device_report.h"
#include "app/inspect/model_code.h"
#include "app/model/model_facts.h"
#include "app/model/models.h"
#include "app/report/json.h"
#include "app/report/report.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

struct Description {
  ModelDescription model;
  std::shared_ptr<const HeadFile> head;  // null: an archive
  std::string base_file;                 // of a head
  ArchiveContents contents;              // of a head: its texts, and what its base needs
  bool was_run = false;
  DeviceUse device_use;
};

// Without labels if there are none.
ModelSpec spec_without_running(const NamedModel& model, const ModelOptions& options) {
  auto labels = read_labels(options.labels);
  if (!labels) labels.emplace();
  return read_spec(model, labels, stated_model(options));
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

// What is in the file itself.
ArchiveContents contents_of_file(const NamedModel& named) {
  ArchiveContents contents = read_contents(named.archive);
  if (!named.head) return contents;
  contents.metadata = named.head->model.metadata;
  contents.producer_info = named.head->model.producer_info;
  contents.members.clear();
  contents.onnx.reset();
  return contents;
}

Description describe(const InspectOptions& options, bool run) {
  const NamedModel named = read_archive(options.model);
  Description description;
  description.head = named.head;
  description.base_file = named.archive.path().string();
  description.contents = contents_of_file(named);
  description.was_run = run;
  ModelDescription& model = description.model;
  model = {named.path.string(), named.sha256(), named.bytes, {}, {}};
  if (run) {
    const auto loaded = open_to_describe(named, options.model, /*count_parameters=*/true);
    model.spec = loaded->spec();
    model.facts = loaded->facts();
    model.parameters = model.facts.parameters;
    description.device_use = loaded->device_use();
    return description;
  }
  model.spec = spec_without_running(named, options.model);
  if (const auto& onnx = read_contents(named.archive).onnx) {
    model.facts.activations = onnx->activations;
    model.parameters = onnx->parameters + (named.head ? parameters_of(*named.head) : 0);
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

struct KindSize {
  std::uint64_t members = 0;
  std::uint64_t bytes = 0;
};

std::map<std::string, KindSize> sizes_of(const ArchiveContents& contents) {
  std::map<std::string, KindSize> sizes;
  for (const ArchiveMember& member : contents.members) {
    KindSize& size = sizes[kind_of(member.name)];
    ++size.members;
    size.bytes += member.bytes;
  }
  return sizes;
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

// Null when there is none, or when parse_ordered_json() refuses it.
Json producer_info_json(const ArchiveContents& contents) {
  Json json = parse_ordered_json(contents.producer_info);
  return json.is_discarded() ? Json() : std::move(json);
}

std::uint64_t weight_bytes(const Description& description) {
  const ArchiveContents& contents = description.contents;
  if (description.head) return parameters_of(*description.head) * sizeof(float);
  return contents.onnx ? contents.onnx->weight_bytes : sizes_of(contents)["weights"].bytes;
}

Json to_json(const Description& description) {
  const ArchiveContents& contents = description.contents;
  Json members = Json::array();
  for (const ArchiveMember& member : contents.members) {
    members.push_back({{"name", member.name}, {"bytes", member.bytes}});
  }
  Json json{{"schema", 1},
            {"type", "model"},
            {"format", description.head ? "head" : row_of(contents.engine).format},
            {"metadata", !contents.metadata.empty()},
            {"weight_bytes", weight_bytes(description)},
            {"producer_info", producer_info_json(contents)},
            {"operators_needed", contents.custom_operators},
            {"members", std::move(members)},
            {"onnx", onnx_json(contents)},
            {"device", device_json(description.device_use)}};
  json.update(to_json(description.model));
  Json picked = pick(
      json,
      {"schema",  "type",         "file",          "sha256",           "bytes",    "name",
       "format",  "metadata",     "input",         "output",           "labels",   "activations",
       "kernels", "quantization", "parameters",    "weight_bytes",     "producer", "weights",
       "trained", "unknown",      "producer_info", "operators_needed", "library",  "engine",
       "members", "onnx",         "device"});
  if (!description.head) return picked;
  const HeadBase& base = description.head->base;
  picked["base"] = {{"name", base.name},
                    {"file", description.base_file},
                    {"sha256", base.sha256},
                    {"bytes", base.bytes},
                    {"format", row_of(contents.engine).format}};
  return picked;
}

std::string onnx_text(const OnnxContents& onnx) {
  int nodes = 0;
  for (const auto& [type, count] : onnx.operators) nodes += count;
  return fmt::format("weights {} bytes, {} operators of opset {}{}{}", onnx.weight_bytes, nodes,
                     onnx.opset, onnx.producer.empty() ? "" : ", written by ", onnx.producer);
}

std::string head_text(const TrainedModel& model) {
  const Embeddings& examples = model.detector.examples;
  return fmt::format("{} outputs of {} numbers, {} examples of {}", model.head.outputs,
                     model.head.weights.size() / model.head.outputs, examples.size(),
                     examples.width());
}

std::string contents_text(const Description& description) {
  const ArchiveContents& contents = description.contents;
  if (description.head) return head_text(description.head->model);
  if (contents.onnx) return onnx_text(*contents.onnx);
  std::string text;
  for (const auto& [kind, size] : sizes_of(contents)) {
    text += fmt::format("{}{} {} bytes in {} member{}", text.empty() ? "" : ", ", kind, size.bytes,
                        size.members, size.members == 1 ? "" : "s");
  }
  return text;
}

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

Report make_report(const Description& description) {
  const ArchiveContents& contents = description.contents;
  const OperatorNames& foreign = contents.custom_operators;
  Facts facts = to_facts(description.model);
  const std::string base = description.head
                               ? fmt::format("{} in {}, sha256 {}", description.head->base.name,
                                             description.base_file, description.head->base.sha256)
                               : "";
  facts.insert(facts.end(), {{"training", training_text(contents)},
                             {"base", base},
                             {"contents", contents_text(description)},
                             {"needs operators",
                              foreign.empty() ? ""
                                              : fmt::format("{}, of a library: --operators FILE",
                                                            joined(foreign, ", "))}});
  Lines notes;
  const std::string assumed = assumption_text(description.model.spec);
  if (!assumed.empty()) {
    notes.lines.push_back(
        fmt::format("This file has no {}: {}.", row_of(contents.engine).metadata, assumed));
  }
  if (!description.was_run) {
    notes.lines.emplace_back(
        contents.engine == Engine::kOnnxRuntime
            ? "The model was not run; --run also shows the engine's kernels."
        : description.head
            ? "The model was not run. Loading its base runs code: if you trust that, --run also "
              "shows parameters and kernels."
            : "The model was not run. Loading it runs code: if you trust it, --run also shows its "
              "parameters and kernels.");
  }
  Report report;
  report.kind = "lookout inspect";
  report.parts = {{"", "", {facts, notes}}};
  for (Part& part : device_parts(description.device_use)) report.parts.push_back(std::move(part));
  report.json = [&description] { return to_json(description); };
  return report;
}

}  // namespace

std::string inspect(const InspectOptions& options) {
  const bool run = runs(options);
  const auto written = [&options](const Report& report) {
    return options.format == Format::kJson ? to_json(report) : to_text(report);
  };
  if (options.code) return written(code_report(read_archive(options.model).archive));
  if (options.graph) return written(graph_report(read_archive(options.model).archive));
  return written(make_report(describe(options, run)));
}

}  // namespace lookout
