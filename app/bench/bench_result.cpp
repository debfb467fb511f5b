#include "app/bench/bench_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// Rates and times that differ by less count as equal: two runs of one combination differ by as
// much.
constexpr double kSame = 0.03;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

double busy_ms(const BenchResult& result) {
  return to_ms(result.stats.preprocess.p50) + to_ms(result.stats.inference.p50);
}

// The firmware's events that happened during the measurement.
std::vector<std::string> throttling(const BenchResult& result) {
  constexpr std::uint32_t kNow = 0xF;
  constexpr int kSinceTheStart = 16;
  const std::uint32_t before = result.before.throttled.value_or(0);
  const std::uint32_t after = result.after.throttled.value_or(0);
  const std::uint32_t now = (before | after) & kNow;
  const std::uint32_t meanwhile = (after & ~before) >> kSinceTheStart & kNow & ~now;
  return throttling_words(now | meanwhile << kSinceTheStart);
}

// The best of `all` that is as fast with a smaller `count` and the same `other`; null when there is
// none.
const BenchResult* better_with_less(const BenchResult& result, const std::vector<BenchResult>& all,
                                    int BenchResult::*count, int BenchResult::*other) {
  const BenchResult* best = nullptr;
  for (const BenchResult& candidate : all) {
    const bool comparable = candidate.model.file == result.model.file &&
                            candidate.*other == result.*other && candidate.*count < result.*count;
    const bool as_fast =
        candidate.stats.classified_fps >= (1 - kSame) * result.stats.classified_fps &&
        candidate.stats.total.p50 <= result.stats.total.p50 * (1 + kSame);
    if (!comparable || !as_fast) continue;
    if (best == nullptr || candidate.stats.classified_fps > best->stats.classified_fps) {
      best = &candidate;
    }
  }
  return best;
}

std::string limit(const BenchResult& result) {
  const StatsSnapshot& stats = result.stats;
  const double capture = to_ms(stats.capture.p50);
  const double preprocess = to_ms(stats.preprocess.p50);
  const double inference = to_ms(stats.inference.p50);
  if (result.live && stats.classified_fps >= (1 - kSame) * stats.camera_fps) {
    return fmt::format("camera-limited: all of its {:.1f} fps are classified, {:.1f} could be",
                       stats.camera_fps, ratio(1000.0 * result.workers, busy_ms(result)));
  }
  if (capture > (preprocess + inference) / result.workers) {
    return fmt::format("source-limited: reading a frame takes {:.1f} ms", capture);
  }
  if (preprocess > inference) {
    return fmt::format("preprocessing-limited: it takes {:.1f} ms, the model {:.1f}", preprocess,
                       inference);
  }
  const std::string of_the_camera =
      result.live ? fmt::format(", {:.1f} of the camera's {:.1f} fps are classified",
                                stats.classified_fps, stats.camera_fps)
                  : "";
  return fmt::format("model-limited: inference is {:.0f} % of the work on a frame{}",
                     100 * ratio(inference, capture + busy_ms(result)), of_the_camera);
}

// ---- JSON

Json to_json(const MachineState& state) {
  return {{"temperature_c", or_null(state.temperature)},
          {"clock_mhz", or_null(state.clock_mhz)},
          {"throttled", or_null(state.throttled)}};
}

Json to_json(const BenchModel& model) {
  return {{"name", model.name},
          {"file", model.file},
          {"sha256", model.sha256},
          {"input", model.input},
          {"activations", model.activations},
          {"kernels", model.kernels},
          {"engine", model.engine},
          {"library", model.library},
          {"quantization", model.quantization},
          {"producer", model.producer},
          {"trained", model.trained},
          {"operators", model.operators}};
}

Json to_json(const std::optional<BenchDevice>& device) {
  if (!device) return {};
  return {{"name", device->name},
          {"calls", device->calls},
          {"fallback_calls", device->fallback_calls},
          {"bytes_moved", device->bytes_moved},
          {"fallback_share", rounded(device->fallback_share)}};
}

