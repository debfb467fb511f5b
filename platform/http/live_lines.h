// What is new in the slots, as the JSON lines that `--format json` writes.
#pragma once

#include <string>

#include "pipeline/results/format.h"
#include "pipeline/results/run_info.h"
#include "platform/http/live_slots.h"

namespace lookout {

// Each line is without a newline, and empty when there is none yet. Used by one thread.
class LiveLines {
 public:
  LiveLines(const LiveSlots& slots, const RunInfo& info);

  std::string classification();
  // The last change of the state; none while the camera is away.
  std::string state();
  std::string state(const LiveResult& change);
  std::string stats();
  std::string status();
  // `{"camera":...,"about":...,"result":...,"state":...,"stats":...,"status":...}`; null for what
  // there is not. `about` does not change: `version` of the program, `source`, `region`,
  // `archive`.
  std::string all();

 private:
  const LiveSlots& slots_;
  const std::string camera_;  // as JSON
  const std::string about_;   // a JSON object
  JsonFormat format_;
};

}  // namespace lookout
