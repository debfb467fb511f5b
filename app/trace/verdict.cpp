#include "app/trace/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/trace/trace_summary.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// Less waiting than this changes the rate by less than cameras and rooms vary.
constexpr double kWaits = 0.1;
// Interrupts, page faults and, with several computing threads, waiting for the slowest of them take
// up to a fifth of a stage on an idle machine.
constexpr double kLacksProcessor = 0.25;
// The firmware's bits change several times a second near the limit; single ones cost little.
constexpr double kThrottled = 0.1;

// Null when the trace has no such counter.
const CounterSummary* find_counter(const TraceSummary& summary, const char* name) {
  const auto& counters = summary.counters;
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [name](const auto& counter) { return counter.name == name; });
  return found == counters.end() ? nullptr : &*found;
}

// The share of the samples in which the firmware had lowered the clock: it was capped, throttled,
// or at the soft limit of temperature.
double throttled_share(const TraceSummary& summary) {
  constexpr std::uint32_t kSlowedNow = 0b1110;
  const CounterSummary* bits = find_counter(summary, "throttled");
  if (bits == nullptr) return 0;
  const auto slowed = std::count_if(bits->values.begin(), bits->values.end(), [](const auto& v) {
    return v.second > 0 && v.second < 4e9 &&
           (static_cast<std::uint32_t>(v.second) & kSlowedNow) != 0;
  });
  return static_cast<double>(slowed) / static_cast<double>(bits->count);
}

VerdictShares find_shares(const TraceSummary& summary) {
  VerdictShares shares;
  int classifying = 0;
  StageTime reporting;
  StageTime stages;
  for (const ThreadTime& thread : summary.threads) {
    const bool classifies = thread.stages.count(to_text(Stage::kPreprocess)) > 0;
    const bool reports = thread.stages.count(to_text(Stage::kReport)) > 0;
    if (classifies) {
      ++classifying;
      shares.camera += share_of(thread.idle.camera, summary.duration);
      shares.capture += share_of(thread.idle.capture, summary.duration);
    }
    if (reports) reporting.add(thread.in_stages());
    if (classifies || reports) stages.add(thread.in_stages());
  }
  shares.camera /= std::max(1, classifying);
  shares.capture /= std::max(1, classifying);
  shares.writer = share_of(reporting.writer, summary.duration);
  shares.processor = share_of(stages.off_cpu, stages.wall());
  shares.throttled = throttled_share(summary);
  return shares;
}

// The camera comes first: as long as the model waits for frames, nothing else changes the rate.
Limit find_limit(const VerdictShares& shares) {
  if (shares.camera >= kWaits && shares.camera >= shares.capture) return Limit::kCamera;
  if (shares.writer >= kWaits && shares.writer >= shares.processor) return Limit::kWriter;
  if (shares.throttled >= kThrottled) return Limit::kThrottled;
  if (shares.processor >= kLacksProcessor) return Limit::kProcessor;
  return shares.capture >= kWaits ? Limit::kCapture : Limit::kModel;
}

std::string throttled_sentence(const TraceSummary& summary, double share) {
  std::string text = fmt::format(
      "Throttled: in {:.0f} % of the samples the firmware had lowered the clock", 100 * share);
  const CounterSummary* clock = find_counter(summary, "clock");
  const CounterSummary* celsius = find_counter(summary, "temperature");
  if (clock != nullptr && clock->min > 0) text += fmt::format(", to {:.0f} MHz", clock->min);
  if (celsius != nullptr && celsius->max > 0) {
    text += fmt::format(", at up to {:.1f} °C", celsius->max);
  }
  return text + ".";
}

std::string verdict_sentence(const TraceSummary& summary, const Verdict& verdict) {
  const VerdictShares& shares = verdict.shares;
  const double median = to_ms(summary.total().p50);
  switch (verdict.limit) {
    case Limit::kCamera:
      return fmt::format(
          "Limited by the camera: the model waited for it {:.0f} % of the time, at {:.1f} frames "
          "a second.",
          100 * shares.camera, summary.fps);
    case Limit::kCapture:
      return fmt::format(
          "Limited by the capture: the model waited {:.0f} % of the time while a frame was "
          "copied, converted or decoded, at {:.1f} frames a second.",
          100 * shares.capture, summary.fps);
    case Limit::kWriter:
      return fmt::format(
          "Limited by the writer: {:.0f} % of the time went into waiting for whoever reads the "
          "results, at {:.1f} frames a second.",
          100 * shares.writer, summary.fps);
    case Limit::kThrottled:
      return throttled_sentence(summary, shares.throttled);
    case Limit::kProcessor:
      return fmt::format(
          "Limited by the processor: for {:.0f} % of the time of the stages the thread did not "
          "run, mostly since other threads or programs had the processors; {:.1f} frames a second.",
          100 * shares.processor, summary.fps);
    case Limit::kModel:
      return fmt::format(
          "Limited by the model: its thread waited for the camera {:.0f} % of the time; a frame "
          "took {:.1f} ms in the median, {:.1f} frames a second.",
          100 * shares.camera, median, summary.fps);
    case Limit::kUnknown:
      break;
  }
  const std::size_t steps = summary.frames.size();
  if (steps == 0) return "A trace of PyTorch without steps: it has operators alone.";
  return fmt::format(
      "A trace of PyTorch, without the stages of frames: {} step{}, {:.1f} ms in the median.",
      steps, steps == 1 ? "" : "s", median);
}

}  // namespace

const char* to_text(Limit limit) {
  constexpr std::array kNames{"unknown",   "camera",    "capture", "writer",
                              "throttled", "processor", "model"};
  return kNames.at(static_cast<std::size_t>(limit));
}

Verdict find_verdict(const TraceSummary& summary) {
  Verdict verdict;
  if (!summary.by_pytorch) {
    verdict.shares = find_shares(summary);
    verdict.limit = find_limit(verdict.shares);
  }
  verdict.sentence = verdict_sentence(summary, verdict);
  const bool may_lack = verdict.limit == Limit::kModel || verdict.limit == Limit::kCapture;
  if (may_lack && !summary.has_cpu_times) {
    verdict.sentence += " The trace has no CPU times, so a lack of processors cannot be told.";
  }
  return verdict;
}

}  // namespace lookout
