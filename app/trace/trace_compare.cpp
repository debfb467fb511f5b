#include "app/trace/trace_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "app/report/json.h"
#include "app/report/html.h"
#include "app/trace/trace_text.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr double kProbability = 0.95;
constexpr std::size_t kMaxChangesInText = 30;
constexpr std::size_t kBlocks = 10;

using Samples = std::vector<double>;

double mean_of(const Samples& samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// The square of the standard error of the mean, of at least two values.
double squared_error(const Samples& samples) {
  const double mean = mean_of(samples);
  double sum = 0;
  for (const double value : samples) sum += (value - mean) * (value - mean);
  const auto count = static_cast<double>(samples.size());
  return sum / (count - 1) / count;
}

double ms_of(const Times& times, const std::string& name) {
  const auto found = times.find(name);
  return found == times.end() ? 0 : to_ms(found->second);
}

// The time in each frame; of operators, in each that has some.
Samples samples_of(const TraceSummary& summary, Times FrameTimes::*times, const std::string& name) {
  Samples samples;
  for (const auto& [number, frame] : summary.frames) {
    if (!(frame.*times).empty()) samples.push_back(ms_of(frame.*times, name));
  }
  return samples;
}

bool occurs(const TraceSummary& summary, Times FrameTimes::*times, const std::string& name) {
  return std::any_of(summary.frames.begin(), summary.frames.end(),
                     [&](const auto& frame) { return (frame.second.*times).count(name) > 0; });
}

ChangeKind change_kind(const TimeChange& change, bool before, bool after) {
  if (!before) return ChangeKind::kAdded;
  if (!after) return ChangeKind::kGone;
  if (change.low > 0) return ChangeKind::kSlower;
  return change.high < 0 ? ChangeKind::kFaster : ChangeKind::kSame;
}

TimeChange change_of(const std::string& name, const Samples& before, const Samples& after,
                     double probability) {
  TimeChange change;
  change.name = name;
  change.before = mean_of(before);
  change.after = mean_of(after);
  std::tie(change.low, change.high) =
      welch_interval(independent_samples(before), independent_samples(after), probability);
  return change;
}

std::set<std::string> names_in(const TraceSummary& summary, Times FrameTimes::*times) {
  std::set<std::string> names;
  for (const auto& [number, frame] : summary.frames) {
    for (const auto& [name, time] : frame.*times) names.insert(name);
  }
  return names;
}

std::vector<TimeChange> changes_between(const TraceSummary& before, const TraceSummary& after,
                                        Times FrameTimes::*times) {
  std::set<std::string> names = names_in(before, times);
  names.merge(names_in(after, times));
  const double probability =
      1 - (1 - kProbability) / static_cast<double>(std::max<std::size_t>(1, names.size()));
  std::vector<TimeChange> rows;
  for (const std::string& name : names) {
    rows.push_back(change_of(name, samples_of(before, times, name), samples_of(after, times, name),
                             probability));
    rows.back().kind =
        change_kind(rows.back(), occurs(before, times, name), occurs(after, times, name));
  }
  return rows;
}

std::vector<TimeChange> stages_of(const TraceSummary& before, const TraceSummary& after) {
  std::vector<TimeChange> rows = changes_between(before, after, &FrameTimes::stages);
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return StageOrder()(a.name, b.name); });
  return rows;
}

std::vector<TimeChange> operators_of(const TraceSummary& before, const TraceSummary& after) {
  std::vector<TimeChange> rows = changes_between(before, after, &FrameTimes::operators);
  std::stable_sort(rows.begin(), rows.end(), [](const TimeChange& a, const TimeChange& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
  return rows;
}

std::string interval_text(const TimeChange& change) {
  return fmt::format("{:+.3f} to {:+.3f}", change.low, change.high);
}

std::string comparison_sentence(const TraceComparison& found, const BoardTrace& before,
                                const BoardTrace& after) {
  const TimeChange& total = found.total;
  const std::string word = frame_word(std::vector<BoardTrace>{before, after});
  const std::string figures = fmt::format(
      "{:.2f} ms a {} before, {:.2f} ms after: {:+.2f} ms, 95 % "
      "interval {:+.2f} to {:+.2f}",
      total.before, word, total.after, total.difference(), total.low, total.high);
  if (total.kind == ChangeKind::kSame) {
    return fmt::format("{} and {} do not differ ({}).", before.file, after.file, figures);
  }
  return fmt::format("{} is {} than {} ({}).", after.file, to_text(total.kind), before.file,
                     figures);
}

constexpr const char* kMethod =
    "Welch's intervals of the difference of the means a frame, over ten blocks of consecutive "
    "frames; they hold with 95 % for all rows of a list together";

std::string method_text(const TraceComparison& found) {
  return fmt::format("Means in ms a frame, of {} frames before and {} after. {}.",
                     found.frames_before, found.frames_after, kMethod);
}

void append_changes(const char* title, const std::vector<TimeChange>& rows, std::string& text) {
  if (rows.empty()) return;
  append_format(text, "\n{:<13} {:>9} {:>9} {:>9}  {:<19}  {}\n", "change", "before", "after",
                "difference", "interval", title);
  const std::size_t shown = std::min(kMaxChangesInText, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const TimeChange& row = rows[i];
    append_format(text, "{:<13} {:>9.3f} {:>9.3f} {:>+10.3f}  {:<19}  {}\n", to_text(row.kind),
                  row.before, row.after, row.difference(), interval_text(row), printable(row.name));
  }
  if (shown < rows.size()) append_format(text, "and {} more\n", rows.size() - shown);
}

// Infinity is no number of JSON.
Json finite_number(double value) { return std::isfinite(value) ? Json(rounded(value, 6)) : Json(); }

Json to_json(const TimeChange& change) {
  return {{"name", change.name},
          {"change", change.kind == ChangeKind::kSame ? Json() : Json(to_text(change.kind))},
          {"before_ms", finite_number(change.before)},
          {"after_ms", finite_number(change.after)},
          {"difference_ms", finite_number(change.difference())},
          {"interval_ms", {finite_number(change.low), finite_number(change.high)}}};
}

Json to_json(const std::vector<TimeChange>& rows) {
  Json json = Json::array();
  for (const TimeChange& row : rows) json.push_back(to_json(row));
  return json;
}

Json trace_json(const BoardTrace& trace) {
  return {{"file", trace.file},
          {"frames", trace.summary.frames.size()},
          {"about", trace.summary.about}};
}

Table changes_table(const char* title, const std::vector<TimeChange>& rows) {
  Table table{title, {"name", "before", "after", "difference", "interval", "change"}, {}};
  for (const TimeChange& row : rows) {
    table.rows.push_back(
        {row.name, fmt::format("{:.3f}", row.before), fmt::format("{:.3f}", row.after),
         fmt::format("{:+.3f}", row.difference()), interval_text(row), to_text(row.kind)});
  }
  return table;
}

}  // namespace

const char* to_text(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kSlower:
      return "slower";
    case ChangeKind::kFaster:
      return "faster";
    case ChangeKind::kAdded:
      return "added";
    case ChangeKind::kGone:
      return "gone";
    case ChangeKind::kSame:
      break;
  }
  return "no difference";
}

