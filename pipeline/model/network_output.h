// What a network gives, whatever the engine: which of its outputs are the scores, and how they
// become one number for each label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

struct NetworkOutput {
  enum class Numbers {
    kFloats,  // of any size: 16, 32 or 64 bits
    kBytes,   // 0..255 or -128..127
    kOther,   // no numbers, whole numbers, or a tensor that is not dense
  };

  std::string name;  // empty: it has none
  std::string type;  // for messages: "float16", "layout Sparse"
  Numbers numbers = Numbers::kOther;
  std::vector<std::int64_t> dims;  // of a tensor
};

// Chooses the scores among all tensors that a network gives, in their order: the first row of
// floats with as many numbers as there are labels, whatever its dimensions of one: [1, labels, 1,
// 1]. One that is called "logits" goes before. A row of bytes is taken where no row of floats is.
// Throws Error(kBadData), which says what the network gives instead.
std::size_t choose_scores(const std::filesystem::path& archive,
                          const std::vector<NetworkOutput>& outputs, std::size_t labels);

// What a model gives for an image is no scores. It may give some for the next one.
class NoScores : public Error {
  using Error::Error;
};

// Throws NoScores(kBadData) when these cannot be a model's scores: one is NaN or plus infinity, or
// none is finite. Minus infinity is how a model rules a label out.
void check_scores(const std::filesystem::path& archive, const std::vector<float>& scores);

// A network that gives one number answers yes or no. These make two labels of its label, the
// second of which is "not LABEL", and two scores of its number: the other one is 0 for a logit, as
// softmax of the two is the logit's sigmoid, and else the rest to 1.
void add_opposite(ModelSpec& spec);
inline void add_opposite(const ModelSpec& spec, std::vector<float>& scores) {
  if (scores.size() != 1 || spec.labels.size() != 2) return;
  scores.push_back(spec.output == ModelOutput::kLogits ? 0.0F : 1.0F - scores.front());
}

}  // namespace lookout
