#include "platform/history/history_recorder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "platform/history/history_reader.h"
#include "platform/history/history_reporter.h"
#include "platform/system/sqlite.h"
#include "tests/support/captured_log.h"
#include "tests/support/fakes.h"
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
using testing::Not;
using testing::SizeIs;

constexpr hours kYear{24 * 365};

int count_of(const CapturedLog& log, const std::string& part) {
  const std::string text = log.text();
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// No file can grow while it lives.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{0, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

// Virtual time. The wall clock starts at 2026-11-21 12:00:00 UTC.
class HistoryRecorderTest : public testing::Test {
 protected:
  HistoryRecorderTest() { options_.folder = directory_.path() / "history"; }

  void start() { recorder_ = std::make_unique<HistoryRecorder>(options_); }

  // Lets time go by, in seconds as the reporter does, or longer steps when it is long.
  void wait(milliseconds time) {
    const seconds step(time > hours(12) ? 30 : 1);
    for (const auto end = now_.uptime + time; now_.uptime < end;) {
      now_.uptime += step;
      now_.wall += step;
      recorder_->advance(now_);
    }
  }

  void add(std::optional<std::string> state, bool picture = false) {
    HistoryChange change;
    change.at = now_.wall;
    change.state = std::move(state);
    change.model = "gate.pt";
    std::function<std::string()> jpeg;
    if (picture) jpeg = [] { return std::string(1000, 'x'); };
    recorder_->add(std::move(change), jpeg);
    recorder_->advance(now_);
  }

  std::vector<HistoryEvent> events() const {
    HistoryReader reader(options_.folder);
    return reader.events({{}, {}, HistoryTime(hours(0)), HistoryTime(hours(24 * 365 * 200))}, {},
                         10'000);
  }

  const TempDir directory_;
  HistoryOptions options_;
  HistoryNow now_{HistoryTime(seconds(1795262400)), seconds(100)};
  std::unique_ptr<HistoryRecorder> recorder_;
};

TEST_F(HistoryRecorderTest, ChangesAreWrittenTogetherTenSecondsAfterTheFirst) {
  start();
  wait(seconds(1));
  add("open");
  wait(seconds(6));
  add("closed");
  wait(seconds(3));
  EXPECT_THAT(events(), IsEmpty());
  wait(seconds(1));
  EXPECT_THAT(events(), SizeIs(2));
  EXPECT_EQ(recorder_->counts().written, 2);
}

// A commit writes some pages of a card, whatever is in it.
TEST_F(HistoryRecorderTest, ManyCommitsInARowMakeTheNextOnesRareAndRestMakesThemPrompt) {
  start();
  for (int i = 0; i < HistoryRecorder::kBurst; ++i) {
    add(i % 2 == 0 ? "open" : "closed");
    wait(seconds(10));
  }
  EXPECT_EQ(recorder_->counts().written, HistoryRecorder::kBurst);
  add("open");
  wait(minutes(2));
  add("closed");
  wait(minutes(4));
  EXPECT_EQ(recorder_->counts().written, HistoryRecorder::kBurst);
  wait(minutes(4));
  EXPECT_EQ(recorder_->counts().written, HistoryRecorder::kBurst + 2);
  wait(HistoryRecorder::kPause);
  add("open");
  wait(seconds(10));
  EXPECT_EQ(recorder_->counts().written, HistoryRecorder::kBurst + 3);
}

TEST_F(HistoryRecorderTest, WhileSomebodyReadsNoCommitIsRare) {
  start();
  for (int i = 0; i < HistoryRecorder::kBurst; ++i) {
    add(i % 2 == 0 ? "open" : "closed");
    wait(seconds(10));
  }
  add("open");
  wait(seconds(20));
  EXPECT_EQ(recorder_->counts().written, HistoryRecorder::kBurst);
  now_.read = true;
  wait(seconds(1));
  EXPECT_EQ(recorder_->counts().written, HistoryRecorder::kBurst + 1);
}

TEST_F(HistoryRecorderTest, TheEndWritesWhatWaits) {
  start();
  add("open");
  recorder_->finish(now_);
  EXPECT_THAT(events(), SizeIs(1));
}

TEST_F(HistoryRecorderTest, AFolderThatCannotBeWrittenIsLoggedOnceAndTriedAgain) {
  const CapturedLog log;
  std::ofstream(options_.folder) << "a file";
  start();
  add("open");
  wait(minutes(10));
  EXPECT_THAT(log.text(), HasSubstr("history cannot be written: "));
  EXPECT_EQ(log.text().find("cannot be written"), log.text().rfind("cannot be written"));
  std::filesystem::remove(options_.folder);
  wait(minutes(2));
  EXPECT_THAT(events(), SizeIs(1));
  EXPECT_EQ(recorder_->counts().lost, 0);
}

TEST_F(HistoryRecorderTest, OfADiskThatStaysFullTheNewestChangesWaitAndTheOthersAreCounted) {
  const CapturedLog log;
  start();
  add("open");
  wait(seconds(20));
  {
    const FullDisk full;
    for (int i = 0; i < 1200; ++i) {
      add(i % 2 == 0 ? "closed" : "open", i % 100 == 0);
      wait(seconds(1));
    }
  }
  EXPECT_EQ(recorder_->counts().written, 1);
  EXPECT_EQ(recorder_->counts().lost, 200);
  wait(minutes(2));
  EXPECT_THAT(events(), SizeIs(1001));
  EXPECT_EQ(recorder_->counts().written, 1001);
}

TEST_F(HistoryRecorderTest, AFolderThatFailsAgainAfterItWasWellIsLoggedAgain) {
  const CapturedLog log;
  start();
  add("open");
  wait(seconds(20));
  {
    const FullDisk full;
    add("closed");
    wait(minutes(5));
    EXPECT_EQ(count_of(log, "cannot be written"), 1);
  }
  wait(minutes(2));
  add("open");
  wait(seconds(20));
  EXPECT_THAT(log.text(), Not(HasSubstr("is written again")));
  add("closed");
  wait(seconds(20));
  EXPECT_THAT(log.text(), HasSubstr("history is written again; 0 changes were lost"));
  const FullDisk full;
  add("open");
  wait(minutes(5));
  EXPECT_EQ(count_of(log, "cannot be written"), 2);
}

TEST_F(HistoryRecorderTest, APictureThatFailsAgainAfterOthersWereWrittenIsLoggedAgain) {
  const CapturedLog log;
  start();
  wait(seconds(1));
  const auto pictures = options_.folder / "pictures";
  const auto fail = [&] {
    std::filesystem::remove_all(pictures);
    std::ofstream(pictures) << "a file";
    for (int i = 0; i < 3; ++i) add("open", /*picture=*/true);
    std::filesystem::remove(pictures);
  };
  fail();
  EXPECT_EQ(count_of(log, "a picture cannot"), 1);
  for (int i = 0; i < 3; ++i) add("open", /*picture=*/true);
  EXPECT_THAT(log.text(), HasSubstr("history: pictures are written again"));
  fail();
  EXPECT_EQ(count_of(log, "a picture cannot"), 2);
}

TEST_F(HistoryRecorderTest, ADatabaseThatIsDamagedMeanwhileIsSetAside) {
  start();
  add("open");
  wait(seconds(20));
  recorder_->finish(now_);
  std::ofstream(options_.folder / kHistoryFile) << std::string(9000, 'x');
  const CapturedLog log;
  start();
  add("closed");
  wait(seconds(20));
  EXPECT_THAT(log.text(), HasSubstr("was damaged (file is not a database) and is now "
                                    "history.db.damaged; a new one begins"));
  EXPECT_EQ(recorder_->counts().set_aside, 1);
  EXPECT_THAT(events(), SizeIs(1));
}

TEST_F(HistoryRecorderTest, AClockThatIsSetDatesTheChangesOfTheRun) {
  start();
  add("open");
  wait(minutes(1));
  now_.wall += kYear;
  wait(minutes(1));
  add("closed");
  wait(minutes(1));
  now_.wall -= kYear;
  wait(minutes(1));
  add("open");
  wait(seconds(20));
  const auto found = events();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].at - found[1].at, minutes(2));
  EXPECT_EQ(found[1].at - found[2].at, minutes(2));
  EXPECT_EQ(now_.wall - found[0].at, seconds(20));
}

