#include "pipeline/profile/operator_profile.h"

#include <algorithm>
#include <utility>

#include "pipeline/results/format.h"

namespace lookout {
namespace {

Clock::duration divided(Clock::duration sum, double probability) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, Clock::period>(sum) / probability);
}

}  // namespace

void OperatorProfile::add(const Call& call) {
  const MutexLock lock(mutex_);
  const std::tuple key(call.layer, call.name, call.shapes, call.is_label, call.model);
  auto found = sums_.find(key);
  if (found == sums_.end()) found = sums_.emplace(Key(key), Sums()).first;
  Sums& sums = found->second;
  ++sums.calls;
  sums.total += call.total;
  sums.self += call.self;
  sums.bytes += call.bytes;
  if (call.total > sums.max) {
    sums.max = call.total;
    sums.max_frame = call.frame;
  }
}

void OperatorProfile::add_peak_live_bytes(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  peak_live_bytes_ = std::max(bytes, peak_live_bytes_.value_or(0));
}

OperatorTable OperatorProfile::table() const {
  OperatorTable table;
  table.probability = probability_;
  table.group = group_;
  table.frames = frames_;
  Clock::duration all{};
  const MutexLock lock(mutex_);
  table.peak_live_bytes = peak_live_bytes_;
  for (const auto& [key, sums] : sums_) all += sums.self;
  for (const auto& [key, sums] : sums_) {
    OperatorRow row;
    std::tie(row.layer, row.name, row.shapes, row.is_label, row.model) = key;
    row.sampled = sums.calls;
    row.calls = static_cast<double>(sums.calls) / probability_;
    row.total = divided(sums.total, probability_);
    row.self = divided(sums.self, probability_);
    row.bytes = static_cast<double>(sums.bytes) / probability_;
    row.share = share_of(sums.self, all);
    row.max = sums.max;
    row.max_frame = sums.max_frame;
    table.rows.push_back(std::move(row));
  }
  sort_rows(OperatorOrder::kSelf, table);
  return table;
}

}  // namespace lookout
