// The traces of several boards side by side.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "app/trace/trace_report.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// Less than this share of a frame is no difference between boards.
constexpr double kMinExcess = 0.02;

// An operator's self time in a frame of each board, in milliseconds; 0 where it does not occur.
struct OperatorAcross {
  std::string name;
  std::vector<double> ms;   // one for each board
  std::size_t slowest = 0;  // the board where it takes longest
  double others_ms = 0;     // the median of the other boards
  double excess_ms() const { return ms[slowest] - others_ms; }
};

struct Fleet {
  std::vector<OperatorAcross> operators;     // the one with the largest mean first
  const OperatorAcross* outlying = nullptr;  // the one with the largest excess; null: none
  const TraceFile* slowest = nullptr;        // whose frames take longest in the median
  const TraceFile* fastest = nullptr;
  double times_fastest = 1;  // how many times as long the slowest one's take
  std::string frame_word;    // "frame", or "step" when PyTorch's profiler wrote all traces
  std::string sentence;      // names the slowest board and the outlying operator
};

double median_ms(const TraceFile& board) { return to_ms(board.summary.total().p50); }

std::vector<OperatorAcross> operators_across(const std::vector<TraceFile>& boards) {
  std::map<std::string, OperatorAcross> by_name;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    const TraceSummary& summary = boards[i].summary;
    for (const OperatorTime& row : summary.operators.by_name) {
      OperatorAcross& across = by_name[row.name];
      across.ms.resize(boards.size());
      across.ms[i] = to_ms(row.self) / static_cast<double>(summary.frames.size());
    }
  }
  std::vector<OperatorAcross> rows;
  for (auto& [name, across] : by_name) {
    across.name = name;
    std::vector<double> sorted = across.ms;
    const auto slowest = std::max_element(sorted.begin(), sorted.end());
    across.slowest = static_cast<std::size_t>(slowest - sorted.begin());
    sorted.erase(slowest);
    std::sort(sorted.begin(), sorted.end());
    across.others_ms = sorted[(sorted.size() - 1) / 2];
    rows.push_back(std::move(across));
  }
  const auto sum = [](const OperatorAcross& row) {
    return std::accumulate(row.ms.begin(), row.ms.end(), 0.0);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&sum](const auto& a, const auto& b) { return sum(a) > sum(b); });
  return rows;
}

std::string fleet_sentence(const Fleet& fleet, const std::vector<TraceFile>& boards) {
  const std::string text = fmt::format(
      "Slowest is {}: a {} takes {:.1f} ms in the median, {:.2f} times as long as with {}.",
      fleet.slowest->file, fleet.frame_word, median_ms(*fleet.slowest), fleet.times_fastest,
      fleet.fastest->file);
  if (fleet.outlying == nullptr) return text + " No operator differs much between the traces.";
  const OperatorAcross& row = *fleet.outlying;
  return text + fmt::format(
                    " The operator that differs most is {}: {:.2f} ms a {} with {}, {:.2f} ms "
                    "with the others (median).",
                    row.name, row.ms[row.slowest], fleet.frame_word, boards[row.slowest].file,
                    row.others_ms);
}

Fleet find_differences(const std::vector<TraceFile>& boards) {
  Fleet fleet;
  const auto [fastest, slowest] =
      std::minmax_element(boards.begin(), boards.end(),
                          [](const auto& a, const auto& b) { return median_ms(a) < median_ms(b); });
  fleet.fastest = &*fastest;
  fleet.slowest = &*slowest;
  if (median_ms(*fastest) > 0) fleet.times_fastest = median_ms(*slowest) / median_ms(*fastest);
  fleet.frame_word = frame_word(std::all_of(
      boards.begin(), boards.end(), [](const auto& board) { return board.summary.by_pytorch; }));
  fleet.operators = operators_across(boards);
  const auto most =
      std::max_element(fleet.operators.begin(), fleet.operators.end(),
                       [](const auto& a, const auto& b) { return a.excess_ms() < b.excess_ms(); });
  if (most != fleet.operators.end() &&
      most->excess_ms() > kMinExcess * median_ms(boards[most->slowest])) {
    fleet.outlying = &*most;
  }
  fleet.sentence = fleet_sentence(fleet, boards);
  return fleet;
}

