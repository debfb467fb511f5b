#include "app/trace/trace_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxRowsInText = 15;  // of operators and layers
constexpr std::size_t kMaxFrames = 10;      // of outliers

void append_head(const TraceSummary& summary, std::string& text) {
  append_format(text, "{}\n\n{} {} in {:.3f} s", printable(summary.verdict.sentence),
                summary.frames.size(), frame_word(summary, summary.frames.size()),
                to_ms(summary.duration) / 1000);
  for (const auto& [key, value] : summary.about) {
    append_format(text, ", {} {}", printable(key), printable(value));
  }
  text += '\n';
}

void append_busy(const TraceSummary& summary, std::string& text) {
  append_format(text, "\n{:<16} {:>7} {:>7}\n", "thread", "busy", "idle");
  for (const ThreadTime& thread : summary.threads) {
    const double share = percent_of(thread.busy, summary.duration);
    append_format(text, "{:<16} {:>5.1f} % {:>5.1f} %\n", printable(thread.name), share,
                  100 - share);
  }
}

// The columns after the first one are shares of the trace's duration.
void append_threads(const TraceSummary& summary, std::string& text) {
  append_format(text, "\n{:<16} | {:>7} {:>7} {:>7} | {:>7} {:>7} {:>7} {:>7}\n", "% of the time",
                "ran", "not run", "writer", "camera", "capture", "model", "other");
  for (const ThreadTime& thread : summary.threads) {
    const StageTime stages = thread.in_stages();
    const auto share = [&](Clock::duration part) { return percent_of(part, summary.duration); };
    append_format(text, "{:<16} | {:>7.1f} {:>7.1f} {:>7.1f} |", printable(thread.name),
                  share(stages.ran), share(stages.off_cpu), share(stages.writer));
    for (const IdlePart& part : kIdleParts) {
      append_format(text, " {:>7.1f}", share(thread.idle.*part.time));
    }
    text += '\n';
    for (const auto& [name, time] : thread.stages) {
      append_format(text, "  {:<14} | {:>7.1f} {:>7.1f} {:>7.1f} |\n", printable(name),
                    share(time.ran), share(time.off_cpu), share(time.writer));
    }
  }
}

void append_stages(const TraceSummary& summary, std::string& text) {
  if (summary.stages.empty()) return;
  append_format(text, "\n{:<16}", summary.by_pytorch ? "ms a step" : "ms a frame");
  for (const auto& [name, time] : named(Percentiles())) append_format(text, " {:>8}", name);
  for (const auto& [stage, times] : summary.stages) {
    append_format(text, "\n{:<16}", printable(stage));
    for (const auto& [name, time] : named(times)) {
      append_format(text, " {:>8.2f}", to_ms(time));
    }
  }
  text += '\n';
}

void append_rows(const std::vector<OperatorTime>& rows, const char* what, std::string& text) {
  if (rows.empty()) return;
  const bool has_bytes =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.bytes > 0; });
  append_format(text, "\n{:>10} {:>7} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8}{}  {}\n", "self ms",
                "share", "total ms", "min", "mean", "longest", "deviat.", "calls",
                has_bytes ? "       MB" : "", what);
  const std::size_t shown = std::min(kMaxRowsInText, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorTime& row = rows[i];
    append_format(text, "{:>10.2f} {:>5.1f} % {:>10.2f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8}",
                  to_ms(row.self), 100 * row.share, to_ms(row.total), to_ms(row.min), row.mean_ms,
                  to_ms(row.max), row.deviation_ms, row.calls);
    if (has_bytes) append_format(text, " {:>8.1f}", static_cast<double>(row.bytes) / 1e6);
    append_format(text, "  {}\n", printable(row.name));
  }
  if (shown < rows.size()) append_format(text, "and {} more\n", rows.size() - shown);
}

void append_counters(const std::vector<CounterSummary>& counters, std::string& text) {
  if (counters.empty()) return;
  append_format(text, "\n{:<24} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "over the time",
                "count", "min", "p25", "p50", "p75", "max", "mean", "deviat.");
  for (const CounterSummary& c : counters) {
    append_format(text,
                  "{:<24} {:>6} {:>8.6g} {:>8.6g} {:>8.6g} {:>8.6g} {:>8.6g} {:>8.5g} {:>8.5g}\n",
                  fmt::format("{} ({})", printable(c.name), printable(c.unit)), c.count, c.min,
                  c.p25, c.p50, c.p75, c.max, c.mean, c.deviation);
  }
}

void append_parts(const std::vector<Outlier::Part>& parts, std::string& text) {
  const char* separator = " ";
  for (const Outlier::Part& part : parts) {
    append_format(text, "{}{} {:.2f} ({:+.2f})", separator, printable(part.name), to_ms(part.time),
                  to_ms(part.above_median));
    separator = ", ";
  }
  text += '\n';
}

void append_outlier(const TraceSummary& summary, const Outlier& frame, std::string& text) {
  append_format(text, "{} {}: {:.2f} ms:", summary.by_pytorch ? "step" : "frame", frame.number,
                to_ms(frame.total));
  append_parts(frame.stages, text);
  if (frame.use.off_cpu.count() > 0 || frame.use.writer.count() > 0) {
    append_format(text, "  did not run for {:.2f} ms, waited for the writer for {:.2f} ms\n",
                  to_ms(frame.use.off_cpu), to_ms(frame.use.writer));
  }
  if (frame.operators.empty()) return;
  text += "  operators:";
  append_parts(frame.operators, text);
}

void append_outliers(const TraceSummary& summary, std::string& text) {
  if (summary.frames.empty()) return;
  append_format(text,
                "\n{} of {} from {:.2f} ms on ({}), and in brackets how much more than the median "
                "each part took:\n",
                summary.outliers.size(), summary.frames.size(), to_ms(summary.cut_off),
                to_text(summary.rule));
  const std::size_t shown = std::min(kMaxFrames, summary.outliers.size());
  for (std::size_t i = 0; i < shown; ++i) append_outlier(summary, summary.outliers[i], text);
  if (shown < summary.outliers.size()) {
    append_format(text, "and {} more\n", summary.outliers.size() - shown);
  }
}

}  // namespace

std::vector<double> totals_ms(const TraceSummary& summary) {
  std::vector<double> totals;
  totals.reserve(summary.frames.size());
  for (const auto& [number, times] : summary.frames) totals.push_back(to_ms(times.total()));
  return totals;
}

std::vector<Mark> latency_marks(const TraceSummary& summary) {
  std::vector<Mark> marks;
  for (const auto& [name, time] : named(summary.total())) {
    if (name != std::string("max")) {
      marks.push_back({fmt::format("{} {:.1f}", name, to_ms(time)), to_ms(time)});
    }
  }
  return marks;
}

std::string frame_word(const TraceSummary& summary, std::size_t count) {
  return std::string(summary.by_pytorch ? "step" : "frame") + (count == 1 ? "" : "s");
}

std::string to_text(const OutlierRule& rule) {
  if (!rule.time) return fmt::format("p{:g}", rule.percentile);
  return fmt::format("{:g} ms", to_ms(*rule.time));
}

std::string to_text(const TraceSummary& summary) {
  std::string text;
  append_head(summary, text);
  if (summary.by_pytorch) {
    append_busy(summary, text);
  } else {
    append_threads(summary, text);
  }
  append_stages(summary, text);
  append_rows(summary.operators.by_name, "operator", text);
  append_rows(summary.operators.by_layer, "layer", text);
  append_rows(summary.operators.by_label, "label", text);
  append_counters(summary.counters, text);
  append_outliers(summary, text);
  return text;
}

}  // namespace lookout
