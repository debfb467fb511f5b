// The output of lookout trace-summary.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/inspect/trace_summary.h"
#include "app/output/json.h"
#include "pipeline/error.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxOperators = 15;  // in the text
constexpr std::size_t kMaxFrames = 10;     // likewise
constexpr int kDecimals = 6;               // of milliseconds: a trace has nanoseconds

// The stages of lookout in their order, then stages of other names, the total at the end.
std::vector<std::string> stages_in_order(const TraceSummary& summary) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    if (!listed && summary.stages.count(name) > 0) names.push_back(name);
  };
  for (const Stage stage : kAllStages) add(to_text(stage));
  for (const auto& [name, values] : summary.stages) {
    if (name != TraceSummary::kTotal) add(name);
  }
  add(TraceSummary::kTotal);
  return names;
}

double busy_share(const TraceSummary& summary, const TraceSummary::Thread& thread) {
  const double whole = to_ms(summary.duration);
  return whole > 0 ? to_ms(thread.busy) / whole : 0;
}

void append_threads(const TraceSummary& summary, std::string& text) {
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "\n{:<16} {:>7} {:>7}\n", "thread", "busy", "idle");
  for (const TraceSummary::Thread& thread : summary.threads) {
    const double share = 100 * busy_share(summary, thread);
    fmt::format_to(to, "{:<16} {:>5.1f} % {:>5.1f} %\n", printable(thread.name), share,
                   100 - share);
  }
}

void append_stages(const TraceSummary& summary, std::string& text) {
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "\n{:<16}", "ms a frame");
  for (const auto& [name, time] : named(Percentiles())) fmt::format_to(to, " {:>8}", name);
  for (const std::string& stage : stages_in_order(summary)) {
    fmt::format_to(to, "\n{:<16}", printable(stage));
    for (const auto& [name, time] : named(summary.stages.at(stage))) {
      fmt::format_to(to, " {:>8.2f}", to_ms(time));
    }
  }
  text += '\n';
}

void append_parts(const std::vector<TraceSummary::Part>& parts, std::string& text) {
  const char* separator = " ";
  for (const TraceSummary::Part& part : parts) {
    fmt::format_to(std::back_inserter(text), "{}{} {:.2f} ({:+.2f})", separator,
                   printable(part.name), to_ms(part.time), to_ms(part.above_median));
    separator = ", ";
  }
  text += '\n';
}

void append_frame(const TraceSummary::Frame& frame, std::string& text) {
  fmt::format_to(std::back_inserter(text), "frame {}: {:.2f} ms:", frame.number,
                 to_ms(frame.total));
  append_parts(frame.stages, text);
  if (frame.operators.empty()) return;
  text += "  operators:";
  append_parts(frame.operators, text);
}

void append_slowest(const std::vector<TraceSummary::Frame>& slowest, std::string& text) {
  text += "\nthe slowest frames, and in brackets how much more than the median each part took:\n";
  const std::size_t shown = std::min(kMaxFrames, slowest.size());
  for (std::size_t i = 0; i < shown; ++i) append_frame(slowest[i], text);
  if (shown < slowest.size()) {
    fmt::format_to(std::back_inserter(text), "and {} more\n", slowest.size() - shown);
  }
}

Json to_json(const std::vector<TraceSummary::Part>& parts) {
  Json array = Json::array();
  for (const TraceSummary::Part& part : parts) {
    array.push_back({{"name", part.name},
                     {"ms", to_ms(part.time)},
                     {"above_median_ms", to_ms(part.above_median)}});
  }
  return array;
}

Json threads_to_json(const TraceSummary& summary) {
  Json array = Json::array();
  for (const TraceSummary::Thread& thread : summary.threads) {
    const double share = busy_share(summary, thread);
    array.push_back({{"name", thread.name},
                     {"busy_ms", to_ms(thread.busy)},
                     {"busy_share", share},
                     {"idle_share", 1 - share}});
  }
  return array;
}

Json to_json(const OperatorTable& table) {
  Json array = Json::array();
  for (const OperatorRow& row : table.rows) {
    array.push_back({{"name", row.name},
                     {"calls", row.sampled},
                     {"total_ms", to_ms(row.total)},
                     {"self_ms", to_ms(row.self)},
                     {"share", row.share},
                     {"longest_ms", to_ms(row.max)}});
  }
  return array;
}

}  // namespace

std::string to_text(const TraceSummary& summary) {
  std::string text =
      fmt::format("{} frames in {:.3f} s", summary.frames, to_ms(summary.duration) / 1000);
  for (const auto& [key, value] : summary.about) {
    fmt::format_to(std::back_inserter(text), ", {} {}", printable(key), printable(value));
  }
  text += '\n';
  append_threads(summary, text);
  append_stages(summary, text);
  if (!summary.operators.rows.empty()) {
    text += '\n';
    for (const auto& line : to_text(summary.operators, OperatorTimes::kTotal, kMaxOperators)) {
      text += line + "\n";
    }
  }
  if (!summary.slowest.empty()) append_slowest(summary.slowest, text);
  return text;
}

std::string to_json(const TraceSummary& summary) {
  Json latency = Json::object();
  for (const std::string& stage : stages_in_order(summary)) {
    latency[stage] = to_json(summary.stages.at(stage), kDecimals);
  }
  Json slowest = Json::array();
  for (const TraceSummary::Frame& frame : summary.slowest) {
    slowest.push_back({{"frame", frame.number},
                       {"total_ms", to_ms(frame.total)},
                       {"stages", to_json(frame.stages)},
                       {"operators", to_json(frame.operators)}});
  }
  const Json report{{"schema", 1},
                    {"type", "trace-summary"},
                    {"about", summary.about},
                    {"duration_ms", to_ms(summary.duration)},
                    {"frames", summary.frames},
                    {"threads", threads_to_json(summary)},
                    {"latency_ms", std::move(latency)},
                    {"operators", to_json(summary.operators)},
                    {"slowest_frames", std::move(slowest)}};
  return to_text(report) + "\n";
}

std::string trace_summary(const TraceSummaryOptions& options) {
  try {
    TraceSummary summary;
    read_input("trace", options.file,
               [&summary](std::istream& file) { summary = summarize_trace(file); });
    if (summary.frames == 0) throw Error(ErrorKind::kBadData, "has no frames in it");
    return options.format == Format::kJson ? to_json(summary) : to_text(summary);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    throw Error(error.kind(), "trace " + options.file + " " + error.what());
  }
}

}  // namespace lookout
