#include "platform/history/history_reader.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr float kThousandth = 0.001F;

// Columns: at, number, watch, state, score, model, picture, and the state before.
constexpr const char* kSelectEvent = R"(
SELECT c.at, c.number, w.text, s.text, c.score, m.text, c.picture,
  (SELECT n.text FROM change p LEFT JOIN name n ON n.id = p.state
   WHERE p.watch = c.watch AND (p.at, p.number) < (c.at, c.number)
   ORDER BY p.at DESC, p.number DESC LIMIT 1)
FROM change c JOIN watch w ON w.id = c.watch LEFT JOIN name s ON s.id = c.state
  JOIN name m ON m.id = c.model WHERE c.watch = ? )";

std::optional<std::string> text_or_nothing(const SqliteStatement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.text(column));
}

// All that is read is of one moment, that of the first statement.
std::unique_ptr<SqliteDatabase> begin_reading(const fs::path& file, SqliteDatabase::Access access) {
  auto database = std::make_unique<SqliteDatabase>(file, access);
  database->execute("BEGIN");
  SqliteStatement(*database, "SELECT count(*) FROM watch").step();
  return database;
}

// A database that nobody writes has no log. In a folder that is not ours to write into SQLite then
// reads it only when it is told that nobody will.
std::unique_ptr<SqliteDatabase> open_for_reading(const fs::path& file) {
  try {
    return begin_reading(file, SqliteDatabase::Access::kRead);
  } catch (const SqliteError&) {
    std::error_code ignored;
    if (!fs::exists(file, ignored) || fs::exists(file.string() + "-wal", ignored)) throw;
    return begin_reading(file, SqliteDatabase::Access::kReadUnchanged);
  }
}

HistoryEvent event_of(const SqliteStatement& row, const PictureFiles& pictures) {
  HistoryEvent event;
  int column = 0;
  event.at = from_ms(row.integer(column++));
  event.number = row.integer(column++);
  event.watch = row.text(column++);
  event.state = text_or_nothing(row, column++);
  event.score = static_cast<float>(row.integer(column++)) * kThousandth;
  event.model = row.text(column++);
  event.picture = row.integer(column++);
  event.previous = text_or_nothing(row, column);
  std::error_code ignored;
  if (event.picture > 0 && !fs::exists(pictures.file(event.number), ignored)) event.picture = 0;
  return event;
}

// Changes of several watches, each of which are in order, as one list in order.
class MergedRows {
 public:
  explicit MergedRows(bool newest_first) : newest_first_(newest_first) {}

  // `rows`: of kSelectEvent, in the order of time and number, which step() was not called for.
  void add(std::unique_ptr<SqliteStatement> rows) {
    if (rows->step()) lists_.push_back(std::move(rows));
  }

  // The next row, until this is called again; null: there is none.
  const SqliteStatement* next() {
    if (std::exchange(begun_, true) && !lists_.empty() && !lists_[current_]->step()) {
      lists_.erase(lists_.begin() + static_cast<std::ptrdiff_t>(current_));
    }
    if (lists_.empty()) return nullptr;
    const auto place = [](const auto& rows) {
      return std::pair(rows->integer(0), rows->integer(1));
    };
    const auto first =
        std::min_element(lists_.begin(), lists_.end(), [&](const auto& a, const auto& b) {
          return newest_first_ ? place(a) > place(b) : place(a) < place(b);
        });
    current_ = static_cast<std::size_t>(first - lists_.begin());
    return first->get();
  }

 private:
  const bool newest_first_;
  std::vector<std::unique_ptr<SqliteStatement>> lists_;  // each is at its next row
  bool begun_ = false;
  std::size_t current_ = 0;  // the list of the row that was the last one
};

}  // namespace

HistoryReader::HistoryReader(const fs::path& folder)
    : pictures_(folder), database_(open_for_reading(folder / kHistoryFile)) {}

std::vector<HistoryReader::Watch> HistoryReader::watches(const std::optional<std::string>& name) {
  std::vector<Watch> found;
  SqliteStatement rows(*database_, "SELECT id, text, summed FROM watch ORDER BY text");
  while (rows.step()) {
    Watch watch{rows.integer(0), rows.text(1), from_ms(rows.integer(2))};
    if (!name || watch.name == *name) found.push_back(std::move(watch));
  }
  return found;
}

std::optional<std::int64_t> HistoryReader::id_of(const std::string& state) {
  SqliteStatement row(*database_, "SELECT id FROM name WHERE text = ?");
  return row.bind(state).step() ? std::optional(row.integer(0)) : std::nullopt;
}

