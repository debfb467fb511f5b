#include "platform/history/history_store.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "platform/system/damaged_copies.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kHistorySchema = 1;
constexpr float kScoreScale = 1000;

// `at` is in milliseconds since 1970, `picture` in bytes, `score` in thousandths. The key of a
// change has its number, too: several may come in a millisecond. `summed`: what lies before is in
// `hour`; the last row before it stays, since it tells the state at that time.
constexpr const char* kCreate = R"(
CREATE TABLE watch(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE,
  summed INTEGER NOT NULL DEFAULT -9223372036854775808) STRICT;
CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE change(watch INTEGER NOT NULL, at INTEGER NOT NULL, number INTEGER NOT NULL,
  state INTEGER, score INTEGER NOT NULL, model INTEGER NOT NULL, picture INTEGER NOT NULL,
  PRIMARY KEY(watch, at, number)) STRICT, WITHOUT ROWID;
CREATE TABLE hour(watch INTEGER NOT NULL, hour INTEGER NOT NULL, state INTEGER NOT NULL,
  ms INTEGER NOT NULL, changes INTEGER NOT NULL,
  PRIMARY KEY(watch, hour, state)) STRICT, WITHOUT ROWID;
CREATE TABLE seen(id INTEGER PRIMARY KEY CHECK(id = 0), at INTEGER NOT NULL) STRICT;
PRAGMA user_version = 1;
)";

// SQLite finds damage of its structures by itself; the rest is what a torn log could leave.
constexpr const char* kFindStray = R"(
SELECT 1 FROM change WHERE watch NOT IN (SELECT id FROM watch)
  OR model NOT IN (SELECT id FROM name) OR state NOT IN (SELECT id FROM name)
UNION ALL SELECT 1 FROM hour WHERE watch NOT IN (SELECT id FROM watch)
  OR state NOT IN (SELECT id FROM name) LIMIT 1
)";

std::map<std::string, std::int64_t> read_ids(SqliteDatabase& database, const char* sql) {
  std::map<std::string, std::int64_t> ids;
  SqliteStatement rows(database, sql);
  while (rows.step()) ids[rows.text(1)] = rows.integer(0);
  return ids;
}

std::int64_t read_integer(SqliteDatabase& database, const char* sql) {
  SqliteStatement row(database, sql);
  return row.step() ? row.integer(0) : 0;
}

}  // namespace

struct HistoryStore::Row {
  HistoryTime at;
  std::int64_t number = 0;
  std::optional<std::int64_t> state;
  std::int64_t picture = 0;
};

HistoryStore::HistoryStore(const fs::path& folder)
    : lock_(folder),
      pictures_(folder),
      database_(checked_database(folder / kHistoryFile), SqliteDatabase::Access::kWrite) {
  prepare(folder / kHistoryFile);
  check_rows();
  watches_ = read_ids(database_, "SELECT id, text FROM watch");
  names_ = read_ids(database_, "SELECT id, text FROM name");
  next_number_ = read_integer(database_, "SELECT max(number) FROM change") + 1;
  picture_bytes_ = read_integer(database_, "SELECT sum(picture) FROM change");
  pictures_.remove_from(next_number_);
  end_open_states();
  first_number_ = next_number_;
}

HistoryStore::~HistoryStore() = default;

