// A head file, NAME.head: what `lookout train` taught a base, as data. It holds no program, so it
// can be taken from anywhere; it gives scores only behind its base, an archive, which it names by
// SHA-256.
//
// The bytes are, in this order:
//   "lookout-head 1\n"  the format and its number
//   64 digits, "\n"     the SHA-256 of all bytes that follow, hexadecimal
//   JSON, "\n"          one line: base, metadata, labels, report, and the sizes of what follows
//   floats              of 32 bits, little-endian: threshold, steepness, biases [outputs], weights
//                       [outputs][width], examples [examples][example_width]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/core/model_spec.h"
#include "pipeline/training/trainer.h"

namespace lookout {

inline constexpr const char* kHeadSuffix = ".head";
// A head of MobileNetV2 has 0.7 MB at most.
inline constexpr std::size_t kMaxHeadBytes = std::size_t{16} << 20;

// The archive that a head was trained on.
struct HeadBase {
  std::string name;         // of the model
  std::string sha256;       // of the file, hexadecimal, lower case
  std::uint64_t bytes = 0;  // of the file
};

struct HeadFile {
  HeadBase base;
  // Its texts are those of the archive that Trainer::write() makes; producer_info is the report.
  // The classifier that they describe is calibrated: the temperature is in the weights.
  TrainedModel model;
};

// Whether the bytes begin as a head does, of any format, damaged or not.
bool is_head(std::string_view bytes);

// The same head gives the same bytes.
std::string write_head(const HeadFile& head);

// Reads what anybody may have written: sizes are bounded and fit together, and every number is
// finite. Throws Error(kBadData), whose sentence goes on after the file's name: "is a damaged
// head".
HeadFile read_head(std::string_view bytes);

// Weights, biases and examples.
std::uint64_t parameters_of(const HeadFile& head);

// The description of the classifier that the head makes of its base. Its input is as the metadata
// says; layout and quantization are those of the base. Throws Error(kBadData).
ModelSpec spec_of(const HeadFile& head);

}  // namespace lookout