Table waits_across(const std::vector<TraceFile>& boards, const Fleet& fleet) {
  Table table{"Shares of the time in percent",
              {"trace", fleet.frame_word + "s", "fps", "p50 ms", "p99 ms", "camera", "capture",
               "writer", "did not run", "throttled", "limited by"},
              {}};
  for (const auto& [file, summary] : boards) {
    const VerdictShares& shares = summary.verdict.shares;
    Row row{file, std::to_string(summary.frames.size()), fmt::format("{:.1f}", summary.fps)};
    for (const Clock::duration time : {summary.total().p50, summary.total().p99}) {
      row.push_back(fmt::format("{:.2f}", to_ms(time)));
    }
    for (const double share :
         {shares.camera, shares.capture, shares.writer, shares.processor, shares.throttled}) {
      row.push_back(fmt::format("{:.1f}", 100 * share));
    }
    row.emplace_back(to_text(summary.verdict.limit));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json fleet_json(const std::vector<TraceFile>& boards) {
  const Fleet fleet = find_differences(boards);
  Json outlying;
  if (const OperatorAcross* row = fleet.outlying; row != nullptr) {
    outlying = {{"name", row->name},
                {"file", boards[row->slowest].file},
                {"ms", row->ms[row->slowest]},
                {"others_ms", row->others_ms}};
  }
  return {{"schema", 1},
          {"type", "trace-summaries"},
          {"sentence", fleet.sentence},
          {"slowest", fleet.slowest->file},
          {"fastest", fleet.fastest->file},
          {"times_fastest", fleet.times_fastest},
          {"outlying_operator", std::move(outlying)},
          {"operators", array_of(fleet.operators,
                                 [](const OperatorAcross& row) -> Json {
                                   return {{"name", row.name}, {"self_ms_a_frame", row.ms}};
                                 })},
          {"traces", array_of(boards, [](const TraceFile& board) {
             Json trace = to_json(board.summary);
             trace["file"] = board.file;
             return trace;
           })}};
}

}  // namespace

Report make_report(const std::vector<TraceFile>& boards) {
  constexpr std::size_t kMaxOperators = 30;
  const Fleet fleet = find_differences(boards);
  Facts verdicts;
  std::vector<Bar> bars;
  Table stages{"Medians in milliseconds", {"trace"}, {}};
  for (const auto& [color, stage] : stage_legend()) stages.head.emplace_back(stage);
  stages.head.emplace_back(kTotalTime);
  Table operators{
      "Self time in milliseconds a " + fleet.frame_word, {"operator"}, {}, kMaxOperators};
  for (const TraceFile& board : boards) {
    const std::string median = fmt::format("{:.2f}", median_ms(board));
    Bar bar{board.file, median + " ms", {}, std::nullopt};
    Row row{board.file};
    for (const auto& [color, stage] : stage_legend()) {
      const auto found = board.summary.stages.find(stage);
      bar.parts.push_back(found == board.summary.stages.end() ? 0 : to_ms(found->second.p50));
      row.push_back(fmt::format("{:.2f}", bar.parts.back()));
    }
    row.push_back(median);
    bars.push_back(std::move(bar));
    stages.rows.push_back(std::move(row));
    verdicts.emplace_back(board.file, board.summary.verdict.sentence);
    operators.head.emplace_back(board.file);
  }
  for (const OperatorAcross& across : fleet.operators) {
    Row row{across.name};
    for (const double ms : across.ms) row.push_back(fmt::format("{:.3f}", ms));
    operators.rows.push_back(std::move(row));
  }
  Report report;
  report.kind = "lookout trace-summary";
  report.title = fmt::format("{} traces", boards.size());
  report.verdict = fleet.sentence;
  report.parts = {
      {"Verdicts", "", {std::move(verdicts)}, Width::kFull},
      {fleet.frame_word == "step" ? "A step" : "Latency of a frame",
       "Medians of the stages; the figure is the median of the whole.",
       {Chart{bar_chart(bars, stage_legend())}},
       Width::kFull},
      {"What each waited for",
       "Camera and capture: of the time of the threads that classify. Did not run: of the time in "
       "stages.",
       {waits_across(boards, fleet)},
       Width::kFull},
      {"Stages", "", {std::move(stages)}, Width::kFull}};
  if (!operators.rows.empty()) {
    report.parts.push_back({"Operators", "", {std::move(operators)}, Width::kFull});
  }
  report.json = [&boards] { return fleet_json(boards); };
  return report;
}

}  // namespace lookout
