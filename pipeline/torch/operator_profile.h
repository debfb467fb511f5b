// Which of LibTorch's operators take the time, from a sampled share of their calls. No LibTorch
// here.
//
// LibTorch draws lots for each call of an operator by itself (`samplingProb` of a global callback),
// so that a call is sampled and those it makes in turn are not, or the other way round. Self time
// must not depend on that: while a sampled call runs, a second callback, of its thread alone, times
// every call in it, sampled or not. A sampled call's self time is therefore exact, that of all
// calls its sum divided by the probability, and neither is biased whatever the probability. The
// second callback costs time within sampled calls only.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "pipeline/frame.h"
#include "pipeline/results/operator_table.h"

namespace lookout {

// While it lives, LibTorch's operators are sampled, on every thread in an OperatorScope of it.
// One at a time in a process; made before and destroyed after the threads that run LibTorch.
class OperatorProfile {
 public:
  // `probability`: of a call to be measured, above 0, up to 1.
  explicit OperatorProfile(double probability, bool with_shapes = false);
  ~OperatorProfile();
  OperatorProfile(const OperatorProfile&) = delete;
  OperatorProfile& operator=(const OperatorProfile&) = delete;

  // Any thread.
  OperatorTable table() const;

  double probability() const { return probability_; }
  bool with_shapes() const { return with_shapes_; }

  // For what observes LibTorch. Any thread.
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
    Clock::duration longest{};
    std::uint64_t longest_frame = 0;
  };

  const double probability_;
  const bool with_shapes_;
  std::uint64_t handle_ = 0;  // of LibTorch's callback
  std::atomic<std::uint64_t> frames_{0};
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, std::string>, Sums> sums_;  // model, name, shapes
};

// One run of a model: while it lives, the calling thread's operators are sampled for `profile`, if
// there is one, and recorded in the trace of the frame that the thread works on (current_frame() of
// trace.h), if that is traced. Does nothing otherwise.
class OperatorScope {
 public:
  // `model`, its name, outlives this.
  OperatorScope(OperatorProfile* profile, const std::string& model);
  ~OperatorScope();
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  struct Guards;
  std::unique_ptr<Guards> guards_;
};

}  // namespace lookout
