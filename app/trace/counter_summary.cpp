#include "app/trace/counter_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pipeline/results/format.h"

namespace lookout {
namespace {

struct Weighted {
  double value = 0;
  double weight = 0;  // ms for which it held
};

double quantile(const std::vector<Weighted>& sorted, double whole, double share) {
  double before = 0;
  for (const auto& [value, weight] : sorted) {
    before += weight;
    if (before >= share * whole) return value;
  }
  return sorted.back().value;
}

// Values that held for no time at all still count when all of them did.
std::vector<Weighted> weigh(const CounterSummary& counter, TraceTime end) {
  std::vector<Weighted> weighted;
  double whole = 0;
  for (std::size_t i = 0; i < counter.values.size(); ++i) {
    const auto& [time, value] = counter.values[i];
    const TraceTime until = i + 1 < counter.values.size() ? counter.values[i + 1].first : end;
    weighted.push_back({value, std::max(0.0, to_ms(until) - to_ms(time))});
    whole += weighted.back().weight;
  }
  if (whole <= 0) {
    for (auto& [value, weight] : weighted) weight = 1;
  }
  std::sort(weighted.begin(), weighted.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  return weighted;
}

void fill(TraceTime end, CounterSummary& counter) {
  const std::vector<Weighted> weighted = weigh(counter, end);
  double whole = 0;
  double sum = 0;
  for (const auto& [value, weight] : weighted) {
    whole += weight;
    sum += value * weight;
  }
  counter.count = weighted.size();
  counter.min = weighted.front().value;
  counter.max = weighted.back().value;
  counter.mean = sum / whole;
  double squares = 0;
  for (const auto& [value, weight] : weighted) {
    squares += weight * (value - counter.mean) * (value - counter.mean);
  }
  counter.deviation = std::sqrt(squares / whole);
  counter.p25 = quantile(weighted, whole, 0.25);
  counter.p50 = quantile(weighted, whole, 0.50);
  counter.p75 = quantile(weighted, whole, 0.75);
}

bool is_of_frames(const CounterSummary& counter) { return counter.unit == "frames"; }

const CounterSummary* find(const std::vector<CounterSummary>& counters, const char* name) {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [name](const auto& counter) { return counter.name == name; });
  return found == counters.end() ? nullptr : &*found;
}

// The firmware's bits for a lower clock now: capped, throttled, at the soft limit of temperature.
bool is_slowed(double bits) {
  constexpr std::uint32_t kSlowedNow = 0b1110;
  return bits > 0 && bits < 4e9 && (static_cast<std::uint32_t>(bits) & kSlowedNow) != 0;
}

}  // namespace

std::vector<CounterSummary> counter_summaries(const TraceEvents& events, TraceTime end) {
  std::vector<CounterSummary> counters;
  for (const auto& [name, counter] : events.counters) {
    CounterSummary summary;
    summary.name = name;
    summary.unit = counter.unit;
    summary.values = counter.values;
    std::stable_sort(summary.values.begin(), summary.values.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    fill(end, summary);
    counters.push_back(std::move(summary));
  }
  std::stable_partition(counters.begin(), counters.end(), is_of_frames);
  return counters;
}

ThrottledShare throttled_share(const std::vector<CounterSummary>& counters) {
  ThrottledShare result;
  const CounterSummary* bits = find(counters, "throttled");
  if (bits == nullptr) return result;
  result.known = true;
  const auto slowed = std::count_if(bits->values.begin(), bits->values.end(),
                                    [](const auto& value) { return is_slowed(value.second); });
  result.share = static_cast<double>(slowed) / static_cast<double>(bits->count);
  if (const CounterSummary* celsius = find(counters, "temperature")) result.hottest = celsius->max;
  if (const CounterSummary* clock = find(counters, "clock")) result.lowest_mhz = clock->min;
  return result;
}

}  // namespace lookout
