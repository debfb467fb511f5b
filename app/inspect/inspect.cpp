#include "app/inspect/inspect.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "app/output/json.h"
#include "app/run/models.h"
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
};

// Without labels if there are none.
ModelSpec spec_without_running(const ModelArchive& archive, const ArchiveContents& contents,
                               const std::string& labels_file) {
  auto labels = read_labels(labels_file);
  if (!labels && contents.labels.empty()) labels.emplace();
  return read_spec(archive, contents, labels);
}

Description describe(const InspectOptions& options) {
  const ModelArchive archive = read_archive(options.model);
  Description description;
  description.file = archive.path().string();
  description.sha256 = archive.sha256();
  description.bytes = archive.bytes().size();
  description.contents = read_contents(archive);
  if (options.run) {
    description.model = open_to_describe(archive, options.model, /*count_parameters=*/true);
    description.spec = description.model->spec();
  } else {
    description.spec = spec_without_running(archive, description.contents, options.model.labels);
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

Json input_json(const InputSpec& input) {
  return {{"width", input.width},
          {"height", input.height},
          {"mean", input.mean},
          {"std", input.std},
          {"channel_order", to_text(input.channel_order)},
          {"resize", to_text(input.resize)}};
}

// Null when there is none, or when it is no JSON.
Json producer_info_json(const ArchiveContents& contents) {
  Json json = Json::parse(contents.producer_info, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
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
                    {"metadata", !description.contents.metadata.empty()},
                    {"input", input_json(spec.input)},
                    {"output", spec.output ? Json(to_text(*spec.output)) : Json()},
                    {"labels", spec.labels},
                    {"activations", if_run(&ModelFacts::activations)},
                    {"kernels", if_run(&ModelFacts::kernels)},
                    {"quantization", spec.quantization},
                    {"parameters", if_run(&ModelFacts::parameters)},
                    {"weight_bytes", parts_of(description.contents)["weights"].bytes},
                    {"producer", spec.producer},
                    {"weights", spec.weights},
                    {"trained", spec.trained},
                    {"unknown", or_null(spec.unknown)},
                    {"producer_info", producer_info_json(description.contents)},
                    {"libtorch", if_run(&ModelFacts::version)},
                    {"engine", if_run(&ModelFacts::engine)},
                    {"members", std::move(members)}};
  return to_text(report) + "\n";
}

std::string labels_text(const std::vector<std::string>& labels) {
  if (labels.empty()) return "none: --labels FILE is needed to run it";
  return fmt::format("{}: {}, ..., {}", labels.size(), labels.front(), labels.back());
}

std::string contents_text(const ArchiveContents& contents) {
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
    return fmt::format(
        "{} pictures, {:.1f} % right ({}); base {}", info.at("pictures").get<std::uint64_t>(),
        info.at("accuracy").at("percent").get<double>(), info.at("validation").get<std::string>(),
        info.at("base").at("name").get<std::string>());
  } catch (const Json::exception&) {
    return {};
  }
}

std::vector<Line> lines_of_run(const ModelFacts& facts) {
  return {{"activations", facts.activations + ", computed by " + facts.kernels + " kernels"},
          {"parameters", std::to_string(facts.parameters)},
          {"runs on", facts.library + " " + facts.version + ", engine " + facts.engine}};
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
                                    fmt::join(input.mean, " "), fmt::join(input.std, " "))},
      {"output", spec.output ? to_text(*spec.output) : "not stated: found out when it is run"},
      {"labels", labels_text(spec.labels)},
      {"quantization", spec.quantization},
      {"producer", producer.empty() ? "unknown" : producer},
      {"weights", spec.weights},
      {"trained", spec.trained ? "yes" : "no"},
      {"contents", contents_text(description.contents)}};
  const std::string training = training_text(description.contents);
  if (!training.empty()) lines.insert(lines.end() - 1, {"training", training});
  if (description.model) {
    for (Line& line : lines_of_run(description.model->facts())) lines.push_back(std::move(line));
  }
  return lines;
}

std::string to_text(const Description& description) {
  std::string text;
  for (const auto& [key, value] : lines(description)) {
    fmt::format_to(std::back_inserter(text), "{:<14} {}\n", key, printable(value));
  }
  if (description.contents.metadata.empty()) {
    text += "This archive has no metadata.json: ImageNet's values are assumed.\n";
  }
  if (!description.model) {
    text +=
        "Nothing of the archive was run. It is a program with your rights: if you trust it, --run "
        "tells its parameters and kernels, too.\n";
  }
  return text;
}

}  // namespace

std::string inspect(const InspectOptions& options) {
  const Description description = describe(options);
  return options.format == Format::kJson ? to_json(description) : to_text(description);
}

}  // namespace lookout
