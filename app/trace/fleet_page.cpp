// The page of several traces.
#include <fmt/format.h>

#include <algorithm>

#include "app/report/charts.h"
#include "app/report/html.h"
#include "app/trace/trace_page.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxOperatorsOnPage = 30;

double stage_ms(const TraceSummary& summary, const char* stage) {
  const auto found = summary.stages.find(stage);
  return found == summary.stages.end() ? 0 : to_ms(found->second.p50);
}

void add_frames(const std::vector<BoardTrace>& boards, Page& page) {
  const std::vector<std::pair<Color, std::string>> entries{
      {Color::kPale, "capture"},   {Color::kGray, "queue-wait"}, {Color::kSky, "preprocess"},
      {Color::kBlue, "inference"}, {Color::kNavy, "top-k"},      {Color::kAmber, "report"}};
  std::vector<Color> colors;
  colors.reserve(entries.size());
  for (const auto& [color, name] : entries) colors.push_back(color);
  std::vector<Bar> bars;
  for (const BoardTrace& board : boards) {
    Bar bar{board.file, fmt::format("{:.2f} ms", median_ms(board.summary)), {}, std::nullopt};
    for (const Stage stage : kAllStages) {
      bar.parts.push_back(stage_ms(board.summary, to_text(stage)));
    }
    bars.push_back(std::move(bar));
  }
  page.add_part(all_by_pytorch(boards) ? "A step" : "Latency of a frame",
                "Medians of the stages; the figure is the median of the whole.",
                legend(entries) + bar_chart(bars, colors), Page::Width::kFull);
}

void add_waits(const std::vector<BoardTrace>& boards, Page& page) {
  Table table{"Shares of the time in percent",
              {"trace", "frames", "fps", "p50 ms", "p99 ms", "camera", "capture", "writer",
               "not run", "throttled", "limited by"},
              {}};
  for (const auto& [file, summary] : boards) {
    const VerdictShares& shares = summary.verdict.shares;
    const double p99 = to_ms(summary.total().p99);
    Row row{file, std::to_string(summary.frames.size()), fmt::format("{:.1f}", summary.fps),
            fmt::format("{:.2f}", median_ms(summary)), fmt::format("{:.2f}", p99)};
    for (const double share :
         {shares.camera, shares.capture, shares.writer, shares.processor, shares.throttled}) {
      row.push_back(fmt::format("{:.1f}", 100 * share));
    }
    row.emplace_back(to_text(summary.verdict.limit));
    table.rows.push_back(std::move(row));
  }
  page.add_part("What each waited for",
                "Camera and capture: of the time of the threads that classify. Not run: of the "
                "time in stages.",
                to_html(table), Page::Width::kFull);
}

void add_stages(const std::vector<BoardTrace>& boards, Page& page) {
  Table table{"Medians in milliseconds", {"trace"}, {}};
  for (const Stage stage : kAllStages) table.head.emplace_back(to_text(stage));
  table.head.emplace_back(kTotalTime);
  for (const BoardTrace& board : boards) {
    Row row{board.file};
    for (const Stage stage : kAllStages) {
      row.push_back(fmt::format("{:.2f}", stage_ms(board.summary, to_text(stage))));
    }
    row.push_back(fmt::format("{:.2f}", median_ms(board.summary)));
    table.rows.push_back(std::move(row));
  }
  page.add_part("Stages", "", to_html(table), Page::Width::kFull);
}

void add_operators(const std::vector<BoardTrace>& boards, const FleetComparison& found,
                   Page& page) {
  if (found.operators.empty()) return;
  Table table{"Self time in milliseconds a " + frame_word(boards), {"operator"}, {}};
  for (const BoardTrace& board : boards) table.head.push_back(board.file);
  for (const OperatorAcross& across : found.operators) {
    Row row{across.name};
    for (const double ms : across.ms) row.push_back(fmt::format("{:.3f}", ms));
    table.rows.push_back(std::move(row));
  }
  page.add_part("Operators", "", to_html(std::move(table), kMaxOperatorsOnPage),
                Page::Width::kFull);
}

void add_verdicts(const std::vector<BoardTrace>& boards, Page& page) {
  Facts verdicts;
  for (const BoardTrace& board : boards) {
    verdicts.emplace_back(board.file, board.summary.verdict.sentence);
  }
  page.add_part("Verdicts", "", to_html(verdicts), Page::Width::kFull);
}

}  // namespace

std::string to_html(const std::vector<BoardTrace>& boards, const std::string& made_by) {
  const FleetComparison found = compare(boards);
  Page page("lookout trace-summary", fmt::format("{} traces", boards.size()), "");
  page.add_verdict(found.sentence);
  add_verdicts(boards, page);
  add_frames(boards, page);
  add_waits(boards, page);
  add_stages(boards, page);
  add_operators(boards, found, page);
  return page.to_html(made_by);
}

}  // namespace lookout
