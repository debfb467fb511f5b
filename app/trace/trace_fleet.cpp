#include "app/trace/trace_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "app/report/json.h"
#include "app/trace/trace_text.h"
#include "pipeline/core/append_format.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxOperatorsInText = 15;  // in the text
// Less than this share of a frame is no difference between boards.
constexpr double kMinExcess = 0.02;

double per_frame_ms(const TraceSummary& summary, Clock::duration sum) {
  return to_ms(sum) / static_cast<double>(summary.frames.size());
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

void find_slowest(OperatorAcross& row) {
  row.slowest =
      static_cast<std::size_t>(std::max_element(row.ms.begin(), row.ms.end()) - row.ms.begin());
  std::vector<double> others = row.ms;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(row.slowest));
  row.others_ms = median_of(std::move(others));
}

std::vector<OperatorAcross> operators_across(const std::vector<BoardTrace>& boards) {
  std::map<std::string, OperatorAcross> by_name;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    for (const OperatorTime& row : boards[i].summary.operators.by_name) {
      OperatorAcross& across = by_name[row.name];
      across.ms.resize(boards.size());
      across.ms[i] = per_frame_ms(boards[i].summary, row.self);
    }
  }
  std::vector<OperatorAcross> rows;
  for (auto& [name, across] : by_name) {
    across.name = name;
    find_slowest(across);
    rows.push_back(std::move(across));
  }
  const auto sum = [](const OperatorAcross& row) {
    return std::accumulate(row.ms.begin(), row.ms.end(), 0.0);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&sum](const auto& a, const auto& b) { return sum(a) > sum(b); });
  return rows;
}

int find_outlying(const std::vector<OperatorAcross>& rows, const std::vector<BoardTrace>& boards) {
  const auto most = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.excess_ms() < b.excess_ms();
  });
  if (most == rows.end()) return -1;
  const double frame = median_ms(boards[most->slowest].summary);
  if (most->excess_ms() <= kMinExcess * frame) return -1;
  return static_cast<int>(most - rows.begin());
}

std::string sentence_of(const FleetComparison& found, const std::vector<BoardTrace>& boards) {
  const std::string frame = frame_word(boards);
  const BoardTrace& slowest = boards[found.slowest];
  std::string text = fmt::format(
      "Slowest is {}: a {} takes {:.1f} ms in the median, {:.2f} times as long as with {}.",
      slowest.file, frame, median_ms(slowest.summary), found.times_fastest,
      boards[found.fastest].file);
  if (found.outlying_operator < 0) return text + " No operator differs much between the traces.";
  const OperatorAcross& row = found.operators[static_cast<std::size_t>(found.outlying_operator)];
  return text + fmt::format(
                    " The operator that differs most is {}: {:.2f} ms a {} with {}, {:.2f} ms "
                    "with the others (median).",
                    row.name, row.ms[row.slowest], frame, boards[row.slowest].file, row.others_ms);
}

void append_boards(const std::vector<BoardTrace>& boards, std::string& text) {
  append_format(text, "\n{:>3} {:>7} {:>7} {:>8} {:>8} | {:>8} {:>8} {:>8} {:>8} | {}\n", "",
                frame_word(boards) + "s", "fps", "p50 ms", "p99 ms", "camera %", "capture",
                "writer", "not run", "limited by, trace");
  for (std::size_t i = 0; i < boards.size(); ++i) {
    const TraceSummary& summary = boards[i].summary;
    const VerdictShares& shares = summary.verdict.shares;
    const double p99 = to_ms(summary.total().p99);
    append_format(text,
                  "{:>3} {:>7} {:>7.1f} {:>8.2f} {:>8.2f} | {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} | "
                  "{}, {}\n",
                  i + 1, summary.frames.size(), summary.fps, median_ms(summary), p99,
                  100 * shares.camera, 100 * shares.capture, 100 * shares.writer,
                  100 * shares.processor, to_text(summary.verdict.limit),
                  printable(boards[i].file));
  }
}

