#include "pipeline/torch/operator_profile.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "pipeline/profile/trace.h"

namespace lookout {
namespace {

constexpr auto kContextKind = c10::DebugInfoKind::INFERENCE_CONTEXT;

// What a callback has to know of the run that it observes.
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
  Clock::duration inner{};  // what the calls that it made took
  Clock::time_point start;
};

// The calls that the thread is in: from the outermost sampled one inwards, all of them.
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

// A sampled call is seen by both callbacks, in whichever order LibTorch has them.
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
  // Where every call is sampled there is nothing else to see.
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

Clock::duration divided(Clock::duration sum, double probability) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, Clock::period>(sum) / probability);
}

}  // namespace

OperatorProfile::OperatorProfile(double probability, bool with_shapes)
    : probability_(probability), with_shapes_(with_shapes) {
  at::RecordFunctionCallback callback = operators(begin_sampled, end_call);
  callback.samplingProb(probability).needsInputs(with_shapes);
  handle_ = at::addGlobalCallback(callback);
}

OperatorProfile::~OperatorProfile() { at::removeCallback(handle_); }

void OperatorProfile::add(const Call& call) {
  const std::lock_guard lock(mutex_);
  Sums& sums = sums_[{std::string(call.model), std::string(call.name), std::string(call.shapes)}];
  ++sums.calls;
  sums.total += call.total;
  sums.self += call.self;
  if (call.total > sums.longest) {
    sums.longest = call.total;
    sums.longest_frame = call.frame;
  }
}

OperatorTable OperatorProfile::table() const {
  OperatorTable table;
  table.probability = probability_;
  table.with_shapes = with_shapes_;
  table.frames = frames_;
  Clock::duration all{};
  const std::lock_guard lock(mutex_);
  for (const auto& [key, sums] : sums_) all += sums.self;
  for (const auto& [key, sums] : sums_) {
    OperatorRow row;
    std::tie(row.model, row.name, row.shapes) = key;
    row.sampled = sums.calls;
    row.calls = static_cast<double>(sums.calls) / probability_;
    row.total = divided(sums.total, probability_);
    row.self = divided(sums.self, probability_);
    if (all.count() > 0) {
      row.share = static_cast<double>(sums.self.count()) / static_cast<double>(all.count());
    }
    row.longest = sums.longest;
    row.longest_frame = sums.longest_frame;
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return a.self > b.self; });
  return table;
}

// Members are destroyed in reverse: no callback sees an end of its context.
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

OperatorScope::OperatorScope(OperatorProfile* profile, const std::string& model) {
  const CurrentFrame frame = current_frame();
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
