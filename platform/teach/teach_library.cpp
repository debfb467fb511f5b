#include "platform/teach/teach_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "pipeline/core/printable.h"
#include "platform/system/damaged_copies.h"
#include "platform/teach/watch_rules.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr int kTeachSchema = 1;
constexpr double kMillion = 1e6;
constexpr std::int64_t kNoneId = 0;  // in place of a class

// Times are in milliseconds since 1970, minutes of the local day, regions in millionths, brightness
// in hundredths. `class` is null for a picture without a label, and 0 for kNoneOfThem.
constexpr const char* kCreateLibrary = R"(
CREATE TABLE watch(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, title TEXT NOT NULL,
  x INTEGER NOT NULL, y INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
  revision INTEGER NOT NULL, removed INTEGER) STRICT;
CREATE UNIQUE INDEX watch_name ON watch(name) WHERE removed IS NULL;
CREATE TABLE class(id INTEGER PRIMARY KEY AUTOINCREMENT, watch INTEGER NOT NULL,
  text TEXT NOT NULL, place INTEGER NOT NULL, UNIQUE(watch, text)) STRICT;
CREATE TABLE hold(number INTEGER PRIMARY KEY AUTOINCREMENT, watch INTEGER NOT NULL,
  at INTEGER NOT NULL) STRICT;
CREATE TABLE picture(number INTEGER PRIMARY KEY AUTOINCREMENT, watch INTEGER NOT NULL,
  class INTEGER, hold INTEGER NOT NULL, at INTEGER NOT NULL, minute INTEGER NOT NULL,
  brightness INTEGER NOT NULL, night INTEGER NOT NULL, origin INTEGER NOT NULL, guess INTEGER,
  bytes INTEGER NOT NULL, trashed INTEGER, revision INTEGER NOT NULL) STRICT;
CREATE INDEX picture_watch ON picture(watch, number);
PRAGMA user_version = 1;
)";

constexpr const char* kSelectPictures =
    "SELECT p.number, w.name, p.class, c.text, p.hold, p.at, p.minute, p.brightness, p.night, "
    "p.origin, p.guess, g.text, p.bytes, p.trashed, p.revision "
    "FROM picture p JOIN watch w ON w.id = p.watch "
    "LEFT JOIN class c ON c.id = p.class LEFT JOIN class g ON g.id = p.guess ";

std::int64_t ms_of(const TeachTime& time) { return time.at.time_since_epoch().count(); }

std::int64_t millionths(double value) { return std::llround(value * kMillion); }
double from_millionths(std::int64_t value) { return static_cast<double>(value) / kMillion; }

TaughtPicture picture_of(const SqliteStatement& row) {
  constexpr float kHundred = 100;
  int column = 0;
  TaughtPicture picture;
  picture.number = row.integer(column++);
  picture.watch = row.text(column++);
  // A class has two columns, its id and its text.
  const auto take_label = [&row, &column] {
    const bool is_none = !row.is_null(column) && row.integer(column) == kNoneId;
    column += 2;
    return is_none ? kNoneOfThem : row.text(column - 1);
  };
  picture.label = take_label();
  picture.hold = row.integer(column++);
  picture.time.at = decltype(picture.time.at)(std::chrono::milliseconds(row.integer(column++)));
  picture.time.minute = static_cast<int>(row.integer(column++));
  picture.brightness = static_cast<float>(row.integer(column++)) / kHundred;
  picture.night = row.integer(column++) != 0;
  picture.origin = static_cast<PictureOrigin>(row.integer(column++));
  picture.guess = take_label();
  picture.bytes = row.integer(column++);
  picture.trashed = !row.is_null(column++);
  picture.revision = row.integer(column);
  return picture;
}

bool is_out_of_room(const std::error_code& code) {
  return code == std::errc::no_space_on_device || code == std::errc::file_too_large ||
         code.value() == EDQUOT;
}

[[noreturn]] void refuse_storage(bool full, const std::string& why) {
  if (full) throw TeachError(TeachProblem::kDiskFull, "the disk is full");
  throw TeachError(TeachProblem::kStorage, "the disk refuses: " + why);
}

