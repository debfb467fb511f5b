// The traces of several boards side by side: which is slowest, and which operator differs.
#pragma once

#include <string>
#include <vector>

#include "app/trace/trace_summary.h"
#include "pipeline/core/json_text.h"

namespace lookout {

struct BoardTrace {
  std::string file;
  TraceSummary summary;
};

// An operator's self time in a frame of each board, in milliseconds; 0 where it does not occur.
struct OperatorAcross {
  std::string name;
  std::vector<double> ms;   // one for each board
  std::size_t slowest = 0;  // the board where it takes longest
  double others_ms = 0;     // the median of the other boards
  double excess_ms() const { return ms[slowest] - others_ms; }
};

struct FleetComparison {
  std::vector<OperatorAcross> operators;  // the one with the largest mean first
  std::string sentence;                   // names the slowest board and the outlying operator
  std::size_t slowest = 0;                // the board whose frames take longest in the median
  std::size_t fastest = 0;
  double times_fastest = 1;    // how many times as long the slowest one's take
  int outlying_operator = -1;  // index in `operators` of the largest excess; -1: none
};

// `boards`: at least two, each with a frame.
FleetComparison compare(const std::vector<BoardTrace>& boards);

bool all_by_pytorch(const std::vector<BoardTrace>& boards);
// "frame", or "step" when PyTorch's profiler wrote all of them.
std::string frame_word(const std::vector<BoardTrace>& boards);

// With a newline at the end.
std::string to_text(const std::vector<BoardTrace>& boards);
nlohmann::ordered_json to_json(const std::vector<BoardTrace>& boards);

// The median time of a frame; 0 without frames.
double median_ms(const TraceSummary& summary);

}  // namespace lookout
