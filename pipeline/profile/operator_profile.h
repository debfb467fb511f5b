// Collects the time that a model's operators take, from a sampled share of their calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "pipeline/frame.h"
#include "pipeline/mutex.h"
#include "pipeline/results/operator_table.h"

namespace lookout {

// The engine samples the calls and adds them here. All methods may be called by any thread.
class OperatorProfile {
 public:
  // `probability`: that a call is sampled, above 0, up to 1. `with_shapes`: counts calls with
  // different input shapes separately.
  explicit OperatorProfile(double probability, bool with_shapes = false)
      : probability_(probability), with_shapes_(with_shapes) {}

  OperatorTable table() const;

  double probability() const { return probability_; }
  bool with_shapes() const { return with_shapes_; }

  // A sampled call. Its self time must be exact: it excludes the calls that it made, sampled or
  // not.
  struct Call {
    std::string_view model;
    std::string_view name;
    std::string_view shapes;
    std::uint64_t frame = 0;
    Clock::duration total{};
    Clock::duration self{};
  };
  void add(const Call& call);
  void add_frame() { ++frames_; }

 private:
  struct Sums {
    std::uint64_t calls = 0;
    Clock::duration total{};
    Clock::duration self{};
    Clock::duration max{};
    std::uint64_t max_frame = 0;  // the frame of the slowest call
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // model, name, shapes

  const double probability_;
  const bool with_shapes_;
  std::atomic<std::uint64_t> frames_{0};
  mutable Mutex mutex_;
  std::map<Key, Sums> sums_ GUARDED_BY(mutex_);
};

}  // namespace lookout