void append_stages(const std::vector<BoardTrace>& boards, std::string& text) {
  append_format(text, "\n{:<16}", "median ms");
  for (std::size_t i = 0; i < boards.size(); ++i) append_format(text, " {:>8}", i + 1);
  text += '\n';
  for (const Stage stage : kAllStages) {
    append_format(text, "{:<16}", to_text(stage));
    for (const BoardTrace& board : boards) {
      const auto found = board.summary.stages.find(to_text(stage));
      const double ms = found == board.summary.stages.end() ? 0 : to_ms(found->second.p50);
      append_format(text, " {:>8.2f}", ms);
    }
    text += '\n';
  }
}

void append_operators(const FleetComparison& found, const std::string& frame, std::string& text) {
  if (found.operators.empty()) return;
  append_format(text, "\n{:<15}", "self ms a " + frame);
  for (std::size_t i = 0; i < found.operators.front().ms.size(); ++i) {
    append_format(text, " {:>8}", i + 1);
  }
  text += "  operator\n";
  const std::size_t shown = std::min(kMaxOperatorsInText, found.operators.size());
  for (std::size_t i = 0; i < shown; ++i) {
    append_format(text, "{:<15}", "");
    for (const double ms : found.operators[i].ms) append_format(text, " {:>8.3f}", ms);
    append_format(text, "  {}\n", printable(found.operators[i].name));
  }
  if (shown < found.operators.size()) {
    append_format(text, "and {} more\n", found.operators.size() - shown);
  }
}

}  // namespace

bool all_by_pytorch(const std::vector<BoardTrace>& boards) {
  return std::all_of(boards.begin(), boards.end(),
                     [](const BoardTrace& board) { return board.summary.by_pytorch; });
}

std::string frame_word(const std::vector<BoardTrace>& boards) {
  return all_by_pytorch(boards) ? "step" : "frame";
}

double median_ms(const TraceSummary& summary) { return to_ms(summary.total().p50); }

FleetComparison compare(const std::vector<BoardTrace>& boards) {
  FleetComparison found;
  found.operators = operators_across(boards);
  const auto [fastest, slowest] = std::minmax_element(
      boards.begin(), boards.end(),
      [](const auto& a, const auto& b) { return median_ms(a.summary) < median_ms(b.summary); });
  found.slowest = static_cast<std::size_t>(slowest - boards.begin());
  found.fastest = static_cast<std::size_t>(fastest - boards.begin());
  const double shortest = median_ms(fastest->summary);
  if (shortest > 0) found.times_fastest = median_ms(slowest->summary) / shortest;
  found.outlying_operator = find_outlying(found.operators, boards);
  found.sentence = sentence_of(found, boards);
  return found;
}

std::string to_text(const std::vector<BoardTrace>& boards) {
  const FleetComparison found = compare(boards);
  std::string text = printable(found.sentence) + "\n";
  append_boards(boards, text);
  append_stages(boards, text);
  append_operators(found, frame_word(boards), text);
  return text;
}

Json to_json(const std::vector<BoardTrace>& boards) {
  const FleetComparison found = compare(boards);
  Json traces = Json::array();
  for (const BoardTrace& board : boards) {
    Json trace = to_json(board.summary);
    trace["file"] = board.file;
    traces.push_back(std::move(trace));
  }
  Json operators = Json::array();
  for (const OperatorAcross& row : found.operators) {
    operators.push_back({{"name", row.name}, {"self_ms_a_frame", row.ms}});
  }
  Json outlying;
  if (found.outlying_operator >= 0) {
    const auto& row = found.operators[static_cast<std::size_t>(found.outlying_operator)];
    outlying = {{"name", row.name},
                {"file", boards[row.slowest].file},
                {"ms", row.ms[row.slowest]},
                {"others_ms", row.others_ms}};
  }
  return {{"schema", 1},
          {"type", "trace-summaries"},
          {"sentence", found.sentence},
          {"slowest", boards[found.slowest].file},
          {"fastest", boards[found.fastest].file},
          {"times_fastest", found.times_fastest},
          {"outlying_operator", std::move(outlying)},
          {"operators", std::move(operators)},
          {"traces", std::move(traces)}};
}

}  // namespace lookout