TEST_F(HistoryRecorderTest, AClockThatIsSetWhileTheDiskIsFullDatesThemLater) {
  start();
  add("open");
  wait(minutes(1));
  {
    const FullDisk full;
    now_.wall += kYear;
    wait(minutes(1));
    add("closed");
    wait(minutes(1));
  }
  wait(minutes(3));
  const auto found = events();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].at - found[1].at, minutes(2));
  EXPECT_EQ(now_.wall - found[0].at, minutes(4));
}

// 80 days with a change in each hour, the last of which ends now.
class HistoryRetentionTest : public HistoryRecorderTest {
 protected:
  static constexpr std::size_t kHours = 80 * 24;

  HistoryRetentionTest() {
    HistoryStore store(options_.folder);
    std::vector<HistoryChange> changes;
    for (std::size_t hour = 0; hour <= kHours; ++hour) {
      HistoryChange change;
      change.at = now_.wall - hours(kHours - hour);
      if (hour < kHours) change.state = hour % 2 == 0 ? "open" : "closed";
      change.model = "gate.pt";
      change.number = store.take_number();
      changes.push_back(change);
    }
    store.add(changes);
  }

  // How many of these changes are left.
  std::size_t kept() const {
    const auto found = events();
    return static_cast<std::size_t>(std::count_if(
        found.begin(), found.end(), [this](const auto& event) { return event.at <= end_; }));
  }

