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

// The labels and one more.
inline MetricLabels with_label(MetricLabels labels, const char* name, std::string content) {
  labels.emplace_back(name, std::move(content));
  return labels;
}

// Builds the text. Independent of the locale; values of labels may hold any bytes.
class MetricsText {
 public:
  // Begins a metric, whose values follow. `type`: "counter", "gauge" or "histogram".
  void begin(const std::string& name, const char* type, const char* help);
  template <typename Number>
  void add(const MetricLabels& labels, Number value) {
    add_line("", labels, static_cast<double>(value));
  }
  void add(const MetricLabels& labels, const DurationBuckets& buckets);
  // A value for each of `rows`: pairs of what `label` has, and the value.
  template <typename Rows>
  void add_each(const char* label, const Rows& rows, const MetricLabels& labels = {}) {
    for (const auto& [content, value] : rows) add(with_label(labels, label, content), value);
  }

  // Metrics of one value.
  template <typename Number>
  void counter(const std::string& name, const char* help, const MetricLabels& labels,
               Number value) {
    begin(name, "counter", help);
    add(labels, value);
  }
  template <typename Number>
  void gauge(const std::string& name, const char* help, const MetricLabels& labels, Number value) {
    begin(name, "gauge", help);
    add(labels, value);
  }

  const std::string& text() const { return text_; }

 private:
  void add_line(const std::string& suffix, const MetricLabels& labels, double value);

  std::string name_;
  std::string text_;
};

}  // namespace lookout
