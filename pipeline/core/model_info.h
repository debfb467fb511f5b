// What results tell of their model.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/model_spec.h"

namespace lookout {

// Never changes. Each result shares that of its model, so that the labels of its predictions live
// as long as the result, also when the run has another model by then.
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
};

using ModelInfoPtr = std::shared_ptr<const ModelInfo>;

// What a model says itself: all but the archive and the hash.
ModelInfo model_info(const ModelSpec& spec);

}  // namespace lookout