Json to_json(const BenchMachine& machine) {
  const SystemInfo& system = machine.system;
  return {{"kind", machine.kind},
          {"board", system.board},
          {"cpu", system.cpu},
          {"processors", machine.processors},
          {"memory_kb", or_null(system.memory_kb)},
          {"system", system.system},
          {"kernel", system.kernel},
          {"governor", system.governor},
          {"highest_clock_mhz", or_null(system.highest_clock_mhz)},
          {"lookout", machine.lookout}};
}

Json to_json(const BenchResult& result, const std::vector<BenchResult>& all) {
  const StatsSnapshot& stats = result.stats;
  const auto& spread = result.fps_spread;
  return {{"model", to_json(result.model)},
          {"threads", result.threads},
          {"auto_threads", result.auto_threads},
          {"workers", result.workers},
          {"source", result.source},
          {"live", result.live},
          {"frames", stats.classified},
          {"dropped", stats.dropped},
          {"interval_s", rounded(std::chrono::duration<double>(stats.interval).count())},
          {"fps", rounded(stats.classified_fps)},
          {"fps_p10", or_null(spread ? std::optional(rounded(spread->low)) : std::nullopt)},
          {"fps_p90", or_null(spread ? std::optional(rounded(spread->high)) : std::nullopt)},
          {"camera_fps", rounded(stats.camera_fps)},
          {"total_ms", rounded(total_ms(result))},
          {"model_ms", rounded(to_ms(stats.inference.p50))},
          {"jitter", rounded(jitter(result))},
          {"cpu_ms", rounded(result.cpu_ms)},
          {"resident_mb", rounded(result.resident_mb)},
          {"start_s", rounded(result.start_s)},
          {"latency_ms",
           {{"frame_age", to_json(stats.frame_age)},
            {"capture", to_json(stats.capture)},
            {"preprocess", to_json(stats.preprocess)},
            {"inference", to_json(stats.inference)},
            {"total", to_json(stats.total)}}},
          {"before", to_json(result.before)},
          {"after", to_json(result.after)},
          {"complete", result.complete},
          {"device", to_json(result.device)},
          {"verdict", verdict(result, all)}};
}

}  // namespace

std::string interruption(const BenchReport& report) {
  const auto complete =
      static_cast<std::size_t>(std::count_if(report.results.begin(), report.results.end(),
                                             [](const auto& result) { return result.complete; }));
  const std::size_t all = report.results.size() + report.missing;
  if (complete == all) return {};
  return fmt::format("interrupted: {} of {} combination{}", complete, all, all == 1 ? "" : "s");
}

std::string libraries(const BenchReport& report) {
  std::set<std::string> names;
  for (const BenchResult& result : report.results) names.insert(result.model.library);
  return joined(names, ", ");
}

double total_ms(const BenchResult& result) { return ratio(1000, result.stats.classified_fps); }

double jitter(const BenchResult& result) {
  return ratio(to_ms(result.stats.total.p99), to_ms(result.stats.total.p50));
}

std::optional<RateSpread> spread_of(std::vector<double> rates) {
  constexpr std::size_t kFewest = 5;
  if (rates.size() < kFewest) return std::nullopt;
  std::sort(rates.begin(), rates.end());
  const std::size_t tenth = rates.size() / 10;
  return RateSpread{rates[tenth], rates[rates.size() - 1 - tenth]};
}

std::string verdict(const BenchResult& result, const std::vector<BenchResult>& all) {
  const auto slowed = throttling(result);
  if (!slowed.empty()) {
    return fmt::format("throttled: {}; measure again with better cooling or power",
                       joined(slowed, ", "));
  }
  if (const auto* better =
          better_with_less(result, all, &BenchResult::threads, &BenchResult::workers)) {
    return fmt::format("too many threads: {} is better", better->threads);
  }
  if (const auto* better =
          better_with_less(result, all, &BenchResult::workers, &BenchResult::threads)) {
    return fmt::format("too many workers: {} is better", better->workers);
  }
  return limit(result);
}

std::string to_json(const BenchReport& report) {
  Json results = Json::array();
  for (const BenchResult& result : report.results) {
    results.push_back(to_json(result, report.results));
  }
  const Json json{{"schema", 1},
                  {"type", "bench"},
                  {"machine", to_json(report.machine)},
                  {"complete", interruption(report).empty()},
                  {"results", std::move(results)}};
  return to_text(json) + "\n";
}

}  // namespace lookout
