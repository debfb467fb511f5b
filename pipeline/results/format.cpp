#include "pipeline/results/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/results/throttled_source.h"

namespace lookout {
namespace {

void append_percentiles(const char* stage, const Percentiles& percentiles, std::string& out) {
  append_format(out, " {} {}", stage, to_text(percentiles));
}

// `known`: whether there was anything to measure.
void append_json(const char* stage, const Percentiles& percentiles, bool known, std::string& out) {
  append_format(out, R"("{}":)", stage);
  char separator = '{';
  for (const auto& [name, time] : named(percentiles)) {
    append_format(out, R"({}"{}":{})", separator, name,
                  known ? fmt::format("{:.3f}", to_ms(time)) : "null");
    separator = ',';
  }
  out += '}';
}

void append_json(const std::vector<WatchStats>& watches, std::string& out) {
  const char* separator = R"(,"watches":{)";
  for (const WatchStats& stats : watches) {
    append_format(out, R"({}"{}":{{"fps":{:.2f},"computed_fps":{:.2f},"oldest_ms":{}}})", separator,
                  stats.watch->name, stats.fps, stats.computed_fps,
                  stats.oldest ? fmt::format("{:.1f}", to_ms(*stats.oldest)) : "null");
    separator = ",";
  }
  out += '}';
}

void append_json(const OperatorRow& row, OperatorGroup group, std::string& out) {
  append_format(out, R"({{"model":{},"kind":"{}","name":{},)", to_json(row.model),
                row.is_label ? "label" : "operator", to_json(row.name));
  if (group == OperatorGroup::kShape) append_format(out, R"("shapes":{},)", to_json(row.shapes));
  if (group == OperatorGroup::kLayer) append_format(out, R"("layer":{},)", to_json(row.layer));
  append_format(out,
                R"("sampled":{},"calls":{:.0f},"total_ms":{:.3f},"self_ms":{:.3f},"share":{:.4f},)"
                R"("bytes":{:.0f},"longest_ms":{:.3f},"longest_seq":{}}})",
                row.sampled, row.calls, to_ms(row.total), to_ms(row.self), row.share, row.bytes,
                to_ms(row.max), row.max_frame);
}

void append_json(const OperatorTable& table, std::string& out) {
  append_format(out, R"("op_sampling":{},"peak_live_bytes":{},"operators":[)", table.probability,
                table.peak_live_bytes ? std::to_string(*table.peak_live_bytes) : "null");
  const char* separator = "";
  for (const OperatorRow& row : table.rows) {
    out += separator;
    append_json(row, table.group, out);
    separator = ",";
  }
  out += ']';
}

// The standard error of the estimated calls of a frame: whether a call is sampled is drawn.
std::string error_of_calls(const OperatorRow& row, double probability, double frames) {
  if (probability >= 1) return {};
  const double error = std::sqrt(static_cast<double>(row.sampled) * (1 - probability));
  return fmt::format(" (± {:.1f})", error / probability / frames);
}

std::string to_text(const OperatorRow& row, OperatorTimes times, double probability,
                    double frames) {
  std::string line =
      times == OperatorTimes::kPerFrame
          ? fmt::format("{:>9.3f} {:>5.1f} % {:>9.3f} {:>9.1f} {:>7.1f}{}  ",
                        to_ms(row.self) / frames, row.share * 100, to_ms(row.total) / frames,
                        row.bytes / frames / 1e3, row.calls / frames,
                        error_of_calls(row, probability, frames))
          : fmt::format("{:>10.2f} {:>5.1f} % {:>10.2f} {:>10.3f} {:>8.0f}  ", to_ms(row.self),
                        row.share * 100, to_ms(row.total), to_ms(row.max), row.calls);
  if (row.is_label) line += "label ";
  append_printable(row.name, line);
  if (!row.shapes.empty()) line += " " + row.shapes;
  if (!row.layer.empty()) {
    line += ' ';
    append_printable(row.layer, line);
  }
  return line;
}

void append_timestamp(std::chrono::system_clock::time_point time, std::string& out) {
  out += R"("timestamp":)";
  append_seconds(time, out);
}

}  // namespace

std::array<std::pair<const char*, const Percentiles*>, 5> latencies(const StatsSnapshot& stats) {
  return {{{"age", &stats.frame_age},
           {"capture", &stats.capture},
           {"preprocess", &stats.preprocess},
           {"inference", &stats.inference},
           {"total", &stats.total}}};
}

double to_ms(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double share_of(Clock::duration part, Clock::duration whole) {
  if (whole.count() <= 0) return 0;
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

double percent_of(Clock::duration part, Clock::duration whole) {
  if (whole.count() <= 0) return 0;
  return 100 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string to_text(const Percentiles& percentiles) {
  return fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f}", to_ms(percentiles.p50), to_ms(percentiles.p95),
                     to_ms(percentiles.p99), to_ms(percentiles.max));
}

std::array<std::pair<const char*, Clock::duration>, 4> named(const Percentiles& percentiles) {
  return {{{"p50", percentiles.p50},
           {"p95", percentiles.p95},
           {"p99", percentiles.p99},
           {"max", percentiles.max}}};
}

void append_seconds(std::chrono::system_clock::time_point time, std::string& out) {
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  append_format(out, "{}.{:03}", ms / 1000, ms % 1000);
}

void append_text(const SceneState& state, std::string& out) {
  if (state.kind == SceneState::Kind::kNone) {
    out += "none yet";
  } else if (state.kind == SceneState::Kind::kUnknown) {
    out += state.name();
  } else {
    append_escaped(state.name(), out);
    append_format(out, " {:.1f} %", state.prediction.score * 100);
  }
}

void append_text(const Result& result, const std::string& origin, std::string& out,
                 const ResultStyle& style) {
  append_format(out, "{}", result.sequence);
  if (!origin.empty()) {
    out += ' ';
    append_escaped(origin, out);
  }
  if (result.watch) append_format(out, " {}", result.watch->name);
  const char* separator = ": ";
  for (std::size_t i = 0; i < std::min(result.top.size(), style.max_predictions); ++i) {
    const Prediction& p = result.top[i];
    out += separator;
    append_escaped(p.label, out);
    append_format(out, " {:.1f} %", p.score * 100);
    separator = ", ";
  }
  if (result.top.empty()) out += ": nothing above the threshold";
  append_format(out, " ({:.1f} ms)", to_ms(result.durations.total));
  if (style.with_state) {
    out += result.state_changed ? ", now " : ", state ";
    append_text(result.state, out);
    if (result.state_changed && result.previous_state.kind != SceneState::Kind::kNone) {
      out += ", was ";
      append_escaped(result.previous_state.name(), out);
    }
  }
  out += '\n';
}

std::vector<std::string> throttling_words(std::uint32_t bits) {
  // https://www.raspberrypi.com/documentation/computers/os.html#get_throttled
  static const std::vector<std::pair<int, const char*>> meanings{
      {0, "under-voltage now"},
      {1, "clock capped now"},
      {2, "throttled now"},
      {3, "soft temperature limit reached now"},
      {16, "under-voltage since the start"},
      {17, "clock was capped since the start"},
      {18, "was throttled since the start"},
      {19, "soft temperature limit was reached since the start"}};
  std::vector<std::string> found;
  for (const auto& [bit, meaning] : meanings) {
    if ((bits >> bit & 1U) != 0) found.emplace_back(meaning);
  }
  return found;
}

std::string to_text(const MachineState& machine) {
  constexpr std::uint32_t kNow = 0xF;
  std::vector<std::string> reasons = throttling_words(machine.throttled.value_or(0) & kNow);
  if (machine.temperature && *machine.temperature >= MachineState::kHot) {
    reasons.push_back(fmt::format("{:.1f} °C", *machine.temperature));
  }
  return joined(reasons, ", ");
}

void append_text(const StatsSnapshot& stats, std::string& out) {
  if (stats.final) {
    append_format(out,
                  "summary of {:.1f} s: ", std::chrono::duration<double>(stats.interval).count());
  }
  append_format(out, "camera {:.1f} fps, classified {:.1f} fps", stats.camera_fps,
                stats.classified_fps);
  if (stats.reused > 0) append_format(out, " ({:.1f} computed)", stats.computed_fps);
  append_format(out, ", dropped {}", stats.dropped);
  if (stats.skipped > 0) append_format(out, ", skipped {}", stats.skipped);
  if (stats.final) {
    append_format(out, "; {} captured = {} classified", stats.captured, stats.classified);
    if (stats.reused > 0) append_format(out, " ({} reused)", stats.reused);
    if (stats.unwanted > 0) append_format(out, " + {} not wanted", stats.unwanted);
    append_format(out, " + {} dropped + {} in flight", stats.dropped, stats.in_flight);
  }
  if (const std::string machine = to_text(stats.machine); !machine.empty()) {
    append_format(out, "; {}", machine);
  }
  out += "; ms p50/p95/p99/max:";
  for (const auto& [name, times] : latencies(stats)) append_percentiles(name, *times, out);
}

std::vector<std::string> to_text(const OperatorTable& table, OperatorTimes times,
                                 std::size_t max_rows) {
  std::vector<std::string> lines;
  if (times == OperatorTimes::kPerFrame) {
    const double peak_mb = static_cast<double>(table.peak_live_bytes.value_or(0)) / 1e6;
    const std::string peak =
        peak_mb > 0 ? fmt::format(", peak of live tensors {:.1f} MB", peak_mb) : "";
    lines.push_back(fmt::format(
        "operators of {} frames, {:g} % of the calls sampled{}; of a frame:", table.frames,
        table.probability * 100, peak));
    lines.push_back(fmt::format("{:>9} {:>7} {:>9} {:>9} {:>7}{}  operator{}", "self ms", "share",
                                "total ms", "kB", "calls", table.probability < 1 ? " (error)" : "",
                                table.group == OperatorGroup::kLayer ? " and layer" : ""));
  } else {
    lines.push_back(fmt::format("{:>10} {:>7} {:>10} {:>10} {:>8}  operator", "self ms", "share",
                                "total ms", "longest ms", "calls"));
  }
  const double frames = static_cast<double>(std::max<std::uint64_t>(table.frames, 1));
  const std::size_t shown = std::min(max_rows, table.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(to_text(table.rows[i], times, table.probability, frames));
  }
  if (shown < table.rows.size()) {
    lines.push_back(fmt::format("and {} more", table.rows.size() - shown));
  }
  return lines;
}

namespace {

// As in RFC 8089, so that open_source() takes it.
std::string file_url(const std::string& path) {
  std::string url = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

std::string file_json(const std::string& origin) {
  std::string json = fmt::format(R"("file":{},)", to_json(origin));
  if (!is_utf8(origin)) json += fmt::format(R"("file_url":{},)", to_json(file_url(origin)));
  return json;
}

}  // namespace

JsonFormat::JsonFormat(const RunInfo& info) : camera_(to_json(info.camera)) {}

void JsonFormat::use(const ModelInfoPtr& model) {
  if (model == model_) return;
  model_ = model;
  source_ = fmt::format(R"("camera":{},"model":{})", camera_, to_json(model_->name));
  labels_.clear();
  labels_.reserve(model_->labels.size());
  for (const std::string& label : model_->labels) labels_.push_back(to_json(label));
}

void JsonFormat::append_head(const char* type, const Result& result, const std::string& origin,
                             std::string& out) {
  use(result.model);
  if (origin != origin_) {
    origin_ = origin;
    file_ = origin.empty() ? "" : file_json(origin);
  }
  if (result.watch) {
    append_format(out, R"({{"schema":1,"type":"{}",{},"watch":"{}","seq":{},)", type, source_,
                  result.watch->name, result.sequence);
  } else {
    append_format(out, R"({{"schema":1,"type":"{}",{},"seq":{},)", type, source_, result.sequence);
  }
  append_timestamp(result.timestamp, out);
  out += ',';
  out += file_;
  if (result.media_time) {
    append_format(out, R"("media_time":{:.3f},)",
                  std::chrono::duration<double>(*result.media_time).count());
  }
}

void JsonFormat::append_name(const SceneState& state, std::string& out) const {
  if (state.kind == SceneState::Kind::kNone) {
    out += "null";
  } else if (state.kind == SceneState::Kind::kClass && state.model == model_) {
    out += labels_[state.prediction.index];
  } else {
    out += to_json(std::string(state.name()));
  }
}

void JsonFormat::append_state(const Result& result, const std::string& origin, std::string& out) {
  append_head("state", result, origin, out);
  out += R"("state":)";
  append_name(result.state, out);
  out += ',';
  if (result.state.kind == SceneState::Kind::kClass) {
    const Prediction& p = result.state.prediction;
    append_format(out, R"("index":{},"score":{:.4f},)", p.index, p.score);
  } else {
    out += R"("index":null,"score":null,)";
  }
  out += R"("previous":)";
  append_name(result.previous_state, out);
  out += "}\n";
}

void JsonFormat::append(const Result& result, const std::string& origin, std::string& out) {
  append_head("classification", result, origin, out);
  append_format(out, R"("frame_age_ms":{:.3f},"results":[)", to_ms(result.frame_age));
  const char* separator = "";
  for (const Prediction& p : result.top) {
    append_format(out, R"({}{{"index":{},"label":{},"score":{:.4f}}})", separator, p.index,
                  labels_[p.index], p.score);
    separator = ",";
  }
  const StageDurations& d = result.durations;
  append_format(
      out,
      R"(],"timing_ms":{{"capture":{:.3f},"preprocess":{:.3f},"inference":{:.3f},"total":{:.3f}}},)",
      to_ms(d.capture), to_ms(d.preprocess), to_ms(d.inference), to_ms(d.total));
  if (result.reused) out += R"("reused":true,)";
  append_format(out, "\"dropped\":{}}}\n", result.dropped);
}

void JsonFormat::append(const StatsSnapshot& stats, std::string& out,
                        const OperatorTable* operators) const {
  append_format(
      out, R"({{"schema":1,"type":"{}",{},"interval_s":{:.3f},"fps":{:.2f},"camera_fps":{:.2f},)",
      stats.final ? "summary" : "stats", source_,
      std::chrono::duration<double>(stats.interval).count(), stats.classified_fps,
      stats.camera_fps);
  append_format(out,
                R"("captured":{},"classified":{},"reused":{},"unwanted":{},"dropped":{},)"
                R"("skipped":{},"in_flight":{},)",
                stats.captured, stats.classified, stats.reused, stats.unwanted, stats.dropped,
                stats.skipped, stats.in_flight);
  const MachineState& machine = stats.machine;
  append_format(out, R"("temperature_c":{},"throttled":{},"throttled_source":{},)",
                machine.temperature ? fmt::format("{:.1f}", *machine.temperature) : "null",
                machine.throttled ? fmt::format("{}", *machine.throttled) : "null",
                machine.throttled ? fmt::format("\"{}\"", throttled_source(machine)) : "null");
  out += R"("latency_ms":{)";
  const bool known = stats.computed_fps > 0;
  append_json("frame_age", stats.frame_age, known, out);
  out += ',';
  append_json("capture", stats.capture, known, out);
  out += ',';
  append_json("preprocess", stats.preprocess, known, out);
  out += ',';
  append_json("inference", stats.inference, known, out);
  out += ',';
  append_json("total", stats.total, known, out);
  out += '}';
  if (!stats.watches.empty()) append_json(stats.watches, out);
  if (operators != nullptr) {
    out += ',';
    append_json(*operators, out);
  }
  if (stats.final && !model_->archive.empty()) {
    out += R"(,"archive":)";
    out += model_->archive;
  }
  out += "}\n";
}

void JsonFormat::append(const CameraStatus& status, std::string& out) const {
  append_format(out, R"({{"schema":1,"type":"status","camera":{},"state":"{}",)", camera_,
                status.online ? "online" : "offline");
  append_timestamp(status.since, out);
  out += "}\n";
}

std::string without_newline(std::string line) {
  if (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace lookout