 private:
  const HistoryTime end_ = now_.wall;
};

TEST_F(HistoryRetentionTest, AClockThatIsAYearAheadForADayCostsADay) {
  now_.wall += kYear;
  start();
  wait(hours(23));
  EXPECT_GE(kept(), kHours - 24);
  now_.wall -= kYear;
  wait(hours(48));
  EXPECT_GE(kept(), kHours - 24);
}

TEST_F(HistoryRetentionTest, AClockThatIsSetAYearAheadMeanwhileCostsAsLittle) {
  start();
  wait(hours(1));
  now_.wall += kYear;
  wait(hours(23));
  EXPECT_GE(kept(), kHours - 24);
}

// The changes of the first run are dated by the wrong clock, which the others take for right.
TEST_F(HistoryRetentionTest, StartsWithAWrongClockCostNoMoreThanTheirTime) {
  now_.wall += kYear;
  for (int run = 0; run < 20; ++run) {
    start();
    add("open");
    wait(minutes(3));
    recorder_->finish(now_);
  }
  EXPECT_GE(kept(), kHours - 24);
}

TEST_F(HistoryRetentionTest, WhatBecameTooOldWhileTheBoardWasOffIsRemovedInDays) {
  now_.wall += hours(24 * 200);
  start();
  wait(hours(24 * 5));
  EXPECT_THAT(events(), SizeIs(1));
}

TEST_F(HistoryRetentionTest, ALimitThatIsLoweredHoldsAfterDays) {
  options_.limits.changes = hours(24 * 7);
  start();
  add("open");
  wait(hours(24 * 4));
  EXPECT_LE(events().size(), 24 * 3 + 4);
  EXPECT_GE(events().size(), 24 * 3);
}

TEST_F(HistoryRetentionTest, ChangesThatBecomeTooOldAreRemovedWithinAnHour) {
  start();
  wait(hours(24 * 11));
  EXPECT_LE(kept(), kHours - 22);
  EXPECT_GE(kept(), kHours - 24);
}

TEST_F(HistoryRecorderTest, ADayHasItsNumberOfPictures) {
  options_.pictures_a_day = 3;
  start();
  wait(seconds(1));
  for (int i = 0; i < 5; ++i) add("open", /*picture=*/true);
  EXPECT_EQ(recorder_->counts().pictures, 3);
  EXPECT_EQ(recorder_->counts().without, 2);
  recorder_->finish(now_);
  start();
  wait(seconds(1));
  add("open", /*picture=*/true);
  EXPECT_EQ(recorder_->counts().pictures, 0);
  wait(hours(12));
  add("open", /*picture=*/true);
  EXPECT_EQ(recorder_->counts().pictures, 1);
}

TEST_F(HistoryRecorderTest, AnIdleRunSaysNowAndThenThatItStillLooks) {
  start();
  add("open");
  wait(hours(1));
  const auto seen = HistoryReader(options_.folder).last_seen();
  ASSERT_TRUE(seen.has_value());
  EXPECT_LE(now_.wall - *seen, HistoryRecorder::kSeen);
}

class HistoryReporterTest : public HistoryRecorderTest {
 protected:
  // Both clocks go on: the wall clock alone would be one that was set.
  void pass(seconds time) {
    now_.uptime += time;
    now_.wall += time;
  }

