// When what a library's owner threw away goes, though the clock may be wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "platform/system/sqlite.h"

namespace lookout {

// Of a TeachLibrary, whose rows are stamped when they are thrown away. Time counts as far as the
// program was seen to count: kMaxCounted at most since it counted before. Stamps of before move by
// the rest, and later ones are within kMaxCounted after that. Times are in milliseconds since 1970.
//
// Used by one thread at a time. Throws SqliteError.
class TrashClock {
 public:
  static constexpr std::chrono::hours kMaxCounted{25};

  explicit TrashClock(SqliteDatabase& database) : database_(database) {}

  // Makes its table unless it is there.
  void prepare();
  // Of what is thrown away now.
  std::int64_t stamp(std::int64_t now);
  // To be called once a day. Writes nothing.
  void count(std::int64_t now);
  // By how much the stamps have yet to move.
  std::int64_t uncounted() const { return uncounted_; }
  // Moves them, in a transaction of the caller, who calls moved() when it is committed.
  void move_stamps();
  void moved() { uncounted_ = 0; }

 private:
  SqliteDatabase& database_;
  std::optional<std::int64_t> counted_;  // until when; nothing: the table tells
  std::int64_t uncounted_ = 0;
};

}  // namespace lookout
