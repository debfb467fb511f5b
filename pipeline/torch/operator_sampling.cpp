#include "pipeline/torch/operator_sampling.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/version.h>

#include <optional>
#include <sstream>
#include <utility>

#include "pipeline/core/mutex.h"
#include "pipeline/profile/trace.h"
#include "pipeline/torch/operands.h"
#include "pipeline/torch/torch_graph.h"

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
  std::optional<std::string> layer;  // empty: not asked for yet
  Clock::duration inner{};           // total time of the calls that it made
  std::uint64_t bytes = 0;           // that it allocated itself
  Clock::time_point start;
};

// The calls that the thread is in: all of them, from the outermost sampled or traced one inwards.
struct OpenCalls {
  std::vector<OpenCall> stack;
  at::CallbackHandle watch = at::INVALID_CALLBACK_HANDLE;
};
thread_local OpenCalls open_calls;

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
    if (bytes <= 0 || open_calls.stack.empty()) return;
    open_calls.stack.back().bytes += static_cast<std::uint64_t>(bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }
};

// One for all threads: it has no state.
const std::shared_ptr<Allocations>& allocations() {
  static const auto shared = std::make_shared<Allocations>();
  return shared;
}

std::string shapes_of(const at::RecordFunction& function) {
  std::ostringstream text;
  const char* separator = "";
  for (const c10::IValue& operand : operands_of(function)) {
    for_each_tensor(operand, [&](const at::Tensor& tensor) {
      text << separator << tensor.sizes();
      separator = " ";
    });
  }
  return text.str();
}

// Operators that begin and end a label cost time of their own, and the label begins within the
// first and ends within the second. They count as a part of what is around them.
bool marks_label(const at::RecordFunction& function) {
  constexpr std::string_view kMarks = "profiler::_record_function_";
  return std::string_view(function.name()).substr(0, kMarks.size()) == kMarks;
}

bool is_label(const at::RecordFunction& function) {
  return function.scope() == at::RecordScope::USER_SCOPE;
}

// Both callbacks see a sampled call, in an order that LibTorch decides.
OpenCall& open_call(const at::RecordFunction& function) {
  auto& stack = open_calls.stack;
  if (stack.empty() || stack.back().function != &function) {
    stack.emplace_back().function = &function;
  }
  return stack.back();
}

// The call of a node makes others, which belong to the same node.
void set_layer(OpenCall& call) {
  if (call.layer) return;
  const auto& stack = open_calls.stack;
  const OpenCall* outer = stack.size() > 1 ? &stack[stack.size() - 2] : nullptr;
  if (outer != nullptr && outer->layer && !is_label(*outer->function)) {
    call.layer = outer->layer;
  } else {
    call.layer = current_layer();
  }
}

// Of all calls of a traced run, and of those within a sampled call.
std::unique_ptr<at::ObserverContext> begin_watched(const at::RecordFunction& function) {
  const Context* run = context();
  if (run == nullptr || marks_label(function)) return nullptr;
  if (run->trace == nullptr && open_calls.stack.empty()) return nullptr;
  OpenCall& call = open_call(function);
  if (run->trace != nullptr) set_layer(call);
  call.start = Clock::now();
  return nullptr;
}

void add_to_profile(const OpenCall& call, const Context& run, Clock::duration total) {
  OperatorProfile::Call measured;
  measured.model = run.model;
  measured.name = call.function->name();
  measured.is_label = is_label(*call.function);
  measured.shapes = call.shapes;
  const bool by_layer = run.profile->group() == OperatorGroup::kLayer;
  if (by_layer && call.layer) measured.layer = *call.layer;
  measured.frame = run.frame;
  measured.total = total;
  measured.self = total - call.inner;
  measured.bytes = call.bytes;
  run.profile->add(measured);
}

void add_to_trace(const OpenCall& call, const Context& run, Clock::time_point end) {
  run.trace->record_operator({{std::string(run.model), call.function->name(),
                               call.layer.value_or(""), is_label(*call.function)},
                              run.frame,
                              call.start,
                              end,
                              call.bytes});
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
  if (run == nullptr) return;
  if (call.sampled && run->profile != nullptr) add_to_profile(call, *run, total);
  if (run->trace != nullptr) add_to_trace(call, *run, now);
}

at::RecordFunctionCallback operators(at::RecordFunctionCallback::StartCallback start,
                                     at::RecordFunctionCallback::EndCallback end) {
  at::RecordFunctionCallback callback(start, end);
  callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
  return callback;
}

std::unique_ptr<at::ObserverContext> begin_sampled(const at::RecordFunction& function) {
  const Context* run = context();
  if (run == nullptr || run->profile == nullptr || marks_label(function)) return nullptr;
  auto& [stack, watch] = open_calls;
  // Nothing more has to be watched if every call is sampled, or traced anyhow.
  if (stack.empty() && run->profile->probability() < 1 && run->trace == nullptr) {
    watch = at::addThreadLocalCallback(operators(begin_watched, end_call));
  }
  OpenCall& call = open_call(function);
  call.sampled = true;
  if (run->profile->group() == OperatorGroup::kShape) call.shapes = shapes_of(function);
  if (run->profile->group() == OperatorGroup::kLayer || run->trace != nullptr) set_layer(call);
  call.start = Clock::now();
  return nullptr;
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
  callback.samplingProb(profile.probability())
      .needsInputs(profile.group() == OperatorGroup::kShape);
  handle_ = at::addGlobalCallback(callback);
}

OperatorSampling::~OperatorSampling() { at::removeCallback(handle_); }

// Members are destroyed in reverse order: the callback goes before the context that it reads.
struct OperatorScope::Guards {
  explicit Guards(const std::shared_ptr<Context>& run)
      : debug(kContextKind, run), memory(c10::DebugInfoKind::PROFILER_STATE, allocations()) {
    const bool all_are_sampled = run->profile != nullptr && run->profile->probability() >= 1;
    if (run->trace != nullptr && !all_are_sampled) {
      traced = at::addThreadLocalCallback(operators(begin_watched, end_call));
    }
  }
  ~Guards() {
    if (traced != at::INVALID_CALLBACK_HANDLE) at::removeCallback(traced);
  }
  Guards(const Guards&) = delete;
  Guards& operator=(const Guards&) = delete;

  c10::DebugInfoGuard debug;
  c10::DebugInfoGuard memory;
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