[[noreturn]] void refuse_missing_watch(const std::string& name) {
  throw TeachError(TeachProblem::kNoWatch, fmt::format("there is no watch '{}'", printable(name)),
                   printable(name));
}

[[noreturn]] void refuse_number_of_watches(std::size_t count) {
  throw TeachError(TeachProblem::kTooManyWatches,
                   fmt::format("there are {} watches already", count), std::to_string(count));
}

}  // namespace

template <typename Use>
auto TeachLibrary::guarded(Use use) {
  try {
    return use();
  } catch (const SqliteError& error) {
    if (error.is_damage()) throw;
    refuse_storage(error.is_full(), error.what());
  } catch (const std::system_error& error) {
    refuse_storage(is_out_of_room(error.code()), error.code().message());
  }
}

TeachLibrary::TeachLibrary(const fs::path& folder, const TeachLimits& limits)
    : limits_(limits),
      folder_(folder),
      lock_(folder),
      pictures_(folder),
      database_(checked_database(folder / kTeachFile), SqliteDatabase::Access::kWrite),
      trash_(database_) {
  prepare();
  next_number_ = integer("SELECT max(seq) FROM sqlite_sequence WHERE name = 'picture'") + 1;
  pictures_.remove_from(next_number_);
}

// People do not press a button twice because of a power cut: each commit is synchronised.
void TeachLibrary::prepare() {
  check_integrity(database_);
  SqliteStatement(database_, "PRAGMA journal_mode = WAL").step();
  database_.execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
  const std::int64_t schema = integer("PRAGMA user_version");
  if (schema == kTeachSchema) return trash_.prepare();
  if (schema != 0) {
    throw std::system_error(ENOTSUP, std::generic_category(),
                            "the library was written by another version of lookout");
  }
  SqliteTransaction transaction(database_);
  database_.execute(kCreateLibrary);
  trash_.prepare();
  transaction.commit();
  sync_folder(folder_);
}

std::int64_t TeachLibrary::integer(const char* sql) {
  SqliteStatement row(database_, sql);
  return row.step() ? row.integer(0) : 0;
}

std::int64_t TeachLibrary::watch_id(const std::string& name) {
  SqliteStatement row(database_, "SELECT id FROM watch WHERE name = ? AND removed IS NULL");
  if (!row.bind(name).step()) refuse_missing_watch(name);
  return row.integer(0);
}

// Nothing for an empty label.
std::optional<std::int64_t> TeachLibrary::class_id(std::int64_t watch, const std::string& label) {
  if (label.empty()) return std::nullopt;
  if (label == kNoneOfThem) return kNoneId;
  SqliteStatement row(database_, "SELECT id FROM class WHERE watch = ? AND text = ?");
  if (!row.bind(watch).bind(label).step()) {
    throw TeachError(TeachProblem::kNoClass,
                     fmt::format("the watch has no class '{}'", printable(label)),
                     printable(label));
  }
  return row.integer(0);
}

TaughtWatch TeachLibrary::read_watch(std::int64_t id) {
  TaughtWatch watch;
  SqliteStatement row(database_,
                      "SELECT name, title, x, y, width, height, revision FROM watch WHERE id = ?");
  row.bind(id).step();
  int column = 0;
  watch.name = row.text(column++);
  watch.title = row.text(column++);
  for (double* side : {&watch.roi.x, &watch.roi.y, &watch.roi.width, &watch.roi.height}) {
    *side = from_millionths(row.integer(column++));
  }
  watch.revision = row.integer(column);
  SqliteStatement classes(database_, "SELECT text FROM class WHERE watch = ? ORDER BY place, id");
  classes.bind(id);
  while (classes.step()) watch.classes.push_back(classes.text(0));
  return watch;
}

std::vector<TaughtWatch> TeachLibrary::watches() {
  return guarded([&] {
    std::vector<TaughtWatch> watches;
    SqliteStatement rows(database_, "SELECT id FROM watch WHERE removed IS NULL ORDER BY id");
    while (rows.step()) watches.push_back(read_watch(rows.integer(0)));
    return watches;
  });
}

TaughtWatch TeachLibrary::watch(const std::string& name) {
  return guarded([&] { return read_watch(watch_id(name)); });
}

