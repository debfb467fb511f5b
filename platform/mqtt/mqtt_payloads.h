// What is published about a camera: pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "pipeline/core/result.h"
#include "pipeline/results/run_info.h"

namespace lookout {

// Home Assistant takes no longer state.
inline constexpr std::size_t kMaxState = 255;  // characters

// A label as a state: UTF-8, cut after kMaxState characters, the last of which is then '…'.
std::string state_label(const std::string& label);

// The state as text: a label, or "unknown". Empty when there is none yet.
std::string state_payload(const SceneState& state, const RunInfo& info);

// `{"index":950,"class_id":"n07747607","score":0.8731,"previous":"unknown",
// "since":1795262400.123,"results":[{"label":"orange","score":0.8731},...]}`: null for what there
// is not; at most kMaxResults results. `previous`: the state before as text; empty: there was none.
std::string attributes_payload(const Result& result, std::chrono::system_clock::time_point since,
                               const std::string& previous, const RunInfo& info);
inline constexpr std::size_t kMaxResults = 10;

// A JSON line of the kind "state" as an event: with `"event_type":"changed"` first, and without a
// newline. `previous`: the state before, in place of the line's; empty: as the line says.
std::string event_payload(const std::string& state_line, const std::string& previous);

}  // namespace lookout
