// Small ONNX models for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lookout {

// A linear layer on all values of the input: scores = weights * values + biases.
struct OnnxFile {
  std::vector<std::int64_t> input{-1, 3, 2, 2};  // -1: any
  int input_type = 1;                            // TensorProto.DataType: float; else it is cast
  int output_type = 1;                           // the same for the scores
  std::vector<std::int64_t> output{};            // the sizes of the scores; empty: a row
  bool label = false;                            // the best label is another output, before them
  std::vector<std::vector<float>> weights;       // of each label; as many as the input has values
  std::vector<float> biases;                     // of each label
  std::vector<std::string> after;                // operators on the scores, one after the other
  std::string after_domain;                      // of these operators; empty: ONNX's own
  std::vector<std::pair<std::string, float>> attributes;   // of each of them
  std::int64_t more_scores = 0;                            // that they add
  std::vector<std::pair<std::string, std::string>> texts;  // metadata_props
  std::string external;  // the file that the weights are said to be in; empty: in this one
  bool second_input = false;
  bool features = false;  // the linear layer's input is an output, too

  // Three labels: the sums of the values of red, green and blue in planes of 2x2 pixels.
  static OnnxFile sums_of_planes();
  // With metadata of lookout's for 2x2 pixels, and three labels.
  OnnxFile described() const;

  std::string bytes() const;
};

// metadata.json for an input of the size, without normalisation.
std::string onnx_metadata(int width, int height);

}  // namespace lookout
