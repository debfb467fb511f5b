// Observes the calls of operators that LibTorch makes: all callbacks for them are registered here.
// Included by pipeline/torch/*.cpp only.
//
// A call makes others in turn. Those that are observed and have not ended lie on a stack of their
// thread, from the outermost inwards; each observer decides which calls get there.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"

namespace lookout {

// A call that began and has not ended. An observer fills in what it wants to know at the end.
struct ObservedCall {
  const at::RecordFunction* function = nullptr;  // null: of a PartsOfCall
  bool sampled = false;
  Clock::time_point start;
  Clock::duration inner{};  // total time of the observed calls that it made
  std::uint64_t bytes = 0;  // that it allocated itself, with CallObserver::count_allocations()
  std::string shapes;
  std::optional<std::string> layer;                        // empty: not asked for yet
  at::CallbackHandle watch = at::INVALID_CALLBACK_HANDLE;  // removed when the call ends
};

// Its functions are called by the threads that make the calls.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  // Of the calling thread; null: there is none.
  static CallObserver* current();

  // Whether a call is observed. `sampled`: a callback for samples asks, not one for all calls; for
  // one call both may.
  virtual bool takes(const at::RecordFunction& function, bool sampled) = 0;
  // The call is the last on the stack; its time starts afterwards. `sampled` as of takes().
  virtual void begin(ObservedCall& call, bool sampled) = 0;
  // The call is on the stack no more.
  virtual void end(const ObservedCall& call, Clock::time_point time) = 0;

 protected:
  // How many calls lie on the stack of the calling thread.
  static std::size_t depth();
  // That in which the last call on the stack was made; null: there is none.
  static const ObservedCall* outer_call();
};

// What LibTorch is asked to report: all calls of a thread, or samples of the calls of all threads.
// These ask for no operands; results need operands, too.
at::RecordFunctionCallback report_all_calls();
at::RecordFunctionCallback report_samples(double probability);

// While it lives, `observer` is that of the calling thread, and of threads that it forks work to.
class Observation {
 public:
  // `calls`: of report_all_calls(); nothing: what others register reports the calls.
  Observation(std::shared_ptr<CallObserver> observer,
              std::optional<at::RecordFunctionCallback> calls, bool count_allocations = false);
  // The observer outlives this.
  Observation(CallObserver& observer, const at::RecordFunctionCallback& calls)
      : Observation(std::shared_ptr<CallObserver>(std::shared_ptr<void>(), &observer), calls) {}
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  // Destroyed in reverse order: the callback goes before the observer that it reads.
  c10::DebugInfoGuard guard_;
  std::optional<c10::DebugInfoGuard> allocations_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

// While it lives, the calls of its thread are made by a call that LibTorch does not report.
class PartsOfCall {
 public:
  PartsOfCall();
  ~PartsOfCall();
  PartsOfCall(const PartsOfCall&) = delete;
  PartsOfCall& operator=(const PartsOfCall&) = delete;
};

// Whether it is a label in a model's code (torch.autograd.profiler.record_function), not an
// operator.
inline bool is_label(const at::RecordFunction& function) {
  return function.scope() == at::RecordScope::USER_SCOPE;
}

// Calls `use` with each tensor in the value, also in lists and tuples.
template <typename Use>
void for_each_tensor(const c10::IValue& value, const Use& use) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) use(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) for_each_tensor(element, use);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, use);
  }
}

// The operands, if a callback has needsInputs. LibTorch gives it the interpreter's whole stack, on
// which the operands lie last (Dispatcher::callBoxed).
inline c10::ArrayRef<const c10::IValue> operands_of(const at::RecordFunction& function) {
  const auto stack = function.inputs();
  const std::size_t count = std::min(stack.size(), function.num_inputs());
  return stack.slice(stack.size() - count);
}

}  // namespace lookout
