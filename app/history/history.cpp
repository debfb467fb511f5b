#include "app/history/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/history/history_reader.h"
#include "platform/history/history_text.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;

// Nothing is left out here, however much there is.
constexpr std::size_t kAllRows = std::numeric_limits<std::int32_t>::max();

HistoryTime time_option(const std::string& flag, const std::string& text, HistoryTime now) {
  if (const auto time = parse_history_time(text, now)) return *time;
  throw Error(ErrorKind::kUsage,
              fmt::format("{} {}: a time is written 2026-11-21, 2026-11-21T12:00, 15min or 7d "
                          "(ago), or as seconds since 1970",
                          flag, text));
}

std::string local_text(HistoryTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(seconds)));
}

// With the zone's name, by which hours differ that come twice.
std::string local_text_with_zone(HistoryTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  const std::tm parts = fmt::localtime(static_cast<std::time_t>(seconds));
  return fmt::format("{} {}", local_text(time), parts.tm_zone);
}

// "45 s", "12 min", "5 h 10 min", "3 d 4 h"
std::string span_text(milliseconds time) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(time).count();
  if (seconds < kMinute) return fmt::format("{} s", seconds);
  if (seconds < kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < kDay) {
    return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / kMinute);
  }
  return fmt::format("{} d {} h", seconds / kDay, seconds % kDay / kHour);
}

std::string state_text(const HistoryEvent& event) {
  std::string text;
  if (!event.watch.empty()) append_escaped(event.watch + ": ", text);
  append_escaped(event.state.value_or("not known"), text);
  return text;
}

std::string states_as_text(const std::vector<HistoryEvent>& states, HistoryTime at,
                           HistoryTime known) {
  if (states.empty()) return "no state is known\n";
  std::string text;
  for (const HistoryEvent& event : states) {
    text += fmt::format("{} since {}", state_text(event), local_text(event.at));
    const bool stale = event.state && known < at;
    text += stale ? fmt::format(", last seen {}\n", local_text(known))
                  : fmt::format(" ({})\n", span_text(at - event.at));
  }
  return text;
}

std::string changes_as_text(const std::vector<HistoryEvent>& events) {
  std::string text;
  for (const HistoryEvent& event : events) {
    text += fmt::format("{}  {}", local_text(event.at), state_text(event));
    constexpr float kPercent = 100;
    if (event.score > 0) text += fmt::format(" {:.1f} %", event.score * kPercent);
    text += '\n';
  }
  return text;
}

std::string hours_as_text(const std::vector<HourOfState>& rows) {
  std::string text;
  for (const HourOfState& hour : rows) {
    HistoryEvent named;
    named.watch = hour.watch;
    named.state = hour.state;
    text +=
        fmt::format("{}  {} {}, {} {}\n", local_text_with_zone(hour.hour), state_text(named),
                    span_text(hour.time), hour.changes, hour.changes == 1 ? "change" : "changes");
  }
  return text;
}

// How the rows look in the format that is asked for.
template <typename Row, typename AsText>
std::string formatted(TableFormat format, const HistoryPart<Row>& part, const char* name,
                      const HistoryQuery& query, HistoryTime known, HistoryReader& reader,
                      AsText as_text) {
  if (format == TableFormat::kText) return as_text(part.rows);
  if (format == TableFormat::kCsv) return to_csv(part.rows);
  return timeline_json({query.from, query.to, known, reader.complete_since(), part.next}, name,
                       to_json(part.rows));
}

std::string answer(const HistoryViewOptions& options, HistoryReader& reader, HistoryTime now) {
  HistoryQuery query;
  query.watch = options.watch;
  query.to = options.to.empty() ? now : time_option("--to", options.to, now);
  query.from = query.to - hours(24);
  if (!options.from.empty()) query.from = time_option("--from", options.from, now);
  if (query.from > query.to) {
    throw Error(ErrorKind::kUsage, "--from is later than --to");
  }
  const HistoryTime known = known_until(reader, now);
  if (options.view == HistoryView::kHours) {
    return formatted(options.format, reader.hours(query, known, kAllRows), "hours", query, known,
                     reader, hours_as_text);
  }
  if (options.view == HistoryView::kChanges) {
    return formatted(options.format, reader.timeline(query, kAllRows), "changes", query, known,
                     reader, changes_as_text);
  }
  query.from = query.to;
  return formatted(options.format, reader.timeline(query, kAllRows), "changes", query, known,
                   reader,
                   [&](const auto& states) { return states_as_text(states, query.to, known); });
}

}  // namespace

void show_history(const HistoryViewOptions& options,
                  const std::function<void(std::string_view)>& print) {
  const fs::path file = fs::path(options.folder) / kHistoryFile;
  if (access(file.c_str(), R_OK) != 0) {
    if (errno == EACCES) {
      throw Error(ErrorKind::kPermission,
                  fmt::format("{} may not be read: members of the group lookout may, or sudo",
                              file.string()));
    }
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is not there: a run remembers its states with history.folder; "
                            "lookout history DIR shows another folder",
                            file.string()));
  }
  try {
    HistoryReader reader(options.folder);
    const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    print(answer(options, reader, now));
  } catch (const SqliteError& error) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{} cannot be read: {}", file.string(), error.what()));
  }
}

}  // namespace lookout