// One that the watch has already may be another's, too.
void TeachLibrary::check_title(std::int64_t id, const TaughtWatch& watch) {
  const std::string& shown = watch.title.empty() ? watch.name : watch.title;
  SqliteStatement same(database_,
                       "SELECT id FROM watch WHERE removed IS NULL AND CASE title WHEN '' THEN "
                       "name ELSE title END = ? ORDER BY id <> ?");
  if (!same.bind(shown).bind(id).step() || same.integer(0) == id) return;
  throw TeachError(TeachProblem::kTitleExists,
                   fmt::format("there is a watch called '{}' already", printable(shown)), shown);
}

void TeachLibrary::write_watch(std::int64_t id, const TaughtWatch& watch) {
  SqliteStatement update(database_,
                         "UPDATE watch SET title = ?, x = ?, y = ?, width = ?, height = ?, "
                         "revision = revision + 1 WHERE id = ?");
  update.bind(watch.title);
  for (const double side : {watch.roi.x, watch.roi.y, watch.roi.width, watch.roi.height}) {
    update.bind(millionths(side));
  }
  update.bind(id).run();
  write_classes(id, watch.classes);
}

void TeachLibrary::write_classes(std::int64_t id, const std::vector<std::string>& classes) {
  for (const std::string& gone : read_watch(id).classes) {
    if (std::find(classes.begin(), classes.end(), gone) != classes.end()) continue;
    const std::int64_t label = *class_id(id, gone);
    SqliteStatement used(database_, "SELECT 1 FROM picture WHERE class = ? LIMIT 1");
    if (used.bind(label).step()) {
      throw TeachError(TeachProblem::kClassHasPictures,
                       fmt::format("the class '{}' has pictures", gone), gone);
    }
    SqliteStatement(database_, "UPDATE picture SET guess = NULL WHERE guess = ?").bind(label).run();
    SqliteStatement(database_, "DELETE FROM class WHERE id = ?").bind(label).run();
  }
  SqliteStatement write(database_,
                        "INSERT INTO class(watch, text, place) VALUES(?, ?, ?) ON CONFLICT DO "
                        "UPDATE SET place = excluded.place");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    write.bind(id).bind(classes[i]).bind(static_cast<std::int64_t>(i)).run();
  }
}

TaughtWatch TeachLibrary::add_watch(const TaughtWatch& watch, const std::function<void()>& before) {
  check_watch(watch, limits_);
  return guarded([&] {
    SqliteTransaction transaction(database_);
    SqliteStatement same(database_, "SELECT 1 FROM watch WHERE name = ? AND removed IS NULL");
    if (same.bind(watch.name).step()) refuse_taken_name(watch.name);
    check_title(/*id=*/0, watch);
    const auto count = integer("SELECT count(*) FROM watch WHERE removed IS NULL");
    if (static_cast<std::size_t>(count) >= limits_.watches) {
      refuse_number_of_watches(limits_.watches);
    }
    SqliteStatement(database_, "INSERT INTO watch VALUES(NULL, ?, '', 0, 0, 0, 0, 0, NULL)")
        .bind(watch.name)
        .run();
    const std::int64_t id = integer("SELECT last_insert_rowid()");
    write_watch(id, watch);
    if (before) before();
    transaction.commit();
    return read_watch(id);
  });
}

TaughtWatch TeachLibrary::change_watch(const TaughtWatch& watch) {
  check_watch(watch, limits_);
  return guarded([&] {
    SqliteTransaction transaction(database_);
    const std::int64_t id = watch_id(watch.name);
    if (read_watch(id).revision != watch.revision) {
      throw TeachError(TeachProblem::kChanged, "somebody else changed the watch meanwhile");
    }
    check_title(id, watch);
    write_watch(id, watch);
    transaction.commit();
    return read_watch(id);
  });
}

