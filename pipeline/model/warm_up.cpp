#include "pipeline/model/warm_up.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/model/top_k.h"

namespace lookout {
namespace {

constexpr int kRuns = 3;  // LibTorch's profiling executor specializes in its first two

// `outputs` are those of a blank image. Another image decides, too: a few logits may happen to add
// up to 1 once.
bool gives_probabilities(const ClassifyImage& classify, const InputSpec& input,
                         std::vector<float> outputs) {
  if (!are_probabilities(outputs)) return false;
  classify(blank_image(input, 1), outputs);
  return are_probabilities(outputs);
}

}  // namespace

ImageTensor blank_image(const InputSpec& input, float value) {
  ImageTensor image;
  image.width = input.width;
  image.height = input.height;
  const auto size =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3;
  if (const auto& quantization = input.quantization) {
    image.bytes.resize(size, quantization->quantize(value));
  } else {
    image.values.resize(size, value);
  }
  return image;
}

void warm_up(const ClassifyImage& classify, ModelSpec& spec, ModelFacts& facts) {
  const ImageTensor image = blank_image(spec.input);
  std::vector<float> outputs;
  for (int run = 0; run < kRuns; ++run) classify(image, outputs);
  if (spec.output) return;
  facts.recognised_probabilities = gives_probabilities(classify, spec.input, outputs);
  spec.output = facts.recognised_probabilities ? ModelOutput::kProbabilities : ModelOutput::kLogits;
}

bool can_be_scores(const float* scores, std::size_t count) {
  const float* end = scores + count;
  const bool bounded = std::all_of(scores, end, [](float score) {
    return score < std::numeric_limits<float>::infinity();  // NaN is not
  });
  return bounded && std::any_of(scores, end, [](float score) { return std::isfinite(score); });
}

}  // namespace lookout
