#include "app/trace/operator_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/trace/time_use.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// Adds up calls. The deviation is computed as by Welford, from the mean so far.
class Calls {
 public:
  void add(const TraceSlice& slice) {
    ++row_.calls;
    add_time(slice.duration, row_.total);
    add_time(slice.self, row_.self);
    row_.bytes += slice.bytes;
    const double ms = to_ms(slice.duration);
    const double from_mean = ms - row_.mean_ms;
    row_.mean_ms += from_mean / static_cast<double>(row_.calls);
    squares_ += from_mean * (ms - row_.mean_ms);
    row_.min = row_.calls == 1 ? slice.duration : std::min(row_.min, slice.duration);
    if (slice.duration <= row_.max) return;
    row_.max = slice.duration;
    row_.max_frame = slice.frame.value_or(0);
  }

  OperatorTime row(const std::string& name) const {
    OperatorTime row = row_;
    row.name = name;
    row.deviation_ms = std::sqrt(squares_ / static_cast<double>(row.calls));
    return row;
  }

 private:
  OperatorTime row_;
  double squares_ = 0;
};

std::vector<OperatorTime> rows_of(const std::map<std::string, Calls>& calls) {
  std::vector<OperatorTime> rows;
  Clock::duration all{};
  for (const auto& [name, of_name] : calls) {
    rows.push_back(of_name.row(name));
    add_time(rows.back().self, all);
  }
  for (OperatorTime& row : rows) {
    row.share = share_of(row.self, all);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.self > b.self; });
  return rows;
}

}  // namespace

OperatorBreakdown operator_breakdown(const std::vector<TraceSlice>& slices) {
  std::map<std::string, Calls> by_name;
  std::map<std::string, Calls> by_layer;
  std::map<std::string, Calls> by_label;
  for (const TraceSlice& slice : slices) {
    if (slice.kind == SliceKind::kLabel) by_label[slice.name].add(slice);
    if (slice.kind != SliceKind::kOperator) continue;
    by_name[slice.name].add(slice);
    if (!slice.layer.empty()) by_layer[slice.layer].add(slice);
  }
  return {rows_of(by_name), rows_of(by_layer), rows_of(by_label)};
}

}  // namespace lookout
