// The facts of a run that do not change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

// Constant from the start of a run to its end; every reporter may keep a copy.
struct RunInfo {
  std::string camera;               // its name in results
  std::string model;                // its name
  std::vector<std::string> labels;  // one for each of the model's outputs, in order
  std::string archive;              // facts about the model's archive, a JSON object; may be empty
  // A description: "/dev/video0: 640x480 YUYV at 30 fps". Empty: there is no source.
  std::string source;
  bool live = false;                     // frames come whether or not somebody waits for them
  std::vector<std::string> class_ids{};  // identifiers of the outputs, in order; may be empty
  std::optional<std::size_t> unknown{};  // as ModelSpec::unknown
  // The part of the upright picture that is classified, a JSON object; empty: not known. `roi`: x,
  // y, width and height as fractions of it; of that the model's `resize`, `width` and `height`
  // choose.
  std::string region{};
  std::string sha256{};  // of the model's file, hexadecimal; empty: not computed
};

}  // namespace lookout
