// The summary of a trace as JSON.
#include "app/report/json.h"
#include "app/trace/trace_text.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr int kDecimals = 6;  // of milliseconds: a trace has nanoseconds

Json verdict_to_json(const Verdict& verdict) {
  const VerdictShares& shares = verdict.shares;
  return {{"limit", to_text(verdict.limit)},
          {"sentence", verdict.sentence},
          {"camera_share", rounded(shares.camera, kDecimals)},
          {"capture_share", rounded(shares.capture, kDecimals)},
          {"writer_share", rounded(shares.writer, kDecimals)},
          {"processor_share", rounded(shares.processor, kDecimals)},
          {"throttled_share", rounded(shares.throttled, kDecimals)}};
}

Json thread_to_json(const TraceSummary& summary, const ThreadTime& thread) {
  const double share = share_of(thread.busy, summary.duration);
  Json json{{"name", thread.name},
            {"busy_ms", to_ms(thread.busy)},
            {"busy_share", share},
            {"idle_share", 1 - share}};
  if (summary.by_pytorch) return json;
  Json stages = Json::array();
  for (const auto& [name, time] : thread.stages) {
    stages.push_back({{"name", name},
                      {"ran_ms", to_ms(time.ran)},
                      {"not_run_ms", to_ms(time.off_cpu)},
                      {"writer_ms", to_ms(time.writer)}});
  }
  Json idle = Json::object();
  for (const IdlePart& part : kIdleParts) idle[part.key] = to_ms(thread.idle.*part.time);
  json["stages"] = std::move(stages);
  json["idle_ms"] = std::move(idle);
  return json;
}

Json rows_to_json(const std::vector<OperatorTime>& rows) {
  Json array = Json::array();
  for (const OperatorTime& row : rows) {
    Json json{{"name", row.name},
              {"calls", row.calls},
              {"total_ms", to_ms(row.total)},
              {"self_ms", to_ms(row.self)},
              {"share", row.share},
              {"longest_ms", to_ms(row.max)},
              {"shortest_ms", to_ms(row.min)},
              {"mean_ms", rounded(row.mean_ms, kDecimals)},
              {"deviation_ms", rounded(row.deviation_ms, kDecimals)}};
    if (row.bytes > 0) json["bytes"] = row.bytes;
    array.push_back(std::move(json));
  }
  return array;
}

Json counters_to_json(const TraceSummary& summary) {
  Json array = Json::array();
  for (const CounterSummary& counter : summary.counters) {
    Json values = Json::array();
    for (const auto& [time, value] : counter.values) {
      values.push_back({to_ms(time - summary.start), value});
    }
    array.push_back({{"name", counter.name},
                     {"unit", counter.unit},
                     {"count", counter.count},
                     {"min", counter.min},
                     {"p25", counter.p25},
                     {"p50", counter.p50},
                     {"p75", counter.p75},
                     {"max", counter.max},
                     {"mean", rounded(counter.mean, kDecimals)},
                     {"deviation", rounded(counter.deviation, kDecimals)},
                     {"values", std::move(values)}});
  }
  return array;
}

Json parts_to_json(const std::vector<Outlier::Part>& parts) {
  Json array = Json::array();
  for (const Outlier::Part& part : parts) {
    array.push_back({{"name", part.name},
                     {"ms", to_ms(part.time)},
                     {"above_median_ms", to_ms(part.above_median)}});
  }
  return array;
}

Json outliers_to_json(const TraceSummary& summary) {
  Json array = Json::array();
  for (const Outlier& frame : summary.outliers) {
    array.push_back({{"frame", frame.number},
                     {"total_ms", to_ms(frame.total)},
                     {"not_run_ms", to_ms(frame.use.off_cpu)},
                     {"writer_ms", to_ms(frame.use.writer)},
                     {"stages", parts_to_json(frame.stages)},
                     {"operators", parts_to_json(frame.operators)}});
  }
  return array;
}

Json histogram_to_json(const TraceSummary& summary) {
  Json array = Json::array();
  if (summary.frames.empty()) return array;
  for (const Bin& bin : histogram_bins(totals_ms(summary), latency_marks(summary))) {
    array.push_back(
        {{"from_ms", rounded(bin.from)}, {"to_ms", rounded(bin.to)}, {"frames", bin.count}});
  }
  return array;
}

Json frames_to_json(const TraceSummary& summary) {
  Json array = Json::array();
  for (const auto& [number, times] : summary.frames) {
    Json frame{{"frame", number},
               {"start_ms", to_ms(times.start - summary.start)},
               {"total_ms", to_ms(times.total())}};
    if (!summary.by_pytorch) {
      Json parts = Json::object();
      for (const auto& [name, time] : times.stages) parts[name] = to_ms(time);
      parts["between"] = to_ms(times.between());
      frame["parts_ms"] = std::move(parts);
      frame["not_run_ms"] = to_ms(times.use.off_cpu);
      frame["writer_ms"] = to_ms(times.use.writer);
    }
    array.push_back(std::move(frame));
  }
  return array;
}

}  // namespace

Json to_json(const TraceSummary& summary) {
  Json threads = Json::array();
  for (const ThreadTime& thread : summary.threads) {
    threads.push_back(thread_to_json(summary, thread));
  }
  Json latency = Json::object();
  for (const auto& [stage, times] : summary.stages) latency[stage] = to_json(times, kDecimals);
  return {{"schema", 1},
          {"type", "trace-summary"},
          {"about", summary.about},
          {"verdict", verdict_to_json(summary.verdict)},
          {"by_pytorch", summary.by_pytorch},
          {"has_cpu_times", summary.has_cpu_times},
          {"duration_ms", to_ms(summary.duration)},
          {"frames", summary.frames.size()},
          {"fps", rounded(summary.fps, kDecimals)},
          {"threads", std::move(threads)},
          {"latency_ms", std::move(latency)},
          {"latency_histogram", histogram_to_json(summary)},
          {"operators", rows_to_json(summary.operators.by_name)},
          {"layers", rows_to_json(summary.operators.by_layer)},
          {"labels", rows_to_json(summary.operators.by_label)},
          {"counters", counters_to_json(summary)},
          {"outliers_from_ms", to_ms(summary.cut_off)},
          {"slowest_frames", outliers_to_json(summary)},
          {"each_frame", frames_to_json(summary)}};
}

}  // namespace lookout
