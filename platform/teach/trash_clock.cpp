#include "platform/teach/trash_clock.h"

#include <algorithm>

namespace lookout {
namespace {

constexpr std::int64_t kMostCounted = std::chrono::milliseconds(TrashClock::kMaxCounted).count();

}  // namespace

// Until when time was counted. Libraries of before have none.
void TrashClock::prepare() {
  database_.execute(
      "CREATE TABLE IF NOT EXISTS counted(id INTEGER PRIMARY KEY CHECK(id = 1), at INTEGER NOT "
      "NULL) STRICT");
}

// By the clock of the count before, as other stamps are.
std::int64_t TrashClock::stamp(std::int64_t now) {
  std::optional<std::int64_t> counted = counted_;
  SqliteStatement row(database_, "SELECT at FROM counted");
  if (!counted && row.step()) counted = row.integer(0);
  return counted ? std::clamp(now, *counted, *counted + kMostCounted) - uncounted_ : now;
}

// What was never counted before is as old as the newest of it.
void TrashClock::count(std::int64_t now) {
  if (!counted_) {
    SqliteStatement row(database_,
                        "SELECT coalesce((SELECT at FROM counted), (SELECT max(at) FROM (SELECT "
                        "trashed AS at FROM picture UNION ALL SELECT removed FROM watch)), ?)");
    row.bind(now).step();
    counted_ = row.integer(0);
  }
  const std::int64_t passed = now - *counted_;
  uncounted_ += passed - std::clamp<std::int64_t>(passed, 0, kMostCounted);
  counted_ = now;
}

void TrashClock::move_stamps() {
  if (uncounted_ != 0) {
    for (const char* sql : {"UPDATE picture SET trashed = min(trashed + ?, ?)",
                            "UPDATE watch SET removed = min(removed + ?, ?)"}) {
      SqliteStatement(database_, sql).bind(uncounted_).bind(*counted_).run();
    }
  }
  SqliteStatement(database_, "INSERT OR REPLACE INTO counted VALUES(1, ?)").bind(*counted_).run();
}

}  // namespace lookout
