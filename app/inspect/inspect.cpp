#include "app/inspect/inspect.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "app/output/json.h"
#include "app/run/models.h"
#include "pipeline/results/format.h"
#include "platform/system/input_file.h"
#include "platform/system/sha256.h"

namespace lookout {
namespace {

std::uintmax_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw cannot_read("model " + path.string(), error);
  return size;
}

std::string to_json(const std::filesystem::path& path, const std::string& sha256,
                    const ModelSpec& spec, const ModelFacts& facts) {
  Json input{{"width", spec.input.width},
             {"height", spec.input.height},
             {"mean", spec.input.mean},
             {"std", spec.input.std},
             {"channel_order", to_text(spec.input.channel_order)},
             {"resize", to_text(spec.input.resize)}};
  const Json report{{"schema", 1},
                    {"type", "model"},
                    {"file", path.string()},
                    {"sha256", sha256},
                    {"bytes", size_of(path)},
                    {"name", spec.name},
                    {"metadata", facts.has_metadata},
                    {"input", std::move(input)},
                    {"labels", spec.labels},
                    {"activations", facts.activations},
                    {"kernels", facts.kernels},
                    {"quantization", spec.quantization},
                    {"parameters", facts.parameters},
                    {"producer", spec.producer},
                    {"weights", spec.weights},
                    {"trained", spec.trained},
                    {"libtorch", facts.version},
                    {"engine", facts.engine}};
  return to_text(report) + "\n";
}

std::string to_text(const std::filesystem::path& path, const std::string& sha256,
                    const ModelSpec& spec, const ModelFacts& facts) {
  std::string text;
  const auto line = [&text](const char* key, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<14} {}\n", key, printable(value));
  };
  const InputSpec& input = spec.input;
  std::vector<std::string> producer;
  for (const auto& [tool, version] : spec.producer) {
    producer.push_back(fmt::format("{} {}", tool, version));
  }
  line("name", spec.name);
  line("file", fmt::format("{}, {} bytes", path.string(), size_of(path)));
  line("sha256", sha256);
  line("input", fmt::format("{}x{} {}, {}", input.width, input.height, to_text(input.channel_order),
                            to_text(input.resize)));
  line("normalisation", fmt::format("(pixel / 255 - mean) / std, mean {}, std {}",
                                    fmt::join(input.mean, " "), fmt::join(input.std, " ")));
  line("labels",
       fmt::format("{}: {}, ..., {}", spec.labels.size(), spec.labels.front(), spec.labels.back()));
  line("activations", facts.activations + ", computed by " + facts.kernels + " kernels");
  line("quantization", spec.quantization);
  line("parameters", std::to_string(facts.parameters));
  line("producer", producer.empty() ? "unknown" : fmt::format("{}", fmt::join(producer, ", ")));
  line("weights", spec.weights);
  line("trained", spec.trained ? "yes" : "no");
  line("runs on", facts.library + " " + facts.version + ", engine " + facts.engine);
  if (!facts.has_metadata) {
    text += "This archive has no metadata.json: ImageNet's values are assumed.\n";
  }
  return text;
}

}  // namespace

std::string inspect(const InspectOptions& options) {
  const std::filesystem::path path = model_path(options.model.file);
  const auto classifier = open_to_describe(options.model, /*count_parameters=*/true);
  const std::string sha256 = sha256_of_file(path);
  return options.format == Format::kJson
             ? to_json(path, sha256, classifier->spec(), classifier->facts())
             : to_text(path, sha256, classifier->spec(), classifier->facts());
}

}  // namespace lookout
