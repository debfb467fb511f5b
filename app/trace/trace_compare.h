// Two traces, before and after a change: which stages and operators take longer or shorter, came,
// or went.
//
// Of each stage and each operator, the time in each frame is known (an operator's self time in all
// its calls). Neighbouring frames are alike, so that the samples are the means of ten blocks of
// frames that follow each other (batch means), or the frames themselves where there are few. The
// difference of the means has Welch's interval, which assumes neither equal spreads nor equal
// numbers of frames. It holds with 95 % for all rows of a list together (Bonferroni), so that a
// list of fifty rows does not differ by chance.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/trace/trace_fleet.h"
#include "pipeline/core/json_text.h"

namespace lookout {

enum class ChangeKind { kSame, kSlower, kFaster, kAdded, kGone };

// "slower"; "no difference" for kSame.
const char* to_text(ChangeKind kind);

// Milliseconds a frame.
struct TimeChange {
  std::string name;
  ChangeKind kind = ChangeKind::kSame;
  double before = 0;  // the mean; 0: it does not occur
  double after = 0;
  // Of after - before. The widest interval is infinite: there is one frame.
  double low = 0;
  double high = 0;
  double difference() const { return after - before; }
};

struct TraceComparison {
  TimeChange total;                   // of a frame's way; its interval is its own alone
  std::vector<TimeChange> stages;     // in their order; empty: both are of PyTorch's profiler
  std::vector<TimeChange> operators;  // the largest difference first
  std::size_t frames_before = 0;
  std::size_t frames_after = 0;
  std::string sentence;
};

// Both have frames. Of operators, frames count that have some: of ONNX Runtime only the first have.
TraceComparison compare(const BoardTrace& before, const BoardTrace& after);

// Those that intervals are computed of: `values`, which are those of frames in their order, or of
// 20 values and more the means of ten blocks.
std::vector<double> independent_samples(const std::vector<double>& values);

// Of the difference of the means, with this probability. Both have values.
std::pair<double, double> welch_interval(const std::vector<double>& before,
                                         const std::vector<double>& after, double probability);

// With a newline at the end of the text. `made_by`: the footer of the page.
std::string comparison_text(const BoardTrace& before, const BoardTrace& after);
nlohmann::ordered_json comparison_json(const BoardTrace& before, const BoardTrace& after);
std::string comparison_html(const BoardTrace& before, const BoardTrace& after,
                            const std::string& made_by);

}  // namespace lookout