TaughtWatch TeachLibrary::rename_class(const std::string& watch, const std::string& from,
                                       const std::string& to) {
  check_class(to);
  return guarded([&] {
    SqliteTransaction transaction(database_);
    const std::int64_t id = watch_id(watch);
    const auto label = class_id(id, from);
    if (!label || *label == kNoneId) {
      throw TeachError(TeachProblem::kInvalid, "only a class can be renamed");
    }
    SqliteStatement taken(database_,
                          "SELECT 1 FROM class WHERE watch = ? AND text = ? AND id <> ?");
    if (taken.bind(id).bind(to).bind(*label).step()) {
      throw TeachError(TeachProblem::kClassExists, fmt::format("there is a class '{}' already", to),
                       to);
    }
    SqliteStatement(database_, "UPDATE class SET text = ? WHERE id = ?")
        .bind(to)
        .bind(*label)
        .run();
    SqliteStatement(database_, "UPDATE watch SET revision = revision + 1 WHERE id = ?")
        .bind(id)
        .run();
    transaction.commit();
    return read_watch(id);
  });
}

void TeachLibrary::remove_watch(const std::string& name, const TeachTime& now,
                                const std::function<void()>& before) {
  guarded([&] {
    SqliteTransaction transaction(database_);
    SqliteStatement(database_, "UPDATE watch SET removed = ? WHERE id = ?")
        .bind(trash_.stamp(ms_of(now)))
        .bind(watch_id(name))
        .run();
    if (before) before();
    transaction.commit();
    return true;
  });
}

// The newest of that name.
TaughtWatch TeachLibrary::restore_watch(const std::string& name) {
  return guarded([&] {
    SqliteTransaction transaction(database_);
    SqliteStatement removed(database_,
                            "SELECT id, (SELECT count(*) FROM watch WHERE removed IS NULL), EXISTS("
                            "SELECT 1 FROM watch WHERE name = w.name AND removed IS NULL) FROM "
                            "watch w WHERE name = ? AND removed IS NOT NULL ORDER BY id DESC");
    if (!removed.bind(name).step()) refuse_missing_watch(name);
    if (removed.integer(2) != 0) refuse_taken_name(name);
    if (static_cast<std::size_t>(removed.integer(1)) >= limits_.watches) {
      refuse_number_of_watches(limits_.watches);
    }
    const std::int64_t id = removed.integer(0);
    SqliteStatement(database_, "UPDATE watch SET removed = NULL WHERE id = ?").bind(id).run();
    transaction.commit();
    return read_watch(id);
  });
}

std::int64_t TeachLibrary::begin_hold(const std::string& watch, const std::string& label,
                                      const TeachTime& now) {
  return guarded([&] {
    const std::int64_t id = watch_id(watch);
    if (!class_id(id, label)) {
      throw TeachError(TeachProblem::kInvalid, "a hold is of a class");
    }
    SqliteStatement(database_, "INSERT INTO hold VALUES(NULL, ?, ?)")
        .bind(id)
        .bind(ms_of(now))
        .run();
    return integer("SELECT last_insert_rowid()");
  });
}

// A file is removed before its row.
std::size_t TeachLibrary::remove_pictures(SqliteStatement& numbers) {
  std::vector<std::int64_t> found;
  while (numbers.step()) found.push_back(numbers.integer(0));
  for (const std::int64_t number : found) pictures_.remove(number);
  SqliteTransaction transaction(database_);
  SqliteStatement removal(database_, "DELETE FROM picture WHERE number = ?");
  for (const std::int64_t number : found) removal.bind(number).run();
  transaction.commit();
  return found.size();
}

// Returns whether there was one.
bool TeachLibrary::remove_oldest(const std::string& condition) {
  SqliteStatement oldest(database_, fmt::format("SELECT number FROM picture WHERE {} ORDER BY "
                                                "number LIMIT 1",
                                                condition));
  return remove_pictures(oldest) > 0;
}

void TeachLibrary::make_room(const NewPicture& picture, std::int64_t bytes) {
  constexpr const char* kTrash = "trashed IS NOT NULL";
  constexpr const char* kUnlabelled = "class IS NULL AND trashed IS NULL";
  if (fs::space(folder_).available < limits_.free) {
    throw TeachError(TeachProblem::kDiskFull, "the disk is full");
  }
  if (picture.label.empty()) {
    const std::string of_watch =
        fmt::format("{} AND watch = {}", kUnlabelled, watch_id(picture.watch));
    const auto count = integer(("SELECT count(*) FROM picture WHERE " + of_watch).c_str());
    if (static_cast<std::size_t>(count) >= limits_.unlabelled) remove_oldest(of_watch);
  }
  const auto is_full = [&] {
    const TeachUsage used = usage();
    return used.pictures + 1 > limits_.pictures || used.bytes + bytes > limits_.bytes;
  };
  while (is_full()) {
    if (remove_oldest(kTrash)) continue;
    if (!picture.label.empty() && remove_oldest(kUnlabelled)) continue;
    throw TeachError(TeachProblem::kLibraryFull, "the library is full: throw pictures away");
  }
}

