#include "platform/history/history_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "pipeline/core/json_text.h"
#include "platform/history/history_recorder.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr double kMsPerSecond = 1000;
constexpr double kMaxSeconds = 1e11;  // the year 5138

std::optional<HistoryTime> time_before(std::string_view text, HistoryTime now) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kUnits{
      {{"min", 60}, {"h", 3600}, {"d", 86'400}, {"s", 1}}};
  for (const auto& [unit, seconds] : kUnits) {
    if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) continue;
    const auto number = parse_number<double>(text.substr(0, text.size() - unit.size()));
    if (!number || !(*number >= 0 && *number * seconds <= kMaxSeconds)) return std::nullopt;
    return now - milliseconds(std::llround(*number * seconds * kMsPerSecond));
  }
  return std::nullopt;
}

// mktime() alone may take either hour when one comes twice, by what it was asked before.
std::time_t first_local_time(const std::tm& parts) {
  std::optional<std::time_t> first;
  for (const int is_summer : {0, 1}) {
    std::tm there = parts;
    there.tm_isdst = is_summer;
    const std::time_t seconds = mktime(&there);
    if (there.tm_isdst == is_summer) first = std::min(first.value_or(seconds), seconds);
  }
  if (first) return *first;
  std::tm left_out = parts;  // in the hour in which no clock is
  left_out.tm_isdst = -1;
  return mktime(&left_out);
}

std::optional<HistoryTime> date(std::string text) {
  const bool is_utc = !text.empty() && text.back() == 'Z';
  if (is_utc) text.pop_back();
  for (const char* form :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* end = strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    const std::time_t seconds = is_utc ? timegm(&parts) : first_local_time(parts);
    return HistoryTime(std::chrono::seconds(seconds));
  }
  return std::nullopt;
}

std::string seconds_text(milliseconds time) {
  return fmt::format("{:.3f}", static_cast<double>(time.count()) / kMsPerSecond);
}
std::string seconds_text(HistoryTime time) { return seconds_text(time.time_since_epoch()); }

std::string seconds_or_null(const std::optional<HistoryTime>& time) {
  return time ? seconds_text(*time) : "null";
}

std::string json_or_null(const std::optional<std::string>& text) {
  return text ? to_json(*text) : "null";
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string list_of(std::string elements) {
  if (!elements.empty()) elements.pop_back();  // the last comma
  return "[" + elements + "]";
}

}  // namespace

std::optional<HistoryTime> parse_history_time(std::string_view text, HistoryTime now) {
  if (const auto seconds = parse_number<double>(text)) {
    if (!(std::abs(*seconds) <= kMaxSeconds)) return std::nullopt;
    return HistoryTime(milliseconds(std::llround(*seconds * kMsPerSecond)));
  }
  if (const auto before = time_before(text, now)) return before;
  return date(std::string(text));
}

std::string to_iso_text(HistoryTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.time_since_epoch().count())),
                     (time - seconds).count());
}

// A run that looks without a change says so every kSeen, and a minute later at most.
HistoryTime known_until(HistoryReader& reader, HistoryTime now) {
  const HistoryTime seen = reader.last_seen().value_or(now);
  const bool lately = now - seen <= HistoryRecorder::kSeen + 2 * HistoryRecorder::kUpkeep;
  return lately ? std::max(now, seen) : seen;
}

std::string to_json(const std::vector<HistoryEvent>& events) {
  std::string list;
  for (const HistoryEvent& event : events) {
    list += fmt::format(
        R"({{"number":{},"at":{},"watch":{},"state":{},"previous":{},"score":{:.3f},"model":{},)"
        R"("picture":{}}},)",
        event.number, seconds_text(event.at), to_json(event.watch), json_or_null(event.state),
        json_or_null(event.previous), event.score, to_json(event.model), event.picture > 0);
  }
  return list_of(std::move(list));
}

std::string to_json(const std::vector<HourOfState>& hours) {
  std::string list;
  for (const HourOfState& hour : hours) {
    list += fmt::format(R"({{"at":{},"watch":{},"state":{},"seconds":{},"changes":{}}},)",
                        seconds_text(hour.hour), to_json(hour.watch), to_json(hour.state),
                        seconds_text(hour.time), hour.changes);
  }
  return list_of(std::move(list));
}

std::string to_csv(const std::vector<HistoryEvent>& events) {
  std::string csv = "time,watch,state,previous,score,model,number,picture\n";
  for (const HistoryEvent& event : events) {
    csv +=
        fmt::format("{},{},{},{},{:.3f},{},{},{}\n", to_iso_text(event.at), csv_text(event.watch),
                    csv_text(event.state.value_or("")), csv_text(event.previous.value_or("")),
                    event.score, csv_text(event.model), event.number, event.picture > 0);
  }
  return csv;
}

std::string to_csv(const std::vector<HourOfState>& hours) {
  std::string csv = "hour,watch,state,seconds,changes\n";
  for (const HourOfState& hour : hours) {
    csv += fmt::format("{},{},{},{},{}\n", to_iso_text(hour.hour), csv_text(hour.watch),
                       csv_text(hour.state), seconds_text(hour.time), hour.changes);
  }
  return csv;
}

std::string timeline_json(const TimelineHead& head, const char* name, const std::string& list) {
  const HistoryTime known = std::min(head.known_until, head.next.value_or(head.known_until));
  return fmt::format(
      R"({{"from":{},"to":{},"known_until":{},"complete_since":{},"next":{},"{}":{}}})"
      "\n",
      seconds_text(head.from), seconds_text(head.to), seconds_text(known),
      seconds_or_null(head.complete_since), seconds_or_null(head.next), name, list);
}

}  // namespace lookout
