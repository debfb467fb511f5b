// Remembers changes of states in a database, with their pictures beside it.
//
// A change is a row until it is older than the rows that are kept. Then it is added to the sums of
// its hour and removed, in one transaction. So no time is in both, and rows and sums cannot
// contradict each other, whatever of the last transactions a crash takes. HistoryReader adds up
// the rows of later hours when it is asked.
//
// No clock is read: times are given. They are UTC, in milliseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/history/hour_sums.h"
#include "platform/system/picture_files.h"
#include "platform/system/sqlite.h"
#include "platform/system/state_folder.h"

namespace lookout {

struct HistoryChange {
  HistoryTime at;
  std::string watch;  // what is watched; empty: the run's picture
  // The state from then on. Nothing: it is not known, because the camera is away or nobody looks.
  std::optional<std::string> state;
  float score = 0;           // 0..1, smoothed; 0 where a state has none. Kept to a thousandth
  std::string model;         // its name
  std::int64_t number = 0;   // HistoryStore::take_number()
  std::int64_t picture = 0;  // bytes of its file; 0: there is none
};

struct HistoryLimits {
  std::chrono::hours changes = std::chrono::hours(24 * 90);  // rows are kept so long
  std::chrono::hours sums = std::chrono::hours(24 * 730);
  std::int64_t picture_bytes = std::int64_t{500} << 20;
};

// The names of files in the folder of a history.
inline constexpr const char* kHistoryFile = "history.db";

// Writes. Used by one thread at a time; one in a folder, of all processes. Unless a function says
// otherwise, it throws SqliteError when the database refuses, and std::system_error for pictures.
class HistoryStore {
 public:
  // Makes the folder (not its parent) and the database unless they are there. What a run left open
  // that did not end by itself is ended: its states are not known after it was last seen. Throws
  // std::system_error, also when another process writes there.
  explicit HistoryStore(const std::filesystem::path& folder);
  ~HistoryStore();
  HistoryStore(const HistoryStore&) = delete;
  HistoryStore& operator=(const HistoryStore&) = delete;

  // For the next change, whether or not it is added.
  std::int64_t take_number() { return next_number_++; }

  // Writes the picture of a change that is not yet added.
  void write_picture(std::int64_t number, std::string_view jpeg);

  // In one transaction: all or none of them.
  void add(const std::vector<HistoryChange>& changes);

  // Notes that the states are still known.
  void see(HistoryTime now);

  // Moves all changes of this store, but not those of former ones, since the clock was set.
  void shift(std::chrono::milliseconds by);

  // Removes a slice of what is too old: at most kSlice rows. Returns whether there may be more.
  bool purge(HistoryTime now, const HistoryLimits& limits);

  // The last `now` for which purge() removes nothing; nothing: there is nothing to be removed ever.
  std::optional<HistoryTime> kept_until(const HistoryLimits& limits);

  // Removes the oldest pictures when all are larger than the limit, until they are a twentieth
  // below it.
  void trim_pictures(const HistoryLimits& limits);

  // How many changes since then have a picture.
  std::int64_t pictures_since(HistoryTime time);

  // The time of the newest change; nothing: there is none.
  std::optional<HistoryTime> newest();

  static constexpr int kSlice = 500;

 private:
  struct Row;

  void prepare(const std::filesystem::path& file);
  void check_rows();
  void end_open_states();
  std::int64_t id_of(const char* table, std::map<std::string, std::int64_t>& ids,
                     const std::string& text);
  void insert(const HistoryChange& change);
  bool purge_watch(std::int64_t watch, HistoryTime before, std::int64_t& forgotten);
  std::int64_t forget_picture(const Row& row);

  const FolderLock lock_;
  const PictureFiles pictures_;
  SqliteDatabase database_;
  std::map<std::string, std::int64_t> watches_;
  std::map<std::string, std::int64_t> names_;  // of states and models
  std::int64_t next_number_ = 1;
  std::int64_t first_number_ = 1;  // of this store
  std::int64_t picture_bytes_ = 0;
};

// A store, and what happened to the file that was there before.
struct OpenedHistory {
  std::unique_ptr<HistoryStore> store;
  std::string damage;  // the file was damaged, and is now kHistoryFile + ".damaged"; empty: no
};

// Opens the store. A damaged database and its pictures are renamed, in place of former ones, and a
// new one begins. Throws as HistoryStore.
OpenedHistory open_history(const std::filesystem::path& folder);

// Sets a damaged database and its pictures aside. Throws std::system_error.
void set_history_aside(const std::filesystem::path& folder);

}  // namespace lookout
