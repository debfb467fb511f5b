// What a run watches.
#pragma once

#include <string>
#include <vector>

#include "app/options/options.h"

namespace lookout {

struct Watch {
  std::string name;  // empty: the only one, for which no section is needed
  // Those of the run, with what [watch.NAME] says in camera.view.roi, model, still, state and
  // events.
  RunOptions options;
  std::string title{};  // as WatchInfo::title
  bool taught = false;  // as WatchOptions::taught
};

// At least one. A model file of a watch's own comes with what the file says about it: labels, input
// and output of [model] are another file's.
std::vector<Watch> watches_of(const RunOptions& options);

}  // namespace lookout
