#include "platform/history/history_store.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>
#include <numeric>
#include <random>

#include "platform/history/history_reader.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// 2026-11-21 12:00:00 UTC
const HistoryTime kStart{seconds(1795262400)};
constexpr hours kDay{24};

class HistoryStoreTest : public testing::Test {
 protected:
  std::filesystem::path folder() const { return directory_.path() / "history"; }

  static HistoryChange change(HistoryStore& store, HistoryTime at, std::optional<std::string> state,
                              const std::string& watch = "") {
    HistoryChange change;
    change.at = at;
    change.watch = watch;
    change.state = std::move(state);
    change.score = 0.875F;
    change.model = "gate.pt";
    change.number = store.take_number();
    return change;
  }

  static void add(HistoryStore& store, HistoryTime at, std::optional<std::string> state,
                  const std::string& watch = "") {
    store.add({change(store, at, std::move(state), watch)});
  }

  static HistoryQuery all() {
    return {{}, {}, HistoryTime::min(), HistoryTime(hours(24 * 365 * 200))};
  }

  // "open 12:00 closed 12:30", of the timeline.
  std::string timeline(HistoryTime from, HistoryTime to) const {
    return text_of(HistoryReader(folder()).timeline({{}, {}, from, to}, 1000).rows);
  }

  static std::string text_of(const std::vector<HistoryEvent>& events) {
    std::string text;
    for (const HistoryEvent& event : events) {
      if (!text.empty()) text += " ";
      const auto after = std::chrono::duration_cast<minutes>(event.at - kStart);
      text += event.watch + event.state.value_or("-") + "@" + std::to_string(after.count());
    }
    return text;
  }

  // Milliseconds and changes of each state in each hour, by rows and by sums.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums(HistoryTime until) const {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums;
    HistoryQuery query = all();
    query.from = kStart - hours(24 * 1000);
    query.to = kStart + hours(24 * 1000);
    for (const HourOfState& hour : HistoryReader(folder()).hours(query, until, 100'000).rows) {
      const auto after = std::chrono::duration_cast<hours>(hour.hour - kStart).count();
      auto& sum = sums[hour.watch + hour.state + "@" + std::to_string(after)];
      sum.first += hour.time.count();
      sum.second += hour.changes;
    }
    return sums;
  }

 private:
  TempDir directory_;
};

TEST_F(HistoryStoreTest, EventsAreNewestFirstWithTheStateBefore) {
  HistoryStore store(folder());
  add(store, kStart, "closed");
  add(store, kStart + minutes(5), "open");
  add(store, kStart + minutes(6), std::nullopt);
  HistoryReader reader(folder());
  const auto events = reader.events(all(), {}, 10);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].state, std::nullopt);
  EXPECT_EQ(events[0].previous, "open");
  EXPECT_EQ(events[1].state, "open");
  EXPECT_EQ(events[1].previous, "closed");
  EXPECT_EQ(events[1].at, kStart + minutes(5));
  EXPECT_EQ(events[1].model, "gate.pt");
  EXPECT_FLOAT_EQ(events[1].score, 0.875F);
  EXPECT_EQ(events[2].previous, std::nullopt);
}

