#include "pipeline/torch/operator_sampling.h"

#include <sstream>
#include <string_view>

#include "pipeline/core/mutex.h"
#include "pipeline/profile/trace.h"
#include "pipeline/torch/call_observer.h"
#include "pipeline/torch/torch_graph.h"

namespace lookout {
namespace {

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

// One run of a model. Sampled calls, all calls within them, and all calls of a traced run are
// observed.
class ObservedRun : public CallObserver {
 public:
  ObservedRun(OperatorProfile* profile, const FrameContext& frame, std::string_view model)
      : profile_(profile), trace_(frame.trace), frame_(frame.sequence), model_(model) {}

  bool takes(const at::RecordFunction& function, bool sampled) override {
    if (marks_label(function)) return false;
    return sampled ? profile_ != nullptr : trace_ != nullptr || depth() > 0;
  }

  void begin(ObservedCall& call, bool sampled) override {
    if (sampled) {
      // Nothing more has to be watched if every call is sampled, or traced anyhow.
      if (depth() == 1 && profile_->probability() < 1 && trace_ == nullptr) {
        call.watch = at::addThreadLocalCallback(report_all_calls());
      }
      if (profile_->group() == OperatorGroup::kShape) call.shapes = shapes_of(*call.function);
      if (profile_->group() == OperatorGroup::kLayer) set_layer(call);
    }
    if (trace_ != nullptr) set_layer(call);
  }

  void end(const ObservedCall& call, Clock::time_point time) override {
    if (call.sampled && profile_ != nullptr) add_to_profile(call, time - call.start);
    if (trace_ != nullptr) {
      trace_->record_operator({{std::string(model_), call.function->name(), call.layer.value_or(""),
                                is_label(*call.function)},
                               frame_,
                               call.start,
                               time,
                               call.bytes});
    }
  }

 private:
  // The call of a node makes others, which belong to the same node.
  static void set_layer(ObservedCall& call) {
    if (call.layer) return;
    const ObservedCall* outer = outer_call();
    const bool same_node = outer != nullptr && outer->layer && !is_label(*outer->function);
    call.layer = same_node ? *outer->layer : current_layer();
  }

  void add_to_profile(const ObservedCall& call, Clock::duration total) {
    OperatorProfile::Call measured;
    measured.model = model_;
    measured.name = call.function->name();
    measured.is_label = is_label(*call.function);
    measured.shapes = call.shapes;
    const bool by_layer = profile_->group() == OperatorGroup::kLayer;
    if (by_layer && call.layer) measured.layer = *call.layer;
    measured.frame = frame_;
    measured.total = total;
    measured.self = total - call.inner;
    measured.bytes = call.bytes;
    profile_->add(measured);
  }

  OperatorProfile* profile_;
  Trace* trace_;
  std::uint64_t frame_;
  std::string_view model_;
};

}  // namespace

std::shared_ptr<OperatorSampling> OperatorSampling::of(const OperatorProfile& profile) {
  static Mutex mutex;
  static std::weak_ptr<OperatorSampling> shared;
  const MutexLock lock(mutex);
  std::shared_ptr<OperatorSampling> sampling = shared.lock();
  if (!sampling) shared = sampling = std::make_shared<OperatorSampling>(profile);
  return sampling;
}

OperatorSampling::OperatorSampling(const OperatorProfile& profile)
    : handle_(at::addGlobalCallback(report_samples(profile.probability())
                                        .needsInputs(profile.group() == OperatorGroup::kShape))) {}

OperatorSampling::~OperatorSampling() { at::removeCallback(handle_); }

OperatorScope::OperatorScope(OperatorProfile* profile, const FrameContext& frame,
                             const std::string& model) {
  if (profile == nullptr && frame.trace == nullptr) return;
  std::optional<at::RecordFunctionCallback> calls;
  const bool all_are_sampled = profile != nullptr && profile->probability() >= 1;
  if (frame.trace != nullptr && !all_are_sampled) calls = report_all_calls();
  observation_ = std::make_unique<Observation>(std::make_shared<ObservedRun>(profile, frame, model),
                                               calls, /*count_allocations=*/true);
  if (profile != nullptr) profile->add_frame();
}

OperatorScope::~OperatorScope() = default;

}  // namespace lookout
