// Small TorchScript archives, good and bad, made by the test that needs them.
#pragma once

#include <cstdint>
#include <string>

namespace lookout {

// The body of the archive's forward(x), in TorchScript's Python.
inline const char* const kMeanOfChannels = "return x.mean([2, 3])";  // 3 scores

// Metadata of an 8x8 model, and labels for its 3 scores.
std::string small_metadata();
inline const char* const kThreeLabels = "red\ngreen\nblue\n";

// Empty metadata or labels are left out of the archive. `inputs`: the names of what forward takes.
// `operators`: a namespace of registered operators that the body uses by its name: acme.scores(x).
// The body can keep a tensor in `self.last`, which is 0 at the start.
void write_archive(const std::string& path, const std::string& forward_body,
                   const std::string& metadata, const std::string& labels,
                   const std::string& inputs = "x", const std::string& operators = {});

// How a copy of an archive differs.
struct ArchiveChange {
  std::string from;  // a text in its code
  std::string to;
  std::string member{};       // one more, without a meaning; empty: none
  std::uint64_t version = 0;  // of the format, at least
};
void copy_archive(const std::string& from, const std::string& to, const ArchiveChange& change);

// An archive of 8x8 pictures that adds the output of a layer `features` to itself and takes the
// mean of each channel. The layer has a 1x1 convolution of 3 channels to 3, and hardtanh.
void write_convolution(const std::string& path);

// An archive that gives the sums of the channels, with weights, a buffer, and values that are cast
// to floats of another type: "Half", "BFloat16" or "Double". `frozen`: its weights are constants.
void write_in_floats(const std::string& path, const std::string& type, bool frozen,
                     const std::string& metadata);

}  // namespace lookout