std::vector<HistoryEvent> HistoryReader::events(const HistoryQuery& query,
                                                const std::optional<HistoryCursor>& after,
                                                std::size_t limit) {
  const auto state = query.state ? id_of(*query.state) : std::nullopt;
  // No change ever had it: none is looked at.
  if (query.state && !state) return {};
  const HistoryCursor start =
      after.value_or(HistoryCursor{query.to, std::numeric_limits<std::int64_t>::min()});
  MergedRows merged(/*newest_first=*/true);
  for (const Watch& watch : watches(query.watch)) {
    auto rows = std::make_unique<SqliteStatement>(
        *database_, std::string(kSelectEvent) +
                        "AND c.at >= ? AND c.at <= ? AND (c.at, c.number) < (?, ?) " +
                        (state ? "AND c.state = ? " : "") + "ORDER BY c.at DESC, c.number DESC");
    rows->bind(watch.id).bind(to_ms(query.from));
    rows->bind(to_ms(std::min(query.to, start.at)));
    rows->bind(to_ms(start.at)).bind(start.number);
    if (state) rows->bind(*state);
    merged.add(std::move(rows));
  }
  std::vector<HistoryEvent> events;
  while (events.size() < limit) {
    const SqliteStatement* row = merged.next();
    if (row == nullptr) break;
    events.push_back(event_of(*row, pictures_));
  }
  return events;
}

HistoryPart<HistoryEvent> HistoryReader::timeline(const HistoryQuery& query, std::size_t limit) {
  std::map<std::string, std::vector<HistoryEvent>> events;  // by watch
  MergedRows merged(/*newest_first=*/false);
  for (const Watch& watch : watches(query.watch)) {
    SqliteStatement first(*database_, std::string(kSelectEvent) +
                                          "AND c.at <= ? "
                                          "ORDER BY c.at DESC, c.number DESC LIMIT 1");
    first.bind(watch.id).bind(to_ms(query.from));
    if (first.step()) events[watch.name].push_back(event_of(first, pictures_));
    auto rows = std::make_unique<SqliteStatement>(
        *database_,
        std::string(kSelectEvent) + "AND c.at > ? AND c.at < ? ORDER BY c.at, c.number");
    rows->bind(watch.id).bind(to_ms(query.from)).bind(to_ms(query.to));
    merged.add(std::move(rows));
  }
  HistoryPart<HistoryEvent> part;
  for (std::size_t count = 0; !part.next; ++count) {
    const SqliteStatement* row = merged.next();
    if (row == nullptr) break;
    HistoryEvent event = event_of(*row, pictures_);
    if (count == limit) part.next = event.at;
    events[event.watch].push_back(std::move(event));
  }
  for (auto& [watch, list] : events) {
    for (HistoryEvent& event : list) {
      if (!part.next || event.at < *part.next) part.rows.push_back(std::move(event));
    }
  }
  return part;
}

// What is not yet in the table of hours.
void HistoryReader::add_rows(const Watch& watch, const HistoryQuery& query, HistoryTime known_until,
                             HourSums& hours) {
  const HistoryTime from = std::max(query.from, watch.summed);
  const HistoryTime to = std::min(query.to, known_until);
  SqliteStatement rows(*database_,
                       "SELECT at, state FROM change WHERE watch = ?1 AND at < ?3 AND at >= "
                       "coalesce((SELECT max(at) FROM change WHERE watch = ?1 AND at <= ?2), ?2) "
                       "ORDER BY at, number");
  rows.bind(watch.id).bind(to_ms(from)).bind(to_ms(to));
  bool known = false;
  std::int64_t state = 0;
  HistoryTime begin;
  while (rows.step()) {
    const HistoryTime at = from_ms(rows.integer(0));
    if (known) hours.add(state, begin, at, from, to);
    begin = at;
    known = !rows.is_null(1);
    state = rows.integer(1);
  }
  if (known) hours.add(state, begin, to, from, to);
}

std::map<std::int64_t, std::string> HistoryReader::names() {
  std::map<std::int64_t, std::string> names;
  SqliteStatement rows(*database_, "SELECT id, text FROM name");
  while (rows.step()) names[rows.integer(0)] = rows.text(1);
  return names;
}

// Leaves out the hours before the first that has something, and those after the last.
void HistoryReader::clamp_to_content(const std::vector<Watch>& watches, HistoryTime known_until,
                                     HistoryQuery& whole) {
  using std::chrono::hours;
  HistoryTime begin = whole.to;
  HistoryTime end = std::chrono::ceil<hours>(known_until);
  for (const Watch& watch : watches) {
    SqliteStatement first(*database_, "SELECT min(at) FROM change WHERE watch = ?");
    if (first.bind(watch.id).step() && !first.is_null(0)) {
      begin = std::min(begin, HistoryTime(std::chrono::floor<hours>(from_ms(first.integer(0)))));
    }
    SqliteStatement sums(*database_, "SELECT min(hour), max(hour) FROM hour WHERE watch = ?");
    if (sums.bind(watch.id).step() && !sums.is_null(0)) {
      begin = std::min(begin, HistoryTime(hours(sums.integer(0))));
      end = std::max(end, HistoryTime(hours(sums.integer(1) + 1)));
    }
  }
  whole.from = std::max(whole.from, begin);
  whole.to = std::min(whole.to, end);
}

