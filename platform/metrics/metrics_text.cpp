#include "platform/metrics/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/core/printable.h"

namespace lookout {
namespace {

std::string escaped(const std::string& value) {
  std::string text;
  for (const char character : is_utf8(value) ? value : std::string("?")) {
    if (character == '\\' || character == '"') text += '\\';
    text += character == '\n' ? std::string("\\n") : std::string(1, character);
  }
  return text;
}

}  // namespace

void DurationBuckets::record(Clock::duration duration) {
  const double seconds = std::max(0.0, std::chrono::duration<double>(duration).count());
  const auto* bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  sum += seconds;
}

void MetricsText::begin(const std::string& name, const char* type, const char* help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::add_line(const std::string& suffix, const MetricLabels& labels, double value) {
  text_ += name_ + suffix;
  char separator = '{';
  for (const auto& [label, content] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", separator, label, escaped(content));
    separator = ',';
  }
  text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
}

void MetricsText::add(const MetricLabels& labels, const DurationBuckets& buckets) {
  MetricLabels with_bound = labels;
  with_bound.emplace_back("le", "");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < buckets.counts.size(); ++i) {
    const bool is_last = i == DurationBuckets::kBounds.size();
    with_bound.back().second = is_last ? "+Inf" : fmt::format("{}", DurationBuckets::kBounds[i]);
    count += buckets.counts[i];
    add_line("_bucket", with_bound, static_cast<double>(count));
  }
  add_line("_sum", labels, buckets.sum);
  add_line("_count", labels, static_cast<double>(count));
}

}  // namespace lookout