std::vector<double> independent_samples(const std::vector<double>& values) {
  if (values.size() < 2 * kBlocks) return values;
  std::vector<double> means;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const auto begin = static_cast<std::ptrdiff_t>(values.size() * block / kBlocks);
    const auto end = static_cast<std::ptrdiff_t>(values.size() * (block + 1) / kBlocks);
    means.push_back(mean_of({values.begin() + begin, values.begin() + end}));
  }
  return means;
}

std::pair<double, double> welch_interval(const std::vector<double>& before,
                                         const std::vector<double>& after, double probability) {
  const double difference = mean_of(after) - mean_of(before);
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (before.size() < 2 || after.size() < 2) return {-kInfinite, kInfinite};
  const double a = squared_error(before);
  const double b = squared_error(after);
  if (a + b <= 0) return {difference, difference};
  const double freedom = (a + b) * (a + b) /
                         (a * a / static_cast<double>(before.size() - 1) +
                          b * b / static_cast<double>(after.size() - 1));
  const boost::math::students_t distribution(freedom);
  const double half =
      boost::math::quantile(boost::math::complement(distribution, (1 - probability) / 2)) *
      std::sqrt(a + b);
  return {difference - half, difference + half};
}

TraceComparison compare(const BoardTrace& before, const BoardTrace& after) {
  TraceComparison found;
  found.frames_before = before.summary.frames.size();
  found.frames_after = after.summary.frames.size();
  found.total =
      change_of(kTotalTime, totals_ms(before.summary), totals_ms(after.summary), kProbability);
  found.total.kind = change_kind(found.total, true, true);
  found.stages = stages_of(before.summary, after.summary);
  found.operators = operators_of(before.summary, after.summary);
  found.sentence = comparison_sentence(found, before, after);
  return found;
}

std::string comparison_text(const BoardTrace& before, const BoardTrace& after) {
  const TraceComparison found = compare(before, after);
  std::string text = printable(found.sentence) + "\n" + method_text(found) + "\n";
  append_changes("stage", found.stages, text);
  append_changes("operator", found.operators, text);
  return text;
}

Json comparison_json(const BoardTrace& before, const BoardTrace& after) {
  const TraceComparison found = compare(before, after);
  return {{"schema", 1},
          {"type", "trace-comparison"},
          {"sentence", found.sentence},
          {"method", kMethod},
          {"before", trace_json(before)},
          {"after", trace_json(after)},
          {"total", to_json(found.total)},
          {"stages", to_json(found.stages)},
          {"operators", to_json(found.operators)}};
}

std::string comparison_html(const BoardTrace& before, const BoardTrace& after,
                            const std::string& made_by) {
  constexpr std::size_t kMaxOperatorsOnPage = 30;
  const TraceComparison found = compare(before, after);
  Page page("lookout trace-summary", "Two traces", "");
  page.add_verdict(found.sentence);
  const auto frames = [](std::size_t count) { return std::to_string(count) + " frames"; };
  page.add_part("Traces", "",
                to_html(Facts{{"before", before.file + ", " + frames(found.frames_before)},
                              {"after", after.file + ", " + frames(found.frames_after)}}),
                Page::Width::kFull);
  if (!found.stages.empty()) {
    page.add_part("Stages", method_text(found),
                  to_html(changes_table("Milliseconds a frame", found.stages)), Page::Width::kFull);
  }
  if (!found.operators.empty()) {
    page.add_part("Operators", method_text(found),
                  to_html(changes_table("Self time in milliseconds a frame", found.operators),
                          kMaxOperatorsOnPage),
                  Page::Width::kFull);
  }
  return page.to_html(made_by);
}

}  // namespace lookout
