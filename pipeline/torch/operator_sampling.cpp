#include "pipeline/torch/operator_sampling.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <sstream>
#include <utility>

#include "pipeline/mutex.h"
#include "pipeline/profile/trace.h"

namespace lookout {
namespace {

constexpr auto kContextKind = c10::DebugInfoKind::INFERENCE_CONTEXT;

// The run that a callback observes.
struct Context : c10::DebugInfoBase {
  OperatorProfile* profile = nullptr;
  Trace* trace = nullptr;
  std::uint64_t frame = 0;
  std::string_view model;
};

const Context* context() {
  return dynamic_cast<const Context*>(c10::ThreadLocalDebugInfo::get(kContextKind));
}

// A call that began and has not ended.
struct OpenCall {
  const at::RecordFunction* function = nullptr;
  bool sampled = false;
  std::string shapes;
  Clock::duration inner{};  // total time of the calls that it made
  Clock::time_point start;
};

// The calls that the thread is in: all of them, from the outermost sampled one inwards.
struct OpenCalls {
  std::vector<OpenCall> stack;
  at::CallbackHandle watch = at::INVALID_CALLBACK_HANDLE;
};
thread_local OpenCalls open_calls;

std::string shapes_of(const at::RecordFunction& function) {
  std::ostringstream text;
  const char* separator = "";
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    text << separator << input.toTensor().sizes();
    separator = " ";
  }
  return text.str();
}

// Both callbacks see a sampled call, in an order that LibTorch decides.
OpenCall& open_call(const at::RecordFunction& function) {
  auto& stack = open_calls.stack;
  if (stack.empty() || stack.back().function != &function) {
    stack.emplace_back().function = &function;
  }
  return stack.back();
}

std::unique_ptr<at::ObserverContext> begin_watched(const at::RecordFunction& function) {
  if (!open_calls.stack.empty()) open_call(function).start = Clock::now();
  return nullptr;
}

void end_call(const at::RecordFunction& function, at::ObserverContext* /*unused*/) {
  const auto now = Clock::now();
  auto& [stack, watch] = open_calls;
  if (stack.empty() || stack.back().function != &function) return;
  const OpenCall call = std::move(stack.back());
  stack.pop_back();
  const Clock::duration total = now - call.start;
  if (!stack.empty()) {
    stack.back().inner += total;
  } else if (watch != at::INVALID_CALLBACK_HANDLE) {
    at::removeCallback(std::exchange(watch, at::INVALID_CALLBACK_HANDLE));
  }
  const Context* run = context();
  if (!call.sampled || run == nullptr || run->profile == nullptr) return;
  run->profile->add(
      {run->model, function.name(), call.shapes, run->frame, total, total - call.inner});
}

at::RecordFunctionCallback operators(at::RecordFunctionCallback::StartCallback start,
                                     at::RecordFunctionCallback::EndCallback end) {
  at::RecordFunctionCallback callback(start, end);
  callback.scopes({at::RecordScope::FUNCTION});
  return callback;
}

std::unique_ptr<at::ObserverContext> begin_sampled(const at::RecordFunction& function) {
  const Context* run = context();
  if (run == nullptr || run->profile == nullptr) return nullptr;
  auto& [stack, watch] = open_calls;
  // If every call is sampled, there is no other call to watch.
  if (stack.empty() && run->profile->probability() < 1) {
    watch = at::addThreadLocalCallback(operators(begin_watched, end_call));
  }
  OpenCall& call = open_call(function);
  call.sampled = true;
  if (run->profile->with_shapes()) call.shapes = shapes_of(function);
  call.start = Clock::now();
  return nullptr;
}

struct TracedCall : at::ObserverContext {
  Clock::time_point start;
};

std::unique_ptr<at::ObserverContext> begin_traced(const at::RecordFunction& /*function*/) {
  auto call = std::make_unique<TracedCall>();
  call->start = Clock::now();
  return call;
}

void end_traced(const at::RecordFunction& function, at::ObserverContext* call) {
  const auto now = Clock::now();
  const Context* run = context();
  if (run == nullptr || run->trace == nullptr || call == nullptr) return;
  run->trace->record_operator(run->model, function.name(), run->frame,
                              static_cast<TracedCall*>(call)->start, now);
}

}  // namespace

std::shared_ptr<OperatorSampling> OperatorSampling::of(const OperatorProfile& profile) {
  static Mutex mutex;
  static std::weak_ptr<OperatorSampling> shared;
  const MutexLock lock(mutex);
  std::shared_ptr<OperatorSampling> sampling = shared.lock();
  if (!sampling) shared = sampling = std::make_shared<OperatorSampling>(profile);
  return sampling;
}

OperatorSampling::OperatorSampling(const OperatorProfile& profile) {
  at::RecordFunctionCallback callback = operators(begin_sampled, end_call);
  callback.samplingProb(profile.probability()).needsInputs(profile.with_shapes());
  handle_ = at::addGlobalCallback(callback);
}

OperatorSampling::~OperatorSampling() { at::removeCallback(handle_); }

// Members are destroyed in reverse order: the callback goes before the context that it reads.
struct OperatorScope::Guards {
  explicit Guards(const std::shared_ptr<Context>& run) : debug(kContextKind, run) {
    if (run->trace != nullptr) {
      traced = at::addThreadLocalCallback(operators(begin_traced, end_traced));
    }
  }
  ~Guards() {
    if (traced != at::INVALID_CALLBACK_HANDLE) at::removeCallback(traced);
  }
  Guards(const Guards&) = delete;
  Guards& operator=(const Guards&) = delete;

  c10::DebugInfoGuard debug;
  at::CallbackHandle traced = at::INVALID_CALLBACK_HANDLE;
};

OperatorScope::OperatorScope(OperatorProfile* profile, const FrameContext& frame,
                             const std::string& model) {
  if (profile == nullptr && frame.trace == nullptr) return;
  auto run = std::make_shared<Context>();
  run->profile = profile;
  run->trace = frame.trace;
  run->frame = frame.sequence;
  run->model = model;
  guards_ = std::make_unique<Guards>(run);
  if (profile != nullptr) profile->add_frame();
}

OperatorScope::~OperatorScope() = default;

}  // namespace lookout
