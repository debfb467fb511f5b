// What a history tells, as JSON and CSV, and the times that are asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/history/history_reader.h"

namespace lookout {

// A time as people and programs write it; nothing: it is none. Seconds since 1970
// (1795262400.5); a date, with or without a time of day (2026-11-21, 2026-11-21T12:00,
// 2026-11-21 12:00:30), of this machine's time zone, or of UTC with a Z behind it; or how long
// before `now` (90s, 15min, 24h, 7d). A day of the zone may have 23 or 25 hours; of an hour that
// comes twice its first time is meant.
std::optional<HistoryTime> parse_history_time(std::string_view text, HistoryTime now);

// `2026-11-21T12:00:00.123Z`
std::string to_iso_text(HistoryTime time);

// Until when states that have not ended are known: `now`, if a run was seen lately.
HistoryTime known_until(HistoryReader& reader, HistoryTime now);

// Times are seconds since 1970, a state or time that is not known is null:
// `{"number":7,"at":1795262400.123,"watch":"","state":"open","previous":null,"score":0.875,
// "model":"gate.pt","picture":true}`
std::string to_json(const std::vector<HistoryEvent>& events);
// `{"at":1795262400.000,"watch":"","state":"open","seconds":1800.000,"changes":1}`
std::string to_json(const std::vector<HourOfState>& hours);

// A line of names, then one for each; times are ISO 8601 in UTC.
std::string to_csv(const std::vector<HistoryEvent>& events);
std::string to_csv(const std::vector<HourOfState>& hours);

// What is told of a list besides its rows.
struct TimelineHead {
  HistoryTime from;  // as it was asked for
  HistoryTime to;
  HistoryTime known_until;
  std::optional<HistoryTime> complete_since;  // see HistoryReader::complete_since()
  std::optional<HistoryTime> next;            // of HistoryPart
};

// `{"from":...,"to":...,"known_until":...,"complete_since":...,"next":...,"changes":[...]}`, or
// "hours". `list`: the array. Of what ends before all is told no state is known after `next`.
std::string timeline_json(const TimelineHead& head, const char* name, const std::string& list);

}  // namespace lookout
