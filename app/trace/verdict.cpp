#include "app/trace/verdict.h"

#include <fmt/format.h>

#include <algorithm>

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

bool has_stage(const ThreadTime& thread, Stage stage) {
  return std::any_of(thread.stages.begin(), thread.stages.end(),
                     [stage](const auto& entry) { return entry.first == to_text(stage); });
}

VerdictShares shares_of(const VerdictFacts& facts, const std::vector<ThreadTime>& threads) {
  IdleTime idle;
  StageTime stages;
  Clock::duration classifying{};
  Clock::duration writer{};
  for (const ThreadTime& thread : threads) {
    const bool classifies = has_stage(thread, Stage::kPreprocess);
    const bool reports = has_stage(thread, Stage::kReport);
    if (classifies) {
      add_time(thread.idle.camera, idle.camera);
      add_time(thread.idle.capture, idle.capture);
      add_time(facts.duration, classifying);
    }
    if (reports) add_time(thread.in_stages().writer, writer);
    if (classifies || reports) stages.add(thread.in_stages());
  }
  VerdictShares shares;
  shares.camera = share_of(idle.camera, classifying);
  shares.capture = share_of(idle.capture, classifying);
  shares.writer = share_of(writer, facts.duration);
  shares.processor = share_of(stages.not_run, stages.wall());
  return shares;
}

// The camera comes first: as long as the model waits for frames, nothing else changes the rate.
Limit limit_of(const VerdictShares& shares) {
  if (shares.camera >= kWaits && shares.camera >= shares.capture) return Limit::kCamera;
  if (shares.writer >= kWaits && shares.writer >= shares.processor) return Limit::kWriter;
  if (shares.throttled >= kThrottled) return Limit::kThrottled;
  if (shares.processor >= kLacksProcessor) return Limit::kProcessor;
  return shares.capture >= kWaits ? Limit::kCapture : Limit::kModel;
}

double percent(double share) { return 100 * share; }

std::string throttled_sentence(const ThrottledShare& throttled) {
  std::string text = fmt::format(
      "Throttled: in {:.0f} % of the samples the firmware had lowered "
      "the clock",
      percent(throttled.share));
  if (throttled.lowest_mhz > 0) text += fmt::format(", to {:.0f} MHz", throttled.lowest_mhz);
  if (throttled.hottest > 0) text += fmt::format(", at up to {:.1f} °C", throttled.hottest);
  return text + ".";
}

std::string sentence_of(Limit limit, const VerdictShares& shares, const VerdictFacts& facts,
                        const ThrottledShare& throttled) {
  const double fps = facts.fps;
  switch (limit) {
    case Limit::kCamera:
      return fmt::format(
          "Limited by the camera: the model waited for it {:.0f} % of the time, at {:.1f} frames "
          "a second.",
          percent(shares.camera), fps);
    case Limit::kCapture:
      return fmt::format(
          "Limited by the capture: the model waited {:.0f} % of the time while a frame was "
          "copied, converted or decoded, at {:.1f} frames a second.",
          percent(shares.capture), fps);
    case Limit::kWriter:
      return fmt::format(
          "Limited by the writer: {:.0f} % of the time went into waiting for whoever reads the "
          "results, at {:.1f} frames a second.",
          percent(shares.writer), fps);
    case Limit::kThrottled:
      return throttled_sentence(throttled);
    case Limit::kProcessor:
      return fmt::format(
          "Limited by the processor: for {:.0f} % of the time of the stages the thread did not "
          "run, mostly since other threads or programs had the processors; {:.1f} frames a second.",
          percent(shares.processor), fps);
    case Limit::kModel:
      return fmt::format(
          "Limited by the model: its thread waited for the camera {:.0f} % of the time; a frame "
          "took {:.1f} ms in the median, {:.1f} frames a second.",
          percent(shares.camera), to_ms(facts.total.p50), fps);
    case Limit::kUnknown:
      break;
  }
  if (facts.frames == 0) return "A trace of PyTorch without steps: it has operators alone.";
  return fmt::format(
      "A trace of PyTorch, without the stages of frames: {} step{}, {:.1f} ms in the "
      "median.",
      facts.frames, facts.frames == 1 ? "" : "s", to_ms(facts.total.p50));
}

}  // namespace

const char* to_text(Limit limit) {
  switch (limit) {
    case Limit::kUnknown:
      return "unknown";
    case Limit::kCamera:
      return "camera";
    case Limit::kCapture:
      return "capture";
    case Limit::kWriter:
      return "writer";
    case Limit::kThrottled:
      return "throttled";
    case Limit::kProcessor:
      return "processor";
    case Limit::kModel:
      return "model";
  }
  return "";
}

Verdict find_verdict(const VerdictFacts& facts, const std::vector<ThreadTime>& threads,
                     const std::vector<CounterSummary>& counters) {
  Verdict verdict;
  const ThrottledShare throttled = throttled_share(counters);
  if (!facts.by_pytorch) {
    verdict.shares = shares_of(facts, threads);
    verdict.shares.throttled = throttled.share;
    verdict.limit = limit_of(verdict.shares);
  }
  verdict.sentence = sentence_of(verdict.limit, verdict.shares, facts, throttled);
  const bool may_lack = verdict.limit == Limit::kModel || verdict.limit == Limit::kCapture;
  if (may_lack && !facts.has_cpu_times) {
    verdict.sentence += " The trace has no CPU times, so a lack of processors cannot be told.";
  }
  return verdict;
}

}  // namespace lookout