  // A frame that changes the state.
  void report(HistoryReporter& reporter, SceneState state) {
    pass(seconds(1));
    Result result;
    result.model = model_;
    result.timestamp = now_.wall;
    result.state = state;
    result.state_changed = true;
    Frame frame;
    frame.bgr = cv::Mat(480, 640, CV_8UC3, cv::Scalar(0, 0, 200));
    reporter.report(result, frame);
  }

  std::unique_ptr<HistoryReporter> reporter() {
    return std::make_unique<HistoryReporter>(
        options_, View(), [this] { return now_; }, hours(1));
  }

  const ModelInfoPtr model_ = std::make_shared<ModelInfo>(ModelInfo{"gate.pt", {"open"}});
  const SceneState open_{SceneState::Kind::kClass, {0, "open", 0.9F}, model_};
  const SceneState unknown_{SceneState::Kind::kUnknown};
};

TEST_F(HistoryReporterTest, AChangeHasTimeStateScoreModelAndPicture) {
  options_.counters = std::make_shared<HistoryCounters>();
  auto run = reporter();
  report(*run, open_);
  report(*run, unknown_);
  run.reset();
  EXPECT_EQ(options_.counters->written, 3U);
  EXPECT_EQ(options_.counters->pictures, 2U);
  EXPECT_EQ(options_.counters->lost, 0U);
  const auto found = events();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].state, std::nullopt);  // nobody looks any more
  EXPECT_EQ(found[1].state, "unknown");
  EXPECT_EQ(found[1].score, 0);
  EXPECT_EQ(found[2].state, "open");
  EXPECT_EQ(found[2].at, now_.wall - seconds(1));
  EXPECT_NEAR(found[2].score, 0.9, 0.001);
  EXPECT_EQ(found[2].model, "gate.pt");
  const auto file = HistoryReader(options_.folder).picture(found[2].number);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(cv::imread(*file).size(), cv::Size(320, 240));
}

TEST_F(HistoryReporterTest, PicturesMayBeLargerButNotThanTheFrame) {
  for (const auto& [side, expected] : {std::pair(480, cv::Size(480, 360)), {960, {640, 480}}}) {
    options_.picture_side = side;
    auto run = reporter();
    report(*run, open_);
    run.reset();
    const auto file = HistoryReader(options_.folder).picture(events()[1].number);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(cv::imread(*file).size(), expected);
  }
}

TEST_F(HistoryReporterTest, ACameraThatIsAwayLeavesTheStateUnknownUntilItIsBack) {
  options_.pictures_a_day = 0;
  auto run = reporter();
  report(*run, open_);
  pass(seconds(5));
  run->status({/*online=*/false, now_.wall});
  run->status({/*online=*/true, now_.wall + seconds(1)});
  pass(seconds(5));
  report(*run, open_);
  run->status({/*online=*/false, now_.wall + seconds(1)});
  run.reset();
  std::vector<std::string> states;
  for (const HistoryEvent& event : events()) states.push_back(event.state.value_or("-"));
  EXPECT_THAT(states, ElementsAre("-", "open", "-", "open"));
  EXPECT_FALSE(exists(directory_.path() / "history" / "pictures"));
}

TEST_F(HistoryReporterTest, TheStateOfAWatchThatIsGoneEnds) {
  auto run = reporter();
  report(*run, open_);
  pass(seconds(5));
  run->watching({{nullptr, model_}});
  pass(seconds(5));
  run->watching({{std::make_shared<WatchInfo>(WatchInfo{"gate", {}}), model_}});
  pass(hours(5));
  run.reset();
  const auto found = events();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].state, std::nullopt);
  EXPECT_EQ(found[0].at, now_.wall - hours(5));
}

// The reporter's thread waits for the database, which another process has locked.
TEST_F(HistoryReporterTest, AClockThatIsSetWhileChangesAreOnTheWayDatesThem) {
  HistoryStore(options_.folder).see(now_.wall);
  auto run = reporter();
  {
    SqliteDatabase other(options_.folder / kHistoryFile, SqliteDatabase::Access::kWrite);
    other.execute("BEGIN EXCLUSIVE");
    report(*run, open_);
    now_.wall += kYear;
    report(*run, unknown_);
  }
  run.reset();
  const auto found = events();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[1].at - found[2].at, seconds(1));
  EXPECT_EQ(found[1].at, now_.wall);
}

}  // namespace
}  // namespace lookout
