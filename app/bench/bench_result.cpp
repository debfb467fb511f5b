#include "app/bench/bench_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/results/format.h"
#include "pipeline/results/throttled_source.h"

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
    const bool comparable = candidate.model.text("file") == result.model.text("file") &&
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
          {"throttled", or_null(state.throttled)},
          {"throttled_source", throttled_source(state)}};
}

Json to_json(const std::optional<BenchDevice>& device, int decimals) {
  if (!device) return {};
  return {{"name", device->name},
          {"calls", device->calls},
          {"fallback_calls", device->fallback_calls},
          {"bytes_moved", device->bytes_moved},
          {"fallback_share", rounded(device->fallback_share, decimals)}};
}

Json to_json(const std::optional<BenchStill>& still, int decimals) {
  if (!still) return {};
  Json pairs = Json::array();
  for (const BenchStill::Pair& pair : still->pairs) {
    pairs.push_back({{"cpu_ms_without", rounded(pair.cpu_ms_without, decimals)},
                     {"cpu_ms_with", rounded(pair.cpu_ms_with, decimals)},
                     {"reused_share", rounded(pair.reused, decimals)}});
  }
  const StillFigures figures = figures_of(*still);
  return {{"cpu_ms_without", rounded(figures.median.cpu_ms_without, decimals)},
          {"cpu_ms_with", rounded(figures.median.cpu_ms_with, decimals)},
          {"ratio", rounded(figures.ratio, decimals)},
          {"reused_share", rounded(figures.median.reused, decimals)},
          {"pairs", pairs}};
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

// Times and rates have so many decimals.
Json to_json(const BenchResult& result, int decimals) {
  const StatsSnapshot& stats = result.stats;
  const auto& spread = result.fps_spread;
  const auto number = [decimals](double value) { return rounded(value, decimals); };
  return {{"model", result.model.json},
          {"threads", result.threads},
          {"auto_threads", result.auto_threads},
          {"workers", result.workers},
          {"source", result.source},
          {"live", result.live},
          {"frames", stats.classified},
          {"dropped", stats.dropped},
          {"interval_s", number(std::chrono::duration<double>(stats.interval).count())},
          {"fps", number(stats.classified_fps)},
          {"fps_p10", spread ? Json(number(spread->low)) : Json()},
          {"fps_p90", spread ? Json(number(spread->high)) : Json()},
          {"camera_fps", number(stats.camera_fps)},
          {"total_ms", number(total_ms(result))},
          {"model_ms", number(to_ms(stats.inference.p50))},
          {"jitter", number(jitter(result))},
          {"pace_fps", or_null(result.pace)},
          {"cpu_ms", number(result.cpu_ms)},
          {"wakeups_per_s", number(result.wakeups_per_s)},
          {"resident_mb", number(result.resident_mb)},
          {"start_s", number(result.start_s)},
          {"latency_ms",
           {{"frame_age", to_json(stats.frame_age, decimals)},
            {"capture", to_json(stats.capture, decimals)},
            {"preprocess", to_json(stats.preprocess, decimals)},
            {"inference", to_json(stats.inference, decimals)},
            {"total", to_json(stats.total, decimals)}}},
          {"before", to_json(result.before)},
          {"after", to_json(result.after)},
          {"max_temperature_c", or_null(result.max_temperature)},
          {"complete", result.complete},
          {"device", to_json(result.device, decimals)},
          {"still", to_json(result.still, decimals)}};
}

template <typename Value>
std::optional<Value> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<Value>());
}

Clock::duration from_ms(const Json& json) {
  return std::chrono::round<Clock::duration>(
      std::chrono::duration<double, std::milli>(json.get<double>()));
}

Percentiles percentiles_of(const Json& json) {
  return {from_ms(json.at("p50")), from_ms(json.at("p95")), from_ms(json.at("p99")),
          from_ms(json.at("max"))};
}

MachineState state_of(const Json& json) {
  return {optional_of<double>(json.at("temperature_c")), optional_of<double>(json.at("clock_mhz")),
          optional_of<std::uint32_t>(json.at("throttled")),
          json.at("throttled_source") == "rpi_volt"};
}

std::optional<BenchDevice> device_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return BenchDevice{json.at("name"), json.at("calls"), json.at("fallback_calls"),
                     json.at("bytes_moved"), json.at("fallback_share")};
}

