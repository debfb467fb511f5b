#include "pipeline/torch/call_observer.h"

#include <c10/core/Allocator.h>
#include <torch/version.h>

#include <utility>
#include <vector>

namespace lookout {
namespace {

constexpr auto kObserverKind = c10::DebugInfoKind::INFERENCE_CONTEXT;

// LibTorch gives it to threads that work is forked to.
struct CurrentObserver : c10::DebugInfoBase {
  explicit CurrentObserver(std::shared_ptr<CallObserver> current) : observer(std::move(current)) {}
  const std::shared_ptr<CallObserver> observer;
};

thread_local std::vector<ObservedCall> open_calls;

// Adds each allocation to the innermost open call. LibTorch reports them while one of these is the
// thread's PROFILER_STATE. Quantized operators take their outputs from an allocator that never
// reports that they are freed.
class Allocations : public c10::MemoryReportingInfoBase {
 public:
#if TORCH_VERSION_MAJOR >= 2
  using Total = std::size_t;
#else
  using Total = std::int64_t;
#endif
  void reportMemoryUsage(void* /*pointer*/, std::int64_t bytes, Total /*allocated*/,
                         Total /*reserved*/, c10::Device /*device*/) override {
    if (bytes <= 0 || open_calls.empty()) return;
    open_calls.back().bytes += static_cast<std::uint64_t>(bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }
};

// One for all threads: it has no state.
const std::shared_ptr<Allocations>& allocations() {
  static const auto shared = std::make_shared<Allocations>();
  return shared;
}

// Two callbacks may see a call, in an order that LibTorch decides.
void begin_call(const at::RecordFunction& function, bool sampled) {
  CallObserver* observer = CallObserver::current();
  if (observer == nullptr || !observer->takes(function, sampled)) return;
  auto& calls = open_calls;
  if (calls.empty() || calls.back().function != &function) {
    calls.emplace_back().function = &function;
  }
  ObservedCall& call = calls.back();
  call.sampled = call.sampled || sampled;
  observer->begin(call, sampled);
  call.start = Clock::now();
}

std::unique_ptr<at::ObserverContext> begin_any(const at::RecordFunction& function) {
  begin_call(function, false);
  return nullptr;
}

std::unique_ptr<at::ObserverContext> begin_sampled(const at::RecordFunction& function) {
  begin_call(function, true);
  return nullptr;
}

void end_call(const at::RecordFunction& function, at::ObserverContext* /*unused*/) {
  const auto now = Clock::now();
  auto& calls = open_calls;
  if (calls.empty() || calls.back().function != &function) return;
  const ObservedCall call = std::move(calls.back());
  calls.pop_back();
  if (!calls.empty()) calls.back().inner += now - call.start;
  if (call.watch != at::INVALID_CALLBACK_HANDLE) at::removeCallback(call.watch);
  if (CallObserver* observer = CallObserver::current()) observer->end(call, now);
}

at::RecordFunctionCallback report(at::RecordFunctionCallback::StartCallback start) {
  at::RecordFunctionCallback callback(start, end_call);
  callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
  return callback;
}

}  // namespace

CallObserver* CallObserver::current() {
  const auto* current =
      dynamic_cast<const CurrentObserver*>(c10::ThreadLocalDebugInfo::get(kObserverKind));
  return current == nullptr ? nullptr : current->observer.get();
}

std::size_t CallObserver::depth() { return open_calls.size(); }

const ObservedCall* CallObserver::outer_call() {
  return open_calls.size() > 1 ? &open_calls[open_calls.size() - 2] : nullptr;
}

at::RecordFunctionCallback report_all_calls() { return report(begin_any); }

at::RecordFunctionCallback report_samples(double probability) {
  return report(begin_sampled).samplingProb(probability);
}

Observation::Observation(std::shared_ptr<CallObserver> observer,
                         std::optional<at::RecordFunctionCallback> calls, bool count_allocations)
    : guard_(kObserverKind, std::make_shared<CurrentObserver>(std::move(observer))) {
  if (count_allocations) {
    allocations_.emplace(c10::DebugInfoKind::PROFILER_STATE, allocations());
  }
  if (calls) handle_ = at::addThreadLocalCallback(*calls);
}

Observation::~Observation() {
  if (handle_ != at::INVALID_CALLBACK_HANDLE) at::removeCallback(handle_);
}

PartsOfCall::PartsOfCall() { open_calls.emplace_back(); }

PartsOfCall::~PartsOfCall() { open_calls.pop_back(); }

}  // namespace lookout