// `whole`: begins and ends with an hour.
std::vector<HourOfState> HistoryReader::hours_of(const std::vector<Watch>& watches,
                                                 const std::map<std::int64_t, std::string>& names,
                                                 const HistoryQuery& whole,
                                                 HistoryTime known_until) {
  std::vector<HourOfState> found;
  for (const Watch& watch : watches) {
    HourSums sums;
    SqliteStatement rows(*database_,
                         "SELECT hour, state, ms, changes FROM hour WHERE watch = ? AND "
                         "hour >= ? AND hour < ?");
    rows.bind(watch.id).bind(hour_of(whole.from)).bind(hour_of(whole.to));
    while (rows.step()) {
      enum { kHour, kState, kMs, kChanges };
      sums.sums[{rows.integer(kHour), rows.integer(kState)}] = {
          std::chrono::milliseconds(rows.integer(kMs)), rows.integer(kChanges)};
    }
    add_rows(watch, whole, known_until, sums);
    for (const auto& [key, sum] : sums.sums) {
      found.push_back({watch.name, HistoryTime(std::chrono::hours(key.first)), names.at(key.second),
                       sum.time, sum.changes});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const HourOfState& a, const HourOfState& b) { return a.hour < b.hour; });
  return found;
}

// A month at a time, so that no more is read than fits into the answer.
HistoryPart<HourOfState> HistoryReader::hours(const HistoryQuery& query, HistoryTime known_until,
                                              std::size_t limit) {
  using std::chrono::hours;
  constexpr hours kAtOnce{24 * 30};
  const auto asked = watches(query.watch);
  const auto names = this->names();
  HistoryQuery whole = query;
  whole.from = std::chrono::floor<hours>(query.from);
  whole.to = std::chrono::ceil<hours>(query.to);
  clamp_to_content(asked, known_until, whole);
  HistoryPart<HourOfState> part;
  for (HistoryQuery month = whole; month.from < whole.to; month.from = month.to) {
    month.to = std::min(whole.to, month.from + kAtOnce);
    auto found = hours_of(asked, names, month, known_until);
    part.rows.insert(part.rows.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
    if (part.rows.size() <= limit) continue;
    // The first hour is told, however many states it has: else nobody could go on.
    const HistoryTime next =
        std::max(part.rows[limit].hour, part.rows.front().hour + std::chrono::hours(1));
    const auto left_out = std::find_if(part.rows.begin(), part.rows.end(),
                                       [&](const HourOfState& row) { return row.hour >= next; });
    if (left_out == part.rows.end()) continue;
    part.rows.erase(left_out, part.rows.end());
    part.next = next;
    break;
  }
  return part;
}

std::optional<HistoryTime> HistoryReader::last_seen() {
  SqliteStatement last(*database_,
                       "SELECT max(at) FROM (SELECT at FROM seen UNION ALL SELECT max(at) FROM "
                       "change)");
  if (!last.step() || last.is_null(0)) return std::nullopt;
  return from_ms(last.integer(0));
}

std::optional<HistoryTime> HistoryReader::complete_since() {
  SqliteStatement since(*database_,
                        "SELECT max(summed) FROM watch WHERE id IN (SELECT watch FROM "
                        "hour)");
  if (!since.step() || since.is_null(0)) return std::nullopt;
  return from_ms(since.integer(0));
}

std::optional<HistoryEvent> HistoryReader::event(const std::string& watch, std::int64_t number) {
  for (const Watch& found : watches(watch)) {
    SqliteStatement row(*database_, std::string(kSelectEvent) + "AND c.number = ?");
    if (row.bind(found.id).bind(number).step()) return event_of(row, pictures_);
  }
  return std::nullopt;
}

std::optional<fs::path> HistoryReader::picture(std::int64_t number) const {
  fs::path file = pictures_.file(number);
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? std::optional(std::move(file)) : std::nullopt;
}

std::optional<EventPicture> read_event_picture(const fs::path& folder, const std::string& watch,
                                               std::int64_t number) {
  HistoryReader reader(folder);
  const auto event = reader.event(watch, number);
  const auto file = event ? reader.picture(number) : std::nullopt;
  if (!file) return std::nullopt;
  auto jpeg = read_picture(*file);
  if (!jpeg) return std::nullopt;
  return EventPicture{event->at, std::move(*jpeg)};
}

}  // namespace lookout
