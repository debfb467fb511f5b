// What limited a run, in one sentence, from its trace.
#pragma once

#include <cstdint>
#include <string>

namespace lookout {

struct TraceSummary;

enum class Limit : std::uint8_t {
  kUnknown,    // no stages in the trace
  kCamera,     // the model waited for frames
  kCapture,    // the model waited for frames to be copied, converted or decoded
  kWriter,     // a reader of results was waited for
  kThrottled,  // the firmware had lowered the clock
  kProcessor,  // other threads or programs had the processors
  kModel,      // it computed nearly all the time
};

// The name in JSON: "camera".
const char* to_text(Limit limit);

// Shares of time, 0..1, that decide.
struct VerdictShares {
  double camera = 0;     // of the time of the threads that classify
  double capture = 0;    // likewise
  double writer = 0;     // of the time of the thread that reports
  double processor = 0;  // of the stages of these threads: they were off the CPU
  double throttled = 0;  // of the samples
};

struct Verdict {
  Limit limit = Limit::kUnknown;
  VerdictShares shares;
  std::string sentence;  // with a full stop
};

// From all other members of the summary.
Verdict find_verdict(const TraceSummary& summary);

}  // namespace lookout
