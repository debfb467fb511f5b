// The description of a model in its archive.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/model/input_spec.h"

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
  // Empty after parse_metadata(): not stated. A Classifier's spec() always has it, recognised at
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

// Reads the archive's metadata.json. Throws Error(kBadData) naming the missing or wrong field.
ModelSpec parse_metadata(const std::string& json);

// Takes over what a file beside a model says, in the words of metadata.json, of which every field
// may be missing. It may have "labels", too, as names_of() reads them; they are not taken if `spec`
// has some. Throws Error(kBadData) naming the wrong field.
void take_metadata(const std::string& json, ModelSpec& spec);

// Takes over what is stated.
void apply(const StatedModel& stated, ModelSpec& spec);

// "ImageNet's mean and deviation are assumed", with the way to say them; empty: nothing is.
std::string assumption_text(const ModelSpec& spec);

// "torch 2.9.1, torchvision 0.24.1"; empty: not told.
std::string producer_text(const ModelSpec& spec);

// Why a text cannot be a label, as "is empty"; empty: it can.
std::string problem_of_label(const std::string& text);

// One label a line; blanks around it, empty lines at the end, carriage returns and a byte order
// mark are ignored. Throws Error(kBadData) for an empty text, an empty line before others, one of
// over 1000 bytes, a NUL character, or bytes that are not UTF-8.
std::vector<std::string> parse_labels(const std::string& text);

// The identifiers in class_ids.txt, written as labels are. Throws Error(kBadData) as
// parse_labels(), and when there are not as many as `outputs`.
std::vector<std::string> parse_class_ids(const std::string& text, std::size_t outputs);

}  // namespace lookout
