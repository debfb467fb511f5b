// Samples and traces the operators that LibTorch runs, by LibTorch's callbacks.
//
// LibTorch decides for each call of an operator at random whether it is sampled (`samplingProb` of
// a global callback): a call may be sampled while those it makes in turn are not, or the other way
// round. Self time must not depend on that. Therefore, while a sampled call runs, a second
// callback, of its thread alone, times every call within it, sampled or not. A sampled call's self
// time is then exact, the sum over all calls is that of the sampled ones divided by the
// probability, and neither is biased. The second callback costs time within sampled calls only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/core/classifier.h"
#include "pipeline/profile/operator_profile.h"

namespace lookout {

class Observation;

// While it lives, LibTorch samples operators on every thread in an OperatorScope with a profile.
class OperatorSampling {
 public:
  // All users of a profile share one registration; a process has one profile at a time. The first
  // call must come before, and the last release after, the threads that run LibTorch.
  static std::shared_ptr<OperatorSampling> of(const OperatorProfile& profile);

  explicit OperatorSampling(const OperatorProfile& profile);
  ~OperatorSampling();
  OperatorSampling(const OperatorSampling&) = delete;
  OperatorSampling& operator=(const OperatorSampling&) = delete;

 private:
  std::uint64_t handle_;  // of LibTorch's callback
};

// One run of a model. While it lives, the calling thread's operators are sampled for `profile`
// (null: not sampled) and recorded in the frame's trace (null: not traced).
class OperatorScope {
 public:
  // `model`, its name, outlives this.
  OperatorScope(OperatorProfile* profile, const FrameContext& frame, const std::string& model);
  ~OperatorScope();
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  std::unique_ptr<Observation> observation_;
};

}  // namespace lookout
