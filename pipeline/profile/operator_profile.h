// Collects the time and the memory that a model's operators take, from a sampled share of their
// calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/results/operator_table.h"

namespace lookout {

// The engine samples the calls and adds them here. All methods may be called by any thread.
class OperatorProfile {
 public:
  // `probability`: that a call is sampled, above 0, up to 1. `group`: which calls are counted
  // together.
  explicit OperatorProfile(double probability, OperatorGroup group = OperatorGroup::kName)
      : probability_(probability), group_(group) {}

  // Sorted by self time.
  OperatorTable table() const;

  double probability() const { return probability_; }
  OperatorGroup group() const { return group_; }

  // A sampled call. Its self time must be exact: it excludes the calls that it made, sampled or
  // not.
  struct Call {
    std::string_view model;
    std::string_view name;
    bool is_label = false;
    std::string_view shapes;  // with OperatorGroup::kShape
    std::string_view layer;   // with OperatorGroup::kLayer
    std::uint64_t frame = 0;
    Clock::duration total{};
    Clock::duration self{};
    std::uint64_t bytes = 0;  // allocated by the call itself
  };
  void add(const Call& call);
  void add_frame() { ++frames_; }

  // See OperatorTable; of several models the largest.
  void add_peak_live_bytes(std::uint64_t bytes);

 private:
  struct Sums {
    std::uint64_t calls = 0;
    Clock::duration total{};
    Clock::duration self{};
    std::uint64_t bytes = 0;
    Clock::duration max{};
    std::uint64_t max_frame = 0;  // the frame of the slowest call
  };
  // Layer, name, shapes, is_label, model: first what differs most.
  using Key = std::tuple<std::string, std::string, std::string, bool, std::string>;

  const double probability_;
  const OperatorGroup group_;
  std::atomic<std::uint64_t> frames_{0};
  mutable Mutex mutex_;
  std::map<Key, Sums, std::less<>> sums_ GUARDED_BY(mutex_);
  std::optional<std::uint64_t> peak_live_bytes_ GUARDED_BY(mutex_);
};

}  // namespace lookout
