#include "app/train/model_metadata.h"

#include <fmt/format.h>

#include <array>

#include "app/report/json.h"

namespace lookout {
namespace {

// As people write them: 0.485, not 0.48500001430511475.
std::array<double, 3> decimal(const std::array<float, 3>& values) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = rounded(static_cast<double>(values[i]), 6);
  }
  return numbers;
}

}  // namespace

std::string model_metadata(const TrainedFacts& facts, const ModelSpec& base) {
  const InputSpec& input = base.input;
  Json producer = base.producer;
  producer["lookout"] = LOOKOUT_VERSION;
  const Json json{
      {"name", facts.name},
      {"input",
       {{"width", input.width},
        {"height", input.height},
        {"mean", decimal(input.mean)},
        {"std", decimal(input.std)},
        {"channel_order", to_text(input.channel_order)},
        {"resize", to_text(input.resize)}}},
      {"output", to_text(ModelOutput::kProbabilities)},
      {"unknown", facts.classes},
      {"quantization", base.quantization + "; the last layer, trained by lookout, is of floats"},
      {"producer", producer},
      {"weights",
       fmt::format("last layer: lookout train on {} pictures; all others: {} (sha256 {}), {}",
                   facts.pictures, base.name, facts.base_sha256, base.weights)},
      {"trained", true}};
  return to_text(json, 2) + "\n";
}

}  // namespace lookout
