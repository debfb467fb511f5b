// The events of a trace, and their form in a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "pipeline/profile/stage.h"
#include "pipeline/results/machine_state.h"

namespace lookout {

// The machine at one moment.
struct MachineSample {
  MachineState state;
  std::uint64_t resident_bytes = 0;  // of this process; 0: unknown
};

struct TraceRecording {
  struct Event {
    std::uint64_t frame;
    std::int64_t start_ns;  // of Clock
    std::int64_t duration_ns;
    std::uint32_t thread;  // index in `threads`
    std::uint32_t what;    // a Stage, or kStages + index in `operators`
    // For a stage:
    std::int64_t cpu_ns = -1;    // that its thread ran; -1: not measured
    std::int64_t writer_ns = 0;  // that its thread waited for a reader of results
    std::uint64_t bytes = 0;     // allocated by the call of an operator

    bool is(Stage stage) const { return what == static_cast<std::uint32_t>(stage); }
    std::int64_t end_ns() const { return start_ns + duration_ns; }
  };
  struct Operator {
    std::string model;
    std::string name;
    std::string layer;  // as OperatorRow::layer
    bool is_label = false;
    bool operator<(const Operator& other) const {
      // First what differs most.
      return std::tie(layer, name, is_label, model) <
             std::tie(other.layer, other.name, other.is_label, other.model);
    }
  };
  struct Thread {
    pid_t id;
    std::string name;
  };

  struct Sample {
    std::int64_t time_ns;  // of Clock
    MachineSample machine;
  };

  std::vector<Event> events;
  std::vector<Sample> samples;  // in their order
  std::vector<Thread> threads;
  std::vector<Operator> operators;
  // Frames, from capture to report; sorted once it is complete.
  std::vector<std::uint64_t> reported;
};

// The threads that classified the frames, by the numbers of these.
std::map<std::uint64_t, std::uint32_t> inference_threads(
    const std::vector<TraceRecording::Event>& events);

// Writes a complete recording in parts, as one JSON object in the trace-event format. `about`
// becomes its otherData.
void write_trace(const TraceRecording& recording, const std::map<std::string, std::string>& about,
                 const std::function<void(std::string_view)>& out);

}  // namespace lookout
