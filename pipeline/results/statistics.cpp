#include "pipeline/results/statistics.h"

#include <algorithm>
#include <cmath>

namespace lookout {

std::uint64_t nearest_rank(std::uint64_t count, double share) {
  constexpr double kRounding = 1e-9;  // of 0.999 * 1000, which is a little more than 999
  const double rank = std::ceil(share * static_cast<double>(count) - kRounding);
  return static_cast<std::uint64_t>(std::max(1.0, rank));
}

Percentiles find_percentiles(std::vector<Clock::duration> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&values](double share) {
    return values[nearest_rank(values.size(), share) - 1];
  };
  return {at(0.50), at(0.95), at(0.99), values.back()};
}

// Values below 2^(kSubBits + 1) have a bucket each; above, each doubling has 2^kSubBits buckets.
std::size_t LatencyHistogram::bucket(std::uint64_t us) {
  constexpr std::uint64_t kLargest = (std::uint64_t{1} << 32) - 1;
  us = std::min(us, kLargest);
  std::size_t octave = 0;
  while ((us >> octave) >= (std::uint64_t{2} << kSubBits)) ++octave;
  return (octave << kSubBits) + (us >> octave);
}

// The largest value that falls into a bucket.
std::uint64_t LatencyHistogram::upper_bound(std::size_t bucket) {
  constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  if (bucket < 2 * kSub) return bucket;
  const std::size_t octave = (bucket >> kSubBits) - 1;
  const std::uint64_t sub = kSub + (bucket & (kSub - 1));
  return ((sub + 1) << octave) - 1;
}

void LatencyHistogram::record(Clock::duration duration) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  ++buckets_[bucket(static_cast<std::uint64_t>(std::max<std::int64_t>(0, us)))];
  ++count_;
  max_ = std::max(max_, duration);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Clock::duration LatencyHistogram::rank(double share) const {
  const std::uint64_t wanted = nearest_rank(count_, share);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted)
      return std::min<Clock::duration>(max_, std::chrono::microseconds(upper_bound(i)));
  }
  return max_;
}

Percentiles LatencyHistogram::percentiles() const {
  if (count_ == 0) return {};
  return {rank(0.50), rank(0.95), rank(0.99), max_};
}

void add_region(const Result& region, Result& frame) {
  frame.frame_age = region.frame_age;
  frame.durations.preprocess += region.durations.preprocess;
  frame.durations.inference += region.durations.inference;
  frame.durations.total += region.durations.total - region.durations.capture;
  frame.reused = frame.reused && region.reused;
}

Statistics::Statistics(Clock::time_point start) : start_(start), interval_start_(start) {}

void Statistics::record(const Result& result) {
  ++classified_;
  if (result.reused) {
    ++reused_;
    return;
  }
  interval_stages_.frame_age.record(result.frame_age);
  interval_stages_.capture.record(result.durations.capture);
  interval_stages_.preprocess.record(result.durations.preprocess);
  interval_stages_.inference.record(result.durations.inference);
  interval_stages_.total.record(result.durations.total);
}

StatsSnapshot Statistics::snapshot(const Stages& stages, const CaptureCounts& counts) const {
  StatsSnapshot snapshot;
  snapshot.captured = counts.captured;
  snapshot.classified = classified_;
  snapshot.reused = reused_;
  snapshot.unwanted = counts.unwanted;
  snapshot.dropped = counts.dropped;
  snapshot.skipped = counts.skipped;
  snapshot.in_flight = counts.captured - classified_ - counts.unwanted - counts.dropped;
  snapshot.frame_age = stages.frame_age.percentiles();
  snapshot.capture = stages.capture.percentiles();
  snapshot.preprocess = stages.preprocess.percentiles();
  snapshot.inference = stages.inference.percentiles();
  snapshot.total = stages.total.percentiles();
  return snapshot;
}

StatsSnapshot Statistics::interval(const CaptureCounts& counts, Clock::time_point now) {
  StatsSnapshot result = snapshot(interval_stages_, counts);
  result.interval = now - interval_start_;
  result.camera_fps = per_second(counts.captured - interval_counts_.captured, result.interval);
  const std::uint64_t classified = classified_ - interval_classified_;
  result.classified_fps = per_second(classified, result.interval);
  result.computed_fps = per_second(classified - (reused_ - interval_reused_), result.interval);

  run_stages_.frame_age.add(interval_stages_.frame_age);
  run_stages_.capture.add(interval_stages_.capture);
  run_stages_.preprocess.add(interval_stages_.preprocess);
  run_stages_.inference.add(interval_stages_.inference);
  run_stages_.total.add(interval_stages_.total);
  interval_stages_ = Stages();
  interval_start_ = now;
  interval_counts_ = counts;
  interval_classified_ = classified_;
  interval_reused_ = reused_;
  return result;
}

StatsSnapshot Statistics::total(const CaptureCounts& counts, Clock::time_point now) const {
  Stages run = run_stages_;
  run.frame_age.add(interval_stages_.frame_age);
  run.capture.add(interval_stages_.capture);
  run.preprocess.add(interval_stages_.preprocess);
  run.inference.add(interval_stages_.inference);
  run.total.add(interval_stages_.total);
  StatsSnapshot result = snapshot(run, counts);
  result.interval = now - start_;
  result.camera_fps = per_second(counts.captured, result.interval);
  result.classified_fps = per_second(classified_, result.interval);
  result.computed_fps = per_second(classified_ - reused_, result.interval);
  result.final = true;
  return result;
}

}  // namespace lookout
