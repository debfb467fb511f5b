#include "pipeline/profile/operator_profile.h"

#include <algorithm>
#include <utility>

namespace lookout {
namespace {

Clock::duration divided(Clock::duration sum, double probability) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, Clock::period>(sum) / probability);
}

}  // namespace

void OperatorProfile::add(const Call& call) {
  const MutexLock lock(mutex_);
  Sums& sums = sums_[{std::string(call.model), std::string(call.name), std::string(call.shapes)}];
  ++sums.calls;
  sums.total += call.total;
  sums.self += call.self;
  if (call.total > sums.max) {
    sums.max = call.total;
    sums.max_frame = call.frame;
  }
}

OperatorTable OperatorProfile::table() const {
  OperatorTable table;
  table.probability = probability_;
  table.with_shapes = with_shapes_;
  table.frames = frames_;
  Clock::duration all{};
  const MutexLock lock(mutex_);
  for (const auto& [key, sums] : sums_) all += sums.self;
  for (const auto& [key, sums] : sums_) {
    OperatorRow row;
    std::tie(row.model, row.name, row.shapes) = key;
    row.sampled = sums.calls;
    row.calls = static_cast<double>(sums.calls) / probability_;
    row.total = divided(sums.total, probability_);
    row.self = divided(sums.self, probability_);
    if (all.count() > 0) {
      row.share = static_cast<double>(sums.self.count()) / static_cast<double>(all.count());
    }
    row.max = sums.max;
    row.max_frame = sums.max_frame;
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return a.self > b.self; });
  return table;
}

}  // namespace lookout
