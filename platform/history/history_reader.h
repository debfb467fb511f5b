// Answers questions about a history, also while a run writes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/history/history_store.h"
#include "platform/history/hour_sums.h"
#include "platform/system/picture_files.h"
#include "platform/system/sqlite.h"

namespace lookout {

struct HistoryEvent : HistoryChange {
  std::optional<std::string> previous;  // the state before; nothing: it was not known
};

// What is asked for: changes in [from, to).
struct HistoryQuery {
  std::optional<std::string> watch;  // nothing: all
  std::optional<std::string> state;  // to which it changed; nothing: any
  HistoryTime from;
  HistoryTime to;
};

// A place in a list that is newest first: what comes after it is older.
struct HistoryCursor {
  HistoryTime at;
  std::int64_t number = 0;
};

// A state in an hour of UTC.
struct HourOfState {
  std::string watch;
  HistoryTime hour;  // its beginning
  std::string state;
  std::chrono::milliseconds time{};
  std::int64_t changes = 0;  // to this state
};

// Of the rows that were asked for those that fit into an answer.
template <typename Row>
struct HistoryPart {
  std::vector<Row> rows;
  // From when to ask on: before it nothing is left out. Nothing: these are all.
  std::optional<HistoryTime> next;
};

// The picture of a change.
struct EventPicture {
  HistoryTime at;
  std::string jpeg;  // the whole picture, turned as people see it
};

// Shows the history as it was when the reader was made; a store cannot write its log back
// meanwhile, so that a reader is short-lived. Used by one thread at a time. All functions throw
// SqliteError.
class HistoryReader {
 public:
  explicit HistoryReader(const std::filesystem::path& folder);

  // Newest first, at most `limit`. `after`: nothing for the first ones. `picture` is 0 when the
  // file is not there.
  std::vector<HistoryEvent> events(const HistoryQuery& query,
                                   const std::optional<HistoryCursor>& after, std::size_t limit);

  // Watch by watch, oldest first: the state at `from`, which the last change up to then began, and
  // the changes after it, of all watches at most `limit`. A watch that was not known before has no
  // first one. All watches end at the same time, `next`. `query.state` is not looked at.
  HistoryPart<HistoryEvent> timeline(const HistoryQuery& query, std::size_t limit);

  // Sums of the hours that [from, to) touches, in the order of hours: at most `limit`, but those of
  // an hour stay together. States that still last count until `known_until`. `query.state` is not
  // looked at.
  HistoryPart<HourOfState> hours(const HistoryQuery& query, HistoryTime known_until,
                                 std::size_t limit);

  // When the states were last known: that of the newest change, or later.
  std::optional<HistoryTime> last_seen();

  // Changes before this time may be missing: they are kept as sums alone.
  std::optional<HistoryTime> complete_since();

  // The change of that number; nothing: the watch has none.
  std::optional<HistoryEvent> event(const std::string& watch, std::int64_t number);

  // The file of a change; nothing: there is none.
  std::optional<std::filesystem::path> picture(std::int64_t number) const;

 private:
  struct Watch {
    std::int64_t id = 0;
    std::string name;
    HistoryTime summed;
  };

  std::vector<Watch> watches(const std::optional<std::string>& name);
  std::optional<std::int64_t> id_of(const std::string& state);  // nothing: it never was
  std::map<std::int64_t, std::string> names();
  void clamp_to_content(const std::vector<Watch>& watches, HistoryTime known_until,
                        HistoryQuery& whole);
  std::vector<HourOfState> hours_of(const std::vector<Watch>& watches,
                                    const std::map<std::int64_t, std::string>& names,
                                    const HistoryQuery& whole, HistoryTime known_until);
  void add_rows(const Watch& watch, const HistoryQuery& query, HistoryTime known_until,
                HourSums& hours);

  const PictureFiles pictures_;
  std::unique_ptr<SqliteDatabase> database_;
};

// Nothing: the watch has no change of that number, or this has no picture. Throws SqliteError.
std::optional<EventPicture> read_event_picture(const std::filesystem::path& folder,
                                               const std::string& watch, std::int64_t number);

}  // namespace lookout
