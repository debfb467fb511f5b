// Models of results that a test makes up.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/model_spec.h"

namespace lookout {

inline ModelInfoPtr model_with(std::vector<std::string> labels, std::string name = "net") {
  ModelInfo info;
  info.name = std::move(name);
  info.labels = std::move(labels);
  return std::make_shared<ModelInfo>(std::move(info));
}

}  // namespace lookout