std::optional<BenchStill> still_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  BenchStill still;
  for (const Json& pair : json.at("pairs")) {
    still.pairs.push_back(
        {pair.at("cpu_ms_without"), pair.at("cpu_ms_with"), pair.at("reused_share")});
  }
  return still;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

BenchResult result_of(const Json& json) {
  BenchResult result;
  result.model = {json.at("model"), json.at("facts").get<Facts>()};
  result.threads = json.at("threads");
  result.auto_threads = json.at("auto_threads");
  result.workers = json.at("workers");
  result.source = json.at("source");
  result.live = json.at("live");
  result.pace = optional_of<double>(json.at("pace_fps"));
  result.cpu_ms = json.at("cpu_ms");
  result.wakeups_per_s = json.at("wakeups_per_s");
  result.resident_mb = json.at("resident_mb");
  result.start_s = json.at("start_s");
  if (!json.at("fps_p10").is_null()) result.fps_spread = {json.at("fps_p10"), json.at("fps_p90")};
  result.before = state_of(json.at("before"));
  result.after = state_of(json.at("after"));
  result.max_temperature = optional_of<double>(json.at("max_temperature_c"));
  result.complete = json.at("complete");
  result.device = device_of(json.at("device"));
  result.still = still_of(json.at("still"));
  StatsSnapshot& stats = result.stats;
  stats.classified = json.at("frames");
  stats.dropped = json.at("dropped");
  stats.interval = from_ms(1000 * json.at("interval_s").get<double>());
  stats.classified_fps = json.at("fps");
  stats.camera_fps = json.at("camera_fps");
  const Json& latency = json.at("latency_ms");
  stats.frame_age = percentiles_of(latency.at("frame_age"));
  stats.capture = percentiles_of(latency.at("capture"));
  stats.preprocess = percentiles_of(latency.at("preprocess"));
  stats.inference = percentiles_of(latency.at("inference"));
  stats.total = percentiles_of(latency.at("total"));
  return result;
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
  for (const BenchResult& result : report.results) names.insert(result.model.text("library"));
  return joined(names, ", ");
}

double total_ms(const BenchResult& result) { return ratio(1000, result.stats.classified_fps); }

double jitter(const BenchResult& result) {
  return ratio(to_ms(result.stats.total.p99), to_ms(result.stats.total.p50));
}

StillFigures figures_of(const BenchStill& still) {
  std::vector<double> without;
  std::vector<double> with;
  std::vector<double> reused;
  std::vector<double> ratios;
  for (const BenchStill::Pair& pair : still.pairs) {
    without.push_back(pair.cpu_ms_without);
    with.push_back(pair.cpu_ms_with);
    reused.push_back(pair.reused);
    ratios.push_back(ratio(pair.cpu_ms_with, pair.cpu_ms_without));
  }
  const auto [min, max] = std::minmax_element(ratios.begin(), ratios.end());
  return {{median_of(without), median_of(with), median_of(reused)}, median_of(ratios), *min, *max};
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

void disambiguate_names(std::vector<BenchResult>& results) {
  std::map<std::string, std::set<std::filesystem::path>> files;  // of each name
  for (const BenchResult& result : results) {
    files[result.model.text("name")].insert(result.model.text("file"));
  }
  for (BenchResult& result : results) {
    const std::string name = result.model.text("name");
    const auto& all = files[name];
    if (all.size() < 2) continue;
    const std::filesystem::path file = result.model.text("file");
    const auto alike = std::count_if(all.begin(), all.end(), [&file](const auto& other) {
      return other.filename() == file.filename();
    });
    result.model.json["name"] =
        fmt::format("{} ({})", name, (alike > 1 ? file : file.filename()).string());
  }
}

std::string to_message(const BenchResult& result) {
  constexpr int kDecimals = 9;
  Json json = to_json(result, kDecimals);
  json["facts"] = result.model.facts;
  return to_text(json);
}

BenchResult from_message(const std::string& message) {
  try {
    return result_of(parse_ordered_json(message));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kInternal,
                std::string("bench cannot read the message of its other process: ") + error.what());
  }
}

Json to_json(const BenchReport& report) {
  constexpr int kDecimals = 3;
  Json results = Json::array();
  for (const BenchResult& result : report.results) {
    results.push_back(to_json(result, kDecimals));
    results.back()["verdict"] = verdict(result, report.results);
  }
  return {{"schema", 1},
          {"type", "bench"},
          {"machine", to_json(report.machine)},
          {"complete", interruption(report).empty()},
          {"results", std::move(results)}};
}

}  // namespace lookout
