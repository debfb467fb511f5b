// The profile of a session of ONNX Runtime: an array of events in Chrome's trace-event format.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/profile/trace.h"

namespace lookout {

// A run of a session, and the frame that it was for; nothing: a run to warm up.
struct ProfiledRun {
  std::optional<std::uint64_t> frame;
  pid_t thread = 0;
  Clock::time_point start;
};

// Calls `add` with each operator that ran for a frame. `runs` are all of the session, each thread's
// in order; `model`: its name. The profile is read twice, and of its events one is in memory at a
// time. Throws std::exception for another text, before `add` is called when it is not JSON.
void read_profile(std::istream& profile, const std::string& model,
                  const std::vector<ProfiledRun>& runs,
                  const std::function<void(const Trace::Operator&)>& add);

}  // namespace lookout
