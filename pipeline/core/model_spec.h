// The description of a model: its input, output and labels, and what results tell of it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/input_spec.h"

namespace lookout {

// What the model gives for each label.
enum class ModelOutput {
  kLogits,         // any number; softmax makes a probability of it
  kProbabilities,  // one of them is true: they add up to 1, as those of softmax
  kSigmoid,        // each is a probability of its own; any number of them may be true
};
const char* to_text(ModelOutput output);

struct InputSize {
  int width = 0;   // pixels
  int height = 0;  // pixels
};

// What a user says about a model.
struct StatedModel {
  std::optional<InputSize> size;
  Normalisation normalisation;
  std::optional<ChannelOrder> channels;
  std::optional<ModelOutput> output;
};

struct ModelSpec {
  std::string name;
  InputSpec input;
  // Empty after it was read: not stated. A Classifier's spec() always has it, recognised at
  // warm-up if need be.
  std::optional<ModelOutput> output;
  // One for each output, in order. A Classifier whose network gives one number has two: LABEL and
  // "not LABEL".
  std::vector<std::string> labels;
  // The output for pictures of none of the others, such as a scene that is unlike every picture
  // that the model was trained with. Nothing: every picture is one of the labels.
  std::optional<std::size_t> unknown;
  // The outputs' identifiers in a vocabulary, WordNet's for ImageNet: "n02123045". Empty: none.
  std::vector<std::string> class_ids;
  std::string quantization;                     // how it was quantized, in words
  std::map<std::string, std::string> producer;  // tool -> version
  std::string weights;                          // provenance
  bool trained = true;
  // What nobody says about the input, so that ImageNet's values are taken.
  struct Assumed {
    bool size = false;
    bool mean = false;
    bool std = false;
  } assumed;
};

// Takes over what is stated.
void apply(const Normalisation& stated, ModelSpec& spec);
void apply(const StatedModel& stated, ModelSpec& spec);

// "ImageNet's mean and deviation are assumed", with the way to say them; empty: nothing is.
std::string assumption_text(const ModelSpec& spec);

// "torch 2.9.1, torchvision 0.24.1"; empty: not told.
std::string producer_text(const ModelSpec& spec);

// What results tell of their model. Never changes. Each result shares that of its model, so that
// the labels of its predictions live as long as the result, also when the run has another model by
// then.
struct ModelInfo {
  std::string name{};
  std::vector<std::string> labels{};     // one for each of the model's outputs, in order
  std::vector<std::string> class_ids{};  // identifiers of the outputs, in order; may be empty
  std::optional<std::size_t> unknown{};  // as ModelSpec::unknown
  // The facts about the model's archive and what runs it, a JSON object; may be empty.
  std::string archive{};
  // How a picture is brought to the model, the members `resize`, `width` and `height` of a JSON
  // object; empty: not known.
  std::string input{};
  std::string sha256{};  // of the model's file, hexadecimal; empty: not computed
  // The model that the run should have, "gate (0123456789ab)", when this one runs in its place
  // since it failed; empty: it is this one.
  std::string failed{};
};

using ModelInfoPtr = std::shared_ptr<const ModelInfo>;

// What a model says itself: all but the archive and the hash.
ModelInfo model_info(const ModelSpec& spec);

}  // namespace lookout
