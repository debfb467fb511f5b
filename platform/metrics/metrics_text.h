// The text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/frame.h"

namespace lookout {

using MetricLabels = std::vector<std::pair<const char*, std::string>>;

// Counts of durations up to each bound, in constant time and memory.
struct DurationBuckets {
  static constexpr std::array<double, 15> kBounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05,
                                                  0.075, 0.1,   0.15,  0.25, 0.5,  1,    2.5};  // s

  void record(Clock::duration duration);  // negative counts as zero

  // The count of each bucket alone; the last one is of longer durations.
  std::array<std::uint64_t, kBounds.size() + 1> counts{};
  double sum = 0;  // s
};

// Builds the text. Independent of the locale; values of labels may hold any bytes.
class MetricsText {
 public:
  // Begins a metric, whose values follow. `type`: "counter", "gauge" or "histogram".
  void begin(const std::string& name, const char* type, const char* help);
  void add(const MetricLabels& labels, double value);
  void add(const MetricLabels& labels, const DurationBuckets& buckets);

  const std::string& text() const { return text_; }

 private:
  void add_line(const std::string& suffix, const MetricLabels& labels, double value);

  std::string name_;
  std::string text_;
};

}  // namespace lookout