// A commit of the log reaches the disk within half a minute, as the kernel writes; the log is
// written back to the file only after it was synchronised, so that a power cut takes the last
// transactions at most. A commit writes whole pages, of which a few changes fill little: with pages
// of 1 KB a day of 1000 changes writes 2.0 MB, with the usual 4 KB 3.2 MB.
void HistoryStore::prepare(const fs::path& file) {
  check_integrity(database_);
  database_.execute("PRAGMA page_size = 1024");  // of a file that is made now
  SqliteStatement(database_, "PRAGMA journal_mode = WAL").step();
  database_.execute("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
  const std::int64_t schema = read_integer(database_, "PRAGMA user_version");
  if (schema == kHistorySchema) return;
  if (schema != 0) {
    throw std::system_error(ENOTSUP, std::generic_category(),
                            "the history was written by another version of lookout");
  }
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  SqliteTransaction transaction(database_);
  database_.execute(kCreate);
  transaction.commit();
}

void HistoryStore::check_rows() {
  database_.keep_log(true);
  if (SqliteStatement(database_, kFindStray).step()) {
    throw SqliteError::damage("rows name what is not there");
  }
  database_.keep_log(false);
}

void HistoryStore::end_open_states() {
  const HistoryTime seen = from_ms(read_integer(database_, "SELECT at FROM seen"));
  std::vector<HistoryChange> ends;
  for (const auto& [watch, id] : watches_) {
    SqliteStatement last(database_,
                         "SELECT at, state IS NULL FROM change WHERE watch = ? "
                         "ORDER BY at DESC, number DESC LIMIT 1");
    if (!last.bind(id).step() || last.integer(1) != 0) continue;
    HistoryChange end;
    end.at = std::max(seen, from_ms(last.integer(0)));
    end.watch = watch;
    end.number = take_number();
    ends.push_back(std::move(end));
  }
  if (!ends.empty()) add(ends);
}

void HistoryStore::write_picture(std::int64_t number, std::string_view jpeg) {
  pictures_.write(number, jpeg);
}

std::int64_t HistoryStore::id_of(const char* table, std::map<std::string, std::int64_t>& ids,
                                 const std::string& text) {
  const auto known = ids.find(text);
  if (known != ids.end()) return known->second;
  const std::string sql = std::string("INSERT INTO ") + table + "(text) VALUES(?) RETURNING id";
  SqliteStatement insertion(database_, sql);
  insertion.bind(text).step();
  return ids[text] = insertion.integer(0);
}

void HistoryStore::insert(const HistoryChange& change) {
  const std::int64_t watch = id_of("watch", watches_, change.watch);
  SqliteStatement insertion(database_, "INSERT INTO change VALUES(?, ?, ?, ?, ?, ?, ?)");
  insertion.bind(watch).bind(to_ms(change.at)).bind(change.number);
  if (change.state) {
    insertion.bind(id_of("name", names_, *change.state));
  } else {
    insertion.bind_null();
  }
  insertion.bind(std::lround(change.score * kScoreScale));
  insertion.bind(id_of("name", names_, change.model)).bind(change.picture).run();
}

void HistoryStore::add(const std::vector<HistoryChange>& changes) {
  const auto watches = watches_;
  const auto names = names_;
  try {
    SqliteTransaction transaction(database_);
    for (const HistoryChange& change : changes) insert(change);
    transaction.commit();
  } catch (...) {
    watches_ = watches;
    names_ = names;
    throw;
  }
  for (const HistoryChange& change : changes) picture_bytes_ += change.picture;
}

void HistoryStore::see(HistoryTime now) {
  SqliteStatement(database_, "INSERT OR REPLACE INTO seen VALUES(0, ?)").bind(to_ms(now)).run();
}

// The numbers in their keys keep rows apart while they move past each other.
void HistoryStore::shift(milliseconds by) {
  SqliteTransaction transaction(database_);
  SqliteStatement(database_, "UPDATE change SET at = at + ? WHERE number >= ?")
      .bind(by.count())
      .bind(first_number_)
      .run();
  database_.execute("DELETE FROM seen");
  transaction.commit();
}

// The file goes first: a row without it is one of a change without a picture. Returns its bytes,
// which no longer count when the transaction is written.
std::int64_t HistoryStore::forget_picture(const Row& row) {
  if (row.picture != 0) pictures_.remove(row.number);
  return row.picture;
}

// The states that ended before `before`, but at most kSlice, become sums.
bool HistoryStore::purge_watch(std::int64_t watch, HistoryTime before, std::int64_t& forgotten) {
  std::vector<Row> rows;
  {
    SqliteStatement oldest(database_,
                           "SELECT at, number, state, picture FROM change WHERE watch = ? AND "
                           "at < ? ORDER BY at, number LIMIT ?");
    oldest.bind(watch).bind(to_ms(before)).bind(kSlice + 1);
    while (oldest.step()) {
      Row row{from_ms(oldest.integer(0)), oldest.integer(1), {}, oldest.integer(3)};
      if (!oldest.is_null(2)) row.state = oldest.integer(2);
      rows.push_back(row);
    }
  }
  // The last one stays, since it tells the state at `before`; of one millisecond all stay.
  std::size_t end = rows.empty() ? 0 : rows.size() - 1;
  while (end > 0 && rows[end - 1].at == rows[end].at) --end;
  if (end == 0) return false;
  const Row& last = rows[end];
  SqliteStatement mark(database_, "SELECT summed FROM watch WHERE id = ?");
  mark.bind(watch).step();
  const HistoryTime summed = from_ms(mark.integer(0));
  HourSums hours;
  for (std::size_t i = 0; i < end; ++i) {
    forgotten += forget_picture(rows[i]);
    if (rows[i].state) hours.add(*rows[i].state, rows[i].at, rows[i + 1].at, summed, last.at);
  }
  SqliteStatement sum(database_,
                      "INSERT INTO hour VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                      "ms = ms + excluded.ms, changes = changes + excluded.changes");
  for (const auto& [key, added] : hours.sums) {
    sum.bind(watch).bind(key.first).bind(key.second);
    sum.bind(added.time.count()).bind(added.changes).run();
  }
  SqliteStatement(database_, "DELETE FROM change WHERE watch = ? AND at < ?")
      .bind(watch)
      .bind(to_ms(last.at))
      .run();
  SqliteStatement(database_, "UPDATE watch SET summed = max(summed, ?) WHERE id = ?")
      .bind(to_ms(last.at))
      .bind(watch)
      .run();
  return rows.size() > kSlice;
}

bool HistoryStore::purge(HistoryTime now, const HistoryLimits& limits) {
  SqliteTransaction transaction(database_);
  bool more = false;
  std::int64_t forgotten = 0;  // bytes of pictures
  for (const auto& [watch, id] : watches_) {
    if (!more) more = purge_watch(id, now - limits.changes, forgotten);
  }
  SqliteStatement(database_,
                  "DELETE FROM hour WHERE (watch, hour, state) IN (SELECT watch, hour, state FROM "
                  "hour WHERE hour < ? LIMIT ?)")
      .bind(hour_of(now - limits.sums))
      .bind(kSlice)
      .run();
  more = more || database_.changed_rows() == kSlice;
  transaction.commit();
  picture_bytes_ -= forgotten;
  return more;
}

// A row is too old when its state ended, which the next one tells.
std::optional<HistoryTime> HistoryStore::kept_until(const HistoryLimits& limits) {
  std::optional<HistoryTime> until;
  const auto note = [&until](HistoryTime time) { until = std::min(until.value_or(time), time); };
  for (const auto& [watch, id] : watches_) {
    SqliteStatement second(
        database_, "SELECT at FROM change WHERE watch = ? ORDER BY at, number LIMIT 1 OFFSET 1");
    if (second.bind(id).step()) note(from_ms(second.integer(0)) + limits.changes);
    SqliteStatement hour(database_, "SELECT min(hour) FROM hour WHERE watch = ?");
    if (!hour.bind(id).step() || hour.is_null(0)) continue;
    note(HistoryTime(std::chrono::hours(hour.integer(0))) + limits.sums);
  }
  return until;
}

void HistoryStore::trim_pictures(const HistoryLimits& limits) {
  if (picture_bytes_ <= limits.picture_bytes) return;
  constexpr std::int64_t kShareKept = 20;
  const std::int64_t target = limits.picture_bytes - limits.picture_bytes / kShareKept;
  SqliteTransaction transaction(database_);
  std::int64_t forgotten = 0;
  std::int64_t below = 0;  // all pictures with a lower number go
  {
    SqliteStatement oldest(database_,
                           "SELECT number, picture FROM change WHERE picture > 0 ORDER BY number");
    while (picture_bytes_ - forgotten > target && oldest.step()) {
      forgotten += forget_picture({{}, oldest.integer(0), {}, oldest.integer(1)});
      below = oldest.integer(0) + 1;
    }
  }
  SqliteStatement(database_, "UPDATE change SET picture = 0 WHERE picture > 0 AND number < ?")
      .bind(below)
      .run();
  transaction.commit();
  picture_bytes_ -= forgotten;
}

std::int64_t HistoryStore::pictures_since(HistoryTime time) {
  SqliteStatement count(database_, "SELECT count(*) FROM change WHERE at >= ? AND picture > 0");
  count.bind(to_ms(time)).step();
  return count.integer(0);
}

std::optional<HistoryTime> HistoryStore::newest() {
  SqliteStatement newest(database_, "SELECT max(at) FROM change");
  if (!newest.step() || newest.is_null(0)) return std::nullopt;
  return from_ms(newest.integer(0));
}

void set_history_aside(const fs::path& folder) {
  set_database_aside(folder / kHistoryFile, /*most=*/1);
}

OpenedHistory open_history(const fs::path& folder) {
  try {
    return {std::make_unique<HistoryStore>(folder), {}};
  } catch (const SqliteError& error) {
    if (!error.is_damage()) throw;
    set_history_aside(folder);
    return {std::make_unique<HistoryStore>(folder), error.what()};
  }
}

}  // namespace lookout
