#include "app/eval/eval_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "app/output/json.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kConfusionsInText = 10;

std::optional<double> percent(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return std::nullopt;
  return 100 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

void EvalCounts::record(const std::string& file, std::size_t expected,
                        const std::vector<Prediction>& top) {
  EvaluatedPicture picture{file, expected, {}};
  for (std::size_t i = 0; i < std::min(kTop, top.size()); ++i) {
    picture.predicted.push_back(top[i].index);
  }
  const auto place = std::find(picture.predicted.begin(), picture.predicted.end(), expected);
  if (place != picture.predicted.end()) ++top5_;
  if (place == picture.predicted.begin() && !picture.predicted.empty()) {
    ++top1_;
  } else if (!picture.predicted.empty()) {
    ++confusions_[{expected, picture.predicted.front()}];
  }
  pictures_.push_back(std::move(picture));
}

std::vector<Confusion> EvalCounts::confusions() const {
  std::vector<Confusion> found;
  for (const auto& [pair, count] : confusions_) found.push_back({pair.first, pair.second, count});
  std::stable_sort(found.begin(), found.end(),
                   [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  return found;
}

std::string share_of(std::uint64_t part, std::uint64_t all) {
  const auto share = percent(part, all);
  return fmt::format("{} of {}{}", part, all, share ? fmt::format(", {:.2f} %", *share) : "");
}

std::string to_text(const EvalReport& report) {
  const std::uint64_t all = report.counts.pictures().size();
  std::string text = fmt::format("{} ({}) on {}\n", printable(report.model), printable(report.file),
                                 printable(report.source));
  auto to = std::back_inserter(text);
  if (report.missing > 0) {
    const std::uint64_t done = all + report.stats.skipped;
    fmt::format_to(to, "interrupted after {} of {} pictures\n", done, done + report.missing);
  }
  fmt::format_to(to, "top-1   {}\n", share_of(report.counts.top1(), all));
  fmt::format_to(to, "top-5   {}\n", share_of(report.counts.top5(), all));
  if (report.stats.skipped > 0) {
    fmt::format_to(to, "skipped {}, which could not be read\n", report.stats.skipped);
  }
  const auto confusions = report.counts.confusions();
  if (!confusions.empty()) text += "most frequent confusions:\n";
  for (std::size_t i = 0; i < std::min(kConfusionsInText, confusions.size()); ++i) {
    const Confusion& confusion = confusions[i];
    fmt::format_to(to, "{:>6}  {} {} taken for {} {}\n", confusion.count, confusion.expected,
                   printable(report.labels[confusion.expected]), confusion.predicted,
                   printable(report.labels[confusion.predicted]));
  }
  const StatsSnapshot& stats = report.stats;
  fmt::format_to(to,
                 "{:.1f} pictures a second; ms p50/p95/p99/max: decode {} preprocess {} "
                 "inference {} total {}\n",
                 stats.classified_fps, to_text(stats.capture), to_text(stats.preprocess),
                 to_text(stats.inference), to_text(stats.total));
  return text;
}

std::string to_json(const EvalReport& report) {
  const std::uint64_t all = report.counts.pictures().size();
  Json confusions = Json::array();
  for (const Confusion& confusion : report.counts.confusions()) {
    confusions.push_back({{"expected", confusion.expected},
                          {"expected_label", report.labels[confusion.expected]},
                          {"predicted", confusion.predicted},
                          {"predicted_label", report.labels[confusion.predicted]},
                          {"count", confusion.count}});
  }
  Json pictures = Json::array();
  for (const EvaluatedPicture& picture : report.counts.pictures()) {
    pictures.push_back(
        {{"file", picture.file}, {"expected", picture.expected}, {"predicted", picture.predicted}});
  }
  const StatsSnapshot& stats = report.stats;
  const Json json{{"schema", 1},
                  {"type", "eval"},
                  {"model", report.model},
                  {"file", report.file},
                  {"sha256", report.sha256},
                  {"source", report.source},
                  {"complete", report.missing == 0},
                  {"pictures", all},
                  {"skipped", stats.skipped},
                  {"top1", report.counts.top1()},
                  {"top5", report.counts.top5()},
                  {"top1_percent", or_null(percent(report.counts.top1(), all))},
                  {"top5_percent", or_null(percent(report.counts.top5(), all))},
                  {"fps", stats.classified_fps},
                  {"latency_ms",
                   {{"capture", to_json(stats.capture)},
                    {"preprocess", to_json(stats.preprocess)},
                    {"inference", to_json(stats.inference)},
                    {"total", to_json(stats.total)}}},
                  {"confusions", std::move(confusions)},
                  {"results", std::move(pictures)}};
  return to_text(json) + "\n";
}

}  // namespace lookout