void TeachLibrary::insert(const NewPicture& picture, std::int64_t number, std::int64_t bytes) {
  constexpr float kHundred = 100;
  const std::int64_t watch = watch_id(picture.watch);
  SqliteStatement row(database_,
                      "INSERT INTO picture VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 1)");
  const auto bind_class = [&](const std::string& label) {
    const auto id = class_id(watch, label);
    id ? row.bind(*id) : row.bind_null();
  };
  row.bind(number).bind(watch);
  bind_class(picture.label);
  row.bind(picture.hold).bind(ms_of(picture.time)).bind(std::int64_t{picture.time.minute});
  row.bind(std::llround(picture.brightness * kHundred)).bind(std::int64_t{picture.night});
  row.bind(static_cast<std::int64_t>(picture.origin));
  bind_class(picture.guess);
  row.bind(bytes).run();
}

std::int64_t TeachLibrary::add_picture(const NewPicture& picture, std::string_view jpeg) {
  return guarded([&] {
    class_id(watch_id(picture.watch), picture.label);
    const auto bytes = static_cast<std::int64_t>(jpeg.size());
    make_room(picture, bytes);
    const std::int64_t number = next_number_++;
    try {
      pictures_.write(number, jpeg);
      sync_folder(pictures_.file(number).parent_path());
      sync_folder(pictures_.folder());
      insert(picture, number, bytes);
    } catch (...) {
      std::error_code ignored;
      fs::remove(pictures_.file(number), ignored);
      throw;
    }
    return number;
  });
}

std::vector<TaughtPicture> TeachLibrary::pictures(const PictureQuery& query) {
  return guarded([&] {
    const std::int64_t watch = watch_id(query.watch);
    std::string sql = std::string(kSelectPictures) + "WHERE p.watch = ? AND p.trashed IS ";
    sql += query.trashed ? "NOT NULL" : "NULL";
    std::optional<std::int64_t> label;
    if (query.label) {
      label = class_id(watch, *query.label);
      sql += label ? " AND p.class = ?" : " AND p.class IS NULL";
    }
    if (query.origin) sql += " AND p.origin = ?";
    if (query.before > 0) sql += " AND p.number < ?";
    SqliteStatement rows(database_, sql + " ORDER BY p.number DESC LIMIT ?");
    rows.bind(watch);
    if (label) rows.bind(*label);
    if (query.origin) rows.bind(static_cast<std::int64_t>(*query.origin));
    if (query.before > 0) rows.bind(query.before);
    rows.bind(static_cast<std::int64_t>(std::min(query.limit, kMaxMarks)));
    std::vector<TaughtPicture> pictures;
    while (rows.step()) pictures.push_back(picture_of(rows));
    return pictures;
  });
}

TaughtPicture TeachLibrary::picture(std::int64_t number) {
  return guarded([&] {
    SqliteStatement row(database_,
                        std::string(kSelectPictures) + "WHERE p.number = ? AND w.removed IS NULL");
    if (!row.bind(number).step()) {
      throw TeachError(TeachProblem::kNoPicture, fmt::format("there is no picture {}", number),
                       std::to_string(number));
    }
    return picture_of(row);
  });
}

std::optional<TaughtPicture> TeachLibrary::event_picture(const std::string& watch,
                                                         const TeachTime& time) {
  return guarded([&] {
    SqliteStatement row(database_, std::string(kSelectPictures) +
                                       "WHERE p.watch = ? AND p.at = ? AND p.origin = ?");
    row.bind(watch_id(watch)).bind(ms_of(time));
    row.bind(static_cast<std::int64_t>(PictureOrigin::kEvent));
    return row.step() ? std::optional(picture_of(row)) : std::nullopt;
  });
}

