// Decides when changes are written, and what happens when they cannot be.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "platform/history/history_readers.h"
#include "platform/history/history_store.h"
#include "platform/reporters/log_once.h"

namespace lookout {

// What a run's history came to, for other threads.
struct HistoryCounters {
  std::atomic<std::uint64_t> written = 0;   // as HistoryCounts
  std::atomic<std::uint64_t> lost = 0;      // likewise, and those that found no place on the way
  std::atomic<std::uint64_t> pictures = 0;  // as HistoryCounts, like the next ones
  std::atomic<std::uint64_t> without = 0;
  std::atomic<std::uint64_t> set_aside = 0;
};

struct HistoryOptions {
  std::filesystem::path folder;
  HistoryLimits limits;
  std::int64_t pictures_a_day = 500;            // of UTC; 0: none
  int picture_side = 320;                       // pixels, of the longer side at most
  std::shared_ptr<HistoryReaders> readers{};    // null: nobody reads it meanwhile
  std::shared_ptr<HistoryCounters> counters{};  // of a HistoryReporter; null: nobody looks
};

// One moment on two clocks.
struct HistoryNow {
  HistoryTime wall;                  // may be set
  std::chrono::milliseconds uptime;  // since the machine's start, including sleep; never set
  bool read = false;                 // somebody reads the history: nothing waits longer than kBatch
};

struct HistoryCounts {
  std::uint64_t written = 0;    // changes
  std::uint64_t lost = 0;       // changes that could not be written
  std::uint64_t pictures = 0;   // written
  std::uint64_t without = 0;    // changes whose picture was not written
  std::uint64_t set_aside = 0;  // files that were damaged
};

// Writes changes together: kBatch after the first that waits, so that a card is not written for
// each. A commit writes about 20 KB, in pages of the kernel: of the log 8, of the memory that
// readers share (history.db-shm) 12. So kBurst commits may follow each other, and one more every
// kPause, in which changes wait unless somebody reads: a day of 1000 changes then writes less than
// 4 MB. A full or read-only disk is logged once, until it is well again, and tried each kRetry;
// meanwhile the newest kMaxWaiting changes wait.
//
// What is too old is removed by a time that follows the wall clock, but slowly: an hour in which
// the run looks removes at most kPace hours of what is kept, the oldest ones, and one hour on the
// day after the clock went ahead by more than a day. So a board whose clock is a year ahead loses a
// day of its history while it runs for a day, not 90, and then a day for each hour; starts that
// follow each other cost nothing more. A board that was off removes what became too old at the same
// pace, and so does one whose HistoryLimits were lowered.
//
// No clock is read. Used by one thread at a time; nothing is thrown.
class HistoryRecorder {
 public:
  static constexpr std::chrono::seconds kBatch{10};
  static constexpr int kBurst = 20;
  static constexpr std::chrono::minutes kPause{10};
  static constexpr std::chrono::seconds kRetry{60};
  static constexpr std::chrono::seconds kUpkeep{60};
  // What is too old is removed so often, a slice each kUpkeep: each time writes pages, too.
  static constexpr std::chrono::hours kPurge{1};
  static constexpr std::chrono::minutes kSeen{10};  // see HistoryStore::see()
  static constexpr int kPace = 24;
  // A clock that went ahead by more than kLeap may be wrong for kDoubt, in which the pace is 1.
  static constexpr std::chrono::hours kLeap{24};
  static constexpr std::chrono::hours kDoubt{24};
  static constexpr std::size_t kMaxWaiting = 1000;
  static constexpr std::uintmax_t kMinFree = std::uintmax_t{200} << 20;  // bytes; else no pictures

  // The database is opened by the first advance().
  explicit HistoryRecorder(HistoryOptions options) : options_(std::move(options)) {}

  // `jpeg` makes the picture when it is wanted; empty: there is none.
  void add(HistoryChange change, const std::function<std::string()>& jpeg);

  // Does what is due. Times never go back on `uptime`.
  void advance(const HistoryNow& now);

  // Writes what waits. What cannot be written now is lost.
  void finish(const HistoryNow& now);

  const HistoryCounts& counts() const { return counts_; }

 private:
  template <typename Use>
  bool tried(const HistoryNow& now, Use use);
  void note_written();
  bool has_store(const HistoryNow& now);
  void note_clock(const HistoryNow& now);
  bool has_shifted(const HistoryNow& now);
  void commit(const HistoryNow& now);
  void keep_up(const HistoryNow& now);
  HistoryTime retention_time(const HistoryNow& now);
  bool wants_picture(HistoryTime at);

  const HistoryOptions options_;
  std::unique_ptr<HistoryStore> store_;
  std::deque<HistoryChange> waiting_;
  std::optional<std::chrono::milliseconds> first_waits_;  // its uptime
  std::optional<std::chrono::milliseconds> retry_;
  std::optional<std::chrono::milliseconds> boot_;  // the wall clock's time at uptime 0
  std::chrono::milliseconds unshifted_{};          // by which the rows of this run are behind it
  std::chrono::milliseconds rested_{};             // from this uptime on kBurst commits may follow
  std::chrono::milliseconds purge_{};              // not before this uptime
  std::chrono::milliseconds purged_{};             // the uptime of the last purge, or of the start
  std::chrono::milliseconds doubt_{};              // until this uptime
  HistoryTime retention_;                          // what is removed is too old for this time
  std::chrono::milliseconds kept_up_{};
  std::chrono::milliseconds seen_{};
  std::int64_t day_ = 0;  // since 1970, of the pictures that are counted
  std::int64_t pictures_today_ = 0;
  HistoryCounts counts_;
  LogOnce failures_;
  LogOnce picture_failures_;
};

}  // namespace lookout
