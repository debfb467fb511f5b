// What networks give, for both engines: the same networks in the words of each.
#pragma once

#include <string>
#include <vector>

#include "pipeline/core/model_spec.h"
#include "tests/support/onnx_file.h"

namespace lookout {

// Of pictures of 2x2 pixels; the scores are made of `sums`, the sums of red, green and blue.
struct OutputCase {
  std::string name;
  // The end of forward(), after `sums = x.sum([2, 3])`.
  std::string torch;
  // What comes behind the sums in the ONNX model.
  OnnxFile onnx;
  ModelOutput output = ModelOutput::kLogits;
  // For a picture whose sums are 1, 2 and 3.
  std::vector<float> scores{1, 2, 3};
};

inline OnnxFile sums_then(std::vector<std::string> after) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.after = std::move(after);
  return file;
}

inline OnnxFile sums_of_type(int type) {
  OnnxFile file = sums_then({});
  file.output_type = type;
  return file;
}

inline OnnxFile sums_of_sizes(std::vector<std::int64_t> sizes) {
  OnnxFile file = sums_then({});
  file.output = std::move(sizes);
  return file;
}

inline OnnxFile sums_with_label(std::vector<std::string> after = {}) {
  OnnxFile file = sums_then(std::move(after));
  file.label = true;
  return file;
}

inline OnnxFile red_then(std::vector<std::string> after) {
  OnnxFile file = sums_then(std::move(after));
  file.weights.resize(1);
  file.biases.resize(1);
  file.texts[1].second = "red\n";
  return file;
}

inline std::vector<OutputCase> output_cases() {
  const std::vector<float> softmax{0.09003F, 0.24473F, 0.66524F};
  const std::vector<float> sigmoid{0.73106F, 0.88080F, 0.95257F};
  return {
      {"Row", "return sums", sums_then({})},
      {"Softmax", "return torch.softmax(sums, 1)", sums_then({"Softmax"}),
       ModelOutput::kProbabilities, softmax},
      {"LogSoftmax",
       "return torch.log_softmax(sums, 1)",
       sums_then({"LogSoftmax"}),
       ModelOutput::kLogits,
       {-2.40761F, -1.40761F, -0.40761F}},
      {"Sigmoid", "return torch.sigmoid(sums)", sums_then({"Sigmoid"}), ModelOutput::kSigmoid,
       sigmoid},
      {"OneLogit", "return sums[:, :1]", red_then({}), ModelOutput::kLogits, {1, 0}},
      {"OneProbability",
       "return torch.sigmoid(sums)[:, :1]",
       red_then({"Sigmoid"}),
       ModelOutput::kProbabilities,
       {0.73106F, 0.26894F}},
      {"Shape1x3x1x1", "return sums.view([1, 3, 1, 1])", sums_of_sizes({1, 3, 1, 1})},
      {"Shape3x1", "return sums.view([3, 1])", sums_of_sizes({3, 1})},
      {"Shape3", "return sums.view([3])", sums_of_sizes({3})},
      {"Double", "return sums.double()", sums_of_type(11)},
      {"Half", "return sums.half()", sums_of_type(10)},
      {"Bfloat16", "return sums.to(15)", sums_of_type(16)},
      {"HalfSigmoid", "return torch.sigmoid(sums).half()",
       [] {
         OnnxFile file = sums_then({"Sigmoid"});
         file.output_type = 10;
         return file;
       }(),
       ModelOutput::kSigmoid, sigmoid},
      {"LabelBefore", "return (sums.argmax(1), sums)", sums_with_label()},
      {"LabelBeforeProbabilities", "return sums.argmax(1), torch.softmax(sums, 1)",
       sums_with_label({"Softmax"}), ModelOutput::kProbabilities, softmax},
  };
}

}  // namespace lookout