std::size_t TeachLibrary::unlabelled(const std::string& watch) {
  return guarded([&] {
    SqliteStatement row(database_,
                        "SELECT count(*) FROM picture WHERE watch = ? AND class IS NULL AND "
                        "trashed IS NULL");
    row.bind(watch_id(watch)).step();
    return static_cast<std::size_t>(row.integer(0));
  });
}

std::vector<TaughtPicture> TeachLibrary::labelled(const std::string& watch) {
  return guarded([&] {
    SqliteStatement rows(database_, std::string(kSelectPictures) +
                                        "WHERE p.watch = ? AND p.class IS NOT NULL AND p.trashed "
                                        "IS NULL ORDER BY p.number");
    rows.bind(watch_id(watch));
    std::vector<TaughtPicture> pictures;
    while (rows.step()) pictures.push_back(picture_of(rows));
    return pictures;
  });
}

PictureMark TeachLibrary::apply(const PictureMark& mark, const TeachTime& now) {
  const TaughtPicture before = picture(mark.number);
  if (mark.revision != 0 && mark.revision != before.revision) {
    throw TeachError(TeachProblem::kChanged, "somebody else changed a picture meanwhile");
  }
  SqliteStatement update(database_,
                         "UPDATE picture SET class = ?, trashed = CASE WHEN ? THEN coalesce("
                         "trashed, ?) END, revision = revision + 1 WHERE number = ?");
  const auto label = class_id(watch_id(before.watch), mark.label);
  label ? update.bind(*label) : update.bind_null();
  update.bind(std::int64_t{mark.trashed}).bind(trash_.stamp(ms_of(now))).bind(mark.number).run();
  return {mark.number, before.label, before.trashed, before.revision + 1};
}

std::vector<PictureMark> TeachLibrary::change(const std::vector<PictureMark>& marks,
                                              const TeachTime& now) {
  if (marks.size() > kMaxMarks) {
    throw TeachError(TeachProblem::kInvalid,
                     fmt::format("{} pictures at most are changed at once", kMaxMarks));
  }
  return guarded([&] {
    SqliteTransaction transaction(database_);
    std::vector<PictureMark> undo;
    undo.reserve(marks.size());
    for (const PictureMark& mark : marks) undo.push_back(apply(mark, now));
    transaction.commit();
    return undo;
  });
}

// Files are removed before anything is written: a full disk gets room by this. The stamps, which
// move last, are compared as they are.
std::size_t TeachLibrary::purge(const TeachTime& now) {
  return guarded([&] {
    trash_.count(ms_of(now));
    const std::int64_t before =
        ms_of(now) - std::chrono::milliseconds(limits_.trash).count() - trash_.uncounted();
    SqliteStatement old(database_,
                        "SELECT number FROM picture p WHERE trashed < ? OR EXISTS(SELECT 1 FROM "
                        "watch WHERE id = p.watch AND removed < ?) ORDER BY number LIMIT ?");
    old.bind(before).bind(before).bind(static_cast<std::int64_t>(kMaxMarks));
    const std::size_t removed = remove_pictures(old);
    if (removed > 0) return removed;
    SqliteTransaction transaction(database_);
    for (const char* sql :
         {"DELETE FROM class WHERE watch IN (SELECT id FROM watch WHERE removed < ?)",
          "DELETE FROM hold WHERE watch IN (SELECT id FROM watch WHERE removed < ?)",
          "DELETE FROM watch WHERE removed < ?"}) {
      SqliteStatement(database_, sql).bind(before).run();
    }
    trash_.move_stamps();
    transaction.commit();
    trash_.moved();
    return removed;
  });
}

TeachLibrary::Contents TeachLibrary::contents() {
  return guarded([&] {
    Contents contents;
    SqliteStatement numbers(database_, "SELECT number FROM picture");
    while (numbers.step()) contents.pictures.insert(numbers.integer(0));
    SqliteStatement names(database_, "SELECT name FROM watch");
    while (names.step()) contents.watches.insert(names.text(0));
    return contents;
  });
}

TeachUsage TeachLibrary::usage() {
  return guarded([&] {
    SqliteStatement row(database_, "SELECT count(*), coalesce(sum(bytes), 0) FROM picture");
    row.step();
    return TeachUsage{static_cast<std::size_t>(row.integer(0)), row.integer(1)};
  });
}

}  // namespace lookout