TEST_F(HistoryStoreTest, AListGoesOnBehindItsCursorAndKeepsToWatchStateAndTime) {
  HistoryStore store(folder());
  for (int i = 0; i < 10; ++i) {
    // Two of a millisecond each.
    const HistoryTime at = kStart + minutes(i / 2);
    add(store, at, i % 2 == 0 ? "open" : "closed", i % 3 == 0 ? "gate" : "door");
  }
  HistoryReader reader(folder());
  std::vector<std::int64_t> numbers;
  std::optional<HistoryCursor> cursor;
  for (auto page = reader.events(all(), cursor, 3); !page.empty();
       page = reader.events(all(), cursor, 3)) {
    for (const HistoryEvent& event : page) numbers.push_back(event.number);
    cursor = HistoryCursor{page.back().at, page.back().number};
  }
  EXPECT_THAT(numbers, ElementsAre(10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
  HistoryQuery query = all();
  query.watch = "gate";
  query.state = "open";
  EXPECT_THAT(reader.events(query, {}, 10), SizeIs(2));  // 0, 6
  query = all();
  query.from = kStart + minutes(1);
  query.to = kStart + minutes(2);
  EXPECT_THAT(reader.events(query, {}, 10), SizeIs(2));
}

// Counts what SQLite's virtual machine does for databases that are opened meanwhile, by one thread.
class CountedSteps {
 public:
  CountedSteps() {
    count() = 0;
    sqlite3_auto_extension(entry());
  }
  ~CountedSteps() { sqlite3_cancel_auto_extension(entry()); }
  CountedSteps(const CountedSteps&) = delete;
  CountedSteps& operator=(const CountedSteps&) = delete;

  static int& count() {
    static int count = 0;
    return count;
  }

 private:
  static int watch(sqlite3* db, char** /*error*/, const void* /*routines*/) {
    const auto step = [](void* /*context*/) {
      ++count();
      return 0;
    };
    sqlite3_progress_handler(db, 1, step, nullptr);
    return SQLITE_OK;
  }
  static void (*entry())() { return reinterpret_cast<void (*)()>(&watch); }
};

TEST_F(HistoryStoreTest, ForAStateThatNeverWasNoChangeIsLookedAt) {
  constexpr int kChanges = 3000;
  HistoryStore store(folder());
  std::vector<HistoryChange> changes;
  changes.reserve(kChanges);
  for (int i = 0; i < kChanges; ++i) {
    changes.push_back(change(store, kStart + seconds(i), i % 2 == 0 ? "open" : "closed"));
  }
  store.add(changes);
  HistoryQuery query = all();
  const auto steps = [&](const char* state, std::size_t found) {
    const CountedSteps counted;
    query.state = state;
    EXPECT_THAT(HistoryReader(folder()).events(query, {}, kChanges), SizeIs(found)) << state;
    return CountedSteps::count();
  };
  EXPECT_LT(steps("ajar", 0), kChanges);
  EXPECT_GT(steps("open", kChanges / 2), kChanges) << "steps are counted";
}

TEST_F(HistoryStoreTest, AWindowBeginsWithTheStateThatItFinds) {
  HistoryStore store(folder());
  add(store, kStart, "closed");
  add(store, kStart + minutes(10), "open");
  add(store, kStart + minutes(20), "closed");
  EXPECT_EQ(timeline(kStart + minutes(15), kStart + minutes(30)), "open@10 closed@20");
  EXPECT_EQ(timeline(kStart + hours(50), kStart + hours(60)), "closed@20");
  EXPECT_EQ(timeline(kStart + minutes(10), kStart + minutes(20)), "open@10");
  EXPECT_EQ(timeline(kStart - hours(2), kStart - hours(1)), "");
  EXPECT_EQ(timeline(kStart - hours(1), kStart + minutes(11)), "closed@0 open@10");
}

// A watch with many changes must not cost another one its state.
TEST_F(HistoryStoreTest, ATimelineOfManyChangesEndsForAllWatchesAtOneTimeAndGoesOnFromThere) {
  HistoryStore store(folder());
  add(store, kStart, "closed", "a");
  add(store, kStart, "closed", "b");
  for (int i = 1; i <= 20; ++i) {
    add(store, kStart + minutes(i), i % 2 == 0 ? "closed" : "open", "a");
  }
  add(store, kStart + minutes(3), "open", "b");
  HistoryReader reader(folder());
  HistoryQuery query{{}, {}, kStart, kStart + hours(1)};
  auto part = reader.timeline(query, 5);
  EXPECT_EQ(text_of(part.rows), "aclosed@0 aopen@1 aclosed@2 aopen@3 aclosed@4 bclosed@0 bopen@3");
  ASSERT_EQ(part.next, kStart + minutes(5));
  query.from = *part.next;
  part = reader.timeline(query, 100);
  EXPECT_THAT(part.rows, SizeIs(17));
  EXPECT_EQ(text_of({part.rows.front(), part.rows.back()}), "aopen@5 bopen@3");
  EXPECT_EQ(part.next, std::nullopt);
  EXPECT_EQ(reader.timeline(query, 15).next, std::nullopt) << "as many as fit";
}

TEST_F(HistoryStoreTest, HoursThatDoNotFitAreAskedForFromTheNextOneOn) {
  HistoryStore store(folder());
  for (int day = 0; day < 200; ++day) {
    add(store, kStart + day * kDay, "open", "gate");
    add(store, kStart + day * kDay + minutes(20), "closed", "gate");
    add(store, kStart + day * kDay + minutes(30), std::nullopt, "gate");
    add(store, kStart + day * kDay, "open", "door");
    add(store, kStart + day * kDay + minutes(30), std::nullopt, "door");
  }
  const HistoryTime now = kStart + 200 * kDay;
  while (store.purge(now, {})) {
  }
  HistoryReader reader(folder());
  HistoryQuery query{{}, {}, HistoryTime(), now};
  const auto all = reader.hours(query, now, 10'000);
  ASSERT_THAT(all.rows, SizeIs(600));
  EXPECT_EQ(all.next, std::nullopt);
  std::vector<HistoryTime> hours;
  std::optional<HistoryTime> next = query.from;
  for (int answers = 0; next; ++answers) {
    ASSERT_LT(answers, 200);
    query.from = *next;
    const auto part = reader.hours(query, now, 10);
    ASSERT_LE(part.rows.size(), 10);
    for (const HourOfState& row : part.rows) hours.push_back(row.hour);
    next = part.next;
  }
  ASSERT_THAT(hours, SizeIs(600));
  for (std::size_t i = 0; i < hours.size(); ++i) EXPECT_EQ(hours[i], all.rows[i].hour);
  query.from = HistoryTime();
  EXPECT_THAT(reader.hours(query, now, 1).rows, SizeIs(3)) << "an hour stays together";
}

TEST_F(HistoryStoreTest, HoursHaveTheTimeOfEachStateAndHowOftenItBegan) {
  HistoryStore store(folder());
  add(store, kStart + minutes(30), "open");
  add(store, kStart + minutes(100), "closed");
  add(store, kStart + minutes(110), std::nullopt);
  add(store, kStart + minutes(170), "open");
  const std::int64_t minute = 60'000;
  const std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected{
      {"open@0", {30 * minute, 1}},
      {"open@1", {40 * minute, 0}},
      {"closed@1", {10 * minute, 1}},
      {"open@2", {10 * minute, 1}},
      {"open@3", {5 * minute, 0}}};
  EXPECT_EQ(sums(kStart + minutes(185)), expected);
}

// Whatever was purged, and in which slices: the sums are those of the rows that there were.
TEST_F(HistoryStoreTest, PurgedRowsGoIntoTheSumsOfTheirHours) {
  HistoryStore store(folder());
  std::mt19937 random(1);
  std::vector<HistoryChange> changes;
  HistoryTime at = kStart;
  const std::vector<std::optional<std::string>> states{"open", "closed", "unknown", std::nullopt};
  for (int i = 0; i < 3000; ++i) {
    at += milliseconds(random() % 10 == 0 ? 0 : random() % 600'000);
    changes.push_back(
        change(store, at, states[random() % states.size()], random() % 2 == 0 ? "gate" : "door"));
  }
  store.add(changes);
  const auto before = sums(at + hours(1));
  HistoryLimits limits;
  limits.changes = kDay;
  int slices = 1;
  for (; store.purge(at, limits); ++slices) {
    EXPECT_EQ(sums(at + hours(1)), before);
  }
  EXPECT_GT(slices, 3);
  EXPECT_EQ(sums(at + hours(1)), before);
  limits.changes = hours(0);
  while (store.purge(at + hours(1), limits)) {
  }
  EXPECT_EQ(sums(at + hours(1)), before);
  EXPECT_THAT(HistoryReader(folder()).events(all(), {}, 10), SizeIs(2));
}

TEST_F(HistoryStoreTest, AWindowAfterThePurgeStillShowsItsState) {
  HistoryStore store(folder());
  add(store, kStart, "closed");
  add(store, kStart + minutes(10), "open");
  EXPECT_EQ(HistoryReader(folder()).complete_since(), std::nullopt);
  while (store.purge(kStart + 200 * kDay, {})) {
  }
  EXPECT_EQ(timeline(kStart + 199 * kDay, kStart + 200 * kDay), "open@10");
  EXPECT_EQ(HistoryReader(folder()).complete_since(), kStart + minutes(10));
}

TEST_F(HistoryStoreTest, SumsAreKeptForTheirTime) {
  HistoryStore store(folder());
  for (int day = 0; day < 800; ++day) {
    add(store, kStart + day * kDay, "open");
    add(store, kStart + day * kDay + minutes(1), std::nullopt);
  }
  const HistoryTime now = kStart + 800 * kDay;
  while (store.purge(now, {})) {
  }
  HistoryReader reader(folder());
  EXPECT_THAT(reader.events(all(), {}, 10'000), SizeIs(2 * 90 + 1));
  HistoryQuery query{{}, {}, kStart, now};
  EXPECT_THAT(reader.hours(query, now, 1000).rows, SizeIs(730));
}

TEST_F(HistoryStoreTest, ARunThatWasKilledIsEndedWhenItWasLastSeen) {
  {
    HistoryStore store(folder());
    add(store, kStart, "open", "gate");
    add(store, kStart + minutes(2), "closed", "door");
    store.see(kStart + minutes(10));
  }
  HistoryStore store(folder());
  add(store, kStart + minutes(30), "open", "gate");
  EXPECT_EQ(timeline(kStart, kStart + hours(1)),
            "doorclosed@2 door-@10 gateopen@0 gate-@10 gateopen@30");
}

TEST_F(HistoryStoreTest, ARunThatEndedByItselfIsNotEndedAgain) {
  for (int run = 0; run < 3; ++run) {
    HistoryStore store(folder());
    if (run > 0) continue;
    add(store, kStart, "open");
    add(store, kStart + minutes(1), std::nullopt);
  }
  EXPECT_EQ(timeline(kStart, kStart + hours(1)), "open@0 -@1");
}

// A board starts with an old clock, which is then set.
TEST_F(HistoryStoreTest, ASetClockMovesTheChangesOfThisRunAlone) {
  {
    HistoryStore store(folder());
    add(store, kStart, "open");
    add(store, kStart + minutes(1), std::nullopt);
  }
  HistoryStore store(folder());
  add(store, kStart - hours(5), "closed");
  add(store, kStart - hours(4), "open");
  store.shift(hours(10));
  EXPECT_EQ(timeline(kStart, kStart + kDay), "open@0 -@1 closed@300 open@360");
  store.shift(-hours(24 * 365));
  store.shift(hours(24 * 365));
  EXPECT_EQ(timeline(kStart, kStart + kDay), "open@0 -@1 closed@300 open@360");
}

TEST_F(HistoryStoreTest, OneProcessWritesAtATime) {
  const HistoryStore store(folder());
  EXPECT_THROW(HistoryStore{folder()}, std::system_error);
}

TEST_F(HistoryStoreTest, ADamagedFileIsSetAsideWithItsPictures) {
  {
    HistoryStore store(folder());
    HistoryChange open = change(store, kStart, "open");
    store.write_picture(open.number, "jpeg");
    open.picture = 4;
    store.add({open});
  }
  {
    std::fstream file(folder() / kHistoryFile, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(20'000, 'x');
  }
  OpenedHistory opened = open_history(folder());
  EXPECT_THAT(opened.damage, testing::Not(IsEmpty()));
  EXPECT_TRUE(exists(folder() / "history.db.damaged"));
  EXPECT_TRUE(exists(folder() / "pictures.damaged/0/1.jpg"));
  add(*opened.store, kStart, "closed");
  EXPECT_EQ(timeline(kStart, kStart + kDay), "closed@0");
  opened.store.reset();
  EXPECT_THAT(open_history(folder()).damage, IsEmpty());
}

TEST_F(HistoryStoreTest, AFileThatWasEmptiedKeepsItsPictures) {
  for (const auto& lose :
       {+[](const std::filesystem::path& file) { resize_file(file, 0); },
        +[](const std::filesystem::path& file) { std::filesystem::remove(file); }}) {
    {
      HistoryStore store(folder());
      HistoryChange open = change(store, kStart, "open");
      store.write_picture(open.number, "jpeg");
      store.add({open});
    }
    lose(folder() / kHistoryFile);
    EXPECT_THAT(open_history(folder()).damage, testing::Not(IsEmpty()));
    EXPECT_TRUE(exists(folder() / "pictures.damaged/0/1.jpg"));
    std::filesystem::remove_all(folder());
  }
}

TEST_F(HistoryStoreTest, AFolderOfPicturesThatIsNoneOfOursStays) {
  std::filesystem::create_directories(folder() / "pictures/holidays");
  EXPECT_THAT(open_history(folder()).damage, IsEmpty());
  EXPECT_TRUE(exists(folder() / "pictures/holidays"));
}

TEST_F(HistoryStoreTest, ADamagedFileKeepsItsLogWhichMayHaveTheNewestChanges) {
  { const HistoryStore first(folder()); }
  HistoryStore store(folder());
  add(store, kStart, "open");
  const auto set_aside = [this](const std::string& name, const auto& damage) {
    // As if the machine had lost its power now.
    const auto crashed = folder().parent_path() / name;
    std::filesystem::copy(folder(), crashed, std::filesystem::copy_options::recursive);
    damage(crashed / kHistoryFile);
    const std::string log = read_file(crashed / "history.db-wal");
    EXPECT_THAT(log, testing::Not(IsEmpty()));
    const std::string told = open_history(crashed).damage;
    EXPECT_TRUE(read_file(crashed / "history.db.damaged-wal") == log) << told;
    return told;
  };
  const auto overwrite = [](const std::filesystem::path& file) {
    const auto size = file_size(file);
    std::ofstream(file) << std::string(size, 'x');
  };
  EXPECT_THAT(set_aside("overwritten", overwrite), HasSubstr("not a database"));
  const auto lose_names = [](const std::filesystem::path& file) {
    SqliteDatabase database(file, SqliteDatabase::Access::kWrite);
    database.keep_log(true);
    database.execute("DELETE FROM name");
  };
  EXPECT_THAT(set_aside("strayed", lose_names), HasSubstr("name what is not there"));
}

TEST_F(HistoryStoreTest, AFileOfAnotherKindIsSetAside) {
  std::filesystem::create_directory(folder());
  std::ofstream(folder() / kHistoryFile)
      << "no database at all, but longer than a header " << std::string(200, '.');
  EXPECT_THAT(open_history(folder()).damage, HasSubstr("not a database"));
}

TEST_F(HistoryStoreTest, PicturesGoWithTheirChangesAndBySize) {
  HistoryStore store(folder());
  const std::string jpeg(1000, 'x');
  for (int i = 0; i < 20; ++i) {
    HistoryChange next = change(store, kStart + i * kDay, i % 2 == 0 ? "open" : "closed");
    store.write_picture(next.number, jpeg);
    next.picture = static_cast<std::int64_t>(jpeg.size());
    store.add({next});
  }
  HistoryLimits limits;
  limits.changes = 15 * kDay;
  while (store.purge(kStart + 20 * kDay, limits)) {
  }
  EXPECT_EQ(HistoryReader(folder()).picture(4), std::nullopt);
  EXPECT_NE(HistoryReader(folder()).picture(5), std::nullopt);
  limits.picture_bytes = 10'000;
  store.trim_pictures(limits);
  std::vector<std::int64_t> with_picture;
  for (const HistoryEvent& event : HistoryReader(folder()).events(all(), {}, 100)) {
    if (event.picture > 0) with_picture.push_back(event.number);
  }
  EXPECT_THAT(with_picture, ElementsAre(20, 19, 18, 17, 16, 15, 14, 13, 12));
  EXPECT_EQ(HistoryReader(folder()).picture(11), std::nullopt);
  EXPECT_EQ(store.pictures_since(kStart + 18 * kDay), 2);
}

TEST_F(HistoryStoreTest, APictureWithoutItsChangeIsRemovedAndAChangeWithoutItsPictureHasNone) {
  {
    HistoryStore store(folder());
    HistoryChange open = change(store, kStart, "open");
    store.write_picture(open.number, "jpeg");
    open.picture = 4;
    store.add({open});
    store.write_picture(store.take_number(), "of a change that was not added");
  }
  EXPECT_TRUE(exists(folder() / "pictures/0/2.jpg"));
  const HistoryStore store(folder());
  EXPECT_FALSE(exists(folder() / "pictures/0/2.jpg"));
  std::filesystem::remove(folder() / "pictures/0/1.jpg");
  EXPECT_EQ(HistoryReader(folder()).events(all(), {}, 10).back().picture, 0);
}

}  // namespace
}  // namespace lookout
