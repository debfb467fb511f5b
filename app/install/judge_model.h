// Tries a model before it is used.
#pragma once

#include <string>
#include <vector>

#include "app/options/options.h"

namespace lookout {

struct JudgedModel {
  std::string name;
  std::vector<std::string> labels;
  bool is_head = false;  // else an archive
};

// Loads the model that the options name in a process of its own and runs it until it is warm: as
// the service's user when this one is root's, without a network, and within three quarters of the
// memory. Throws what loading throws, and Error(kBadData) when the model ends the process or does
// not return within 30 s.
JudgedModel judge_model(const ModelOptions& model);

}  // namespace lookout
