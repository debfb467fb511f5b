#include "platform/teach/teach_library.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "platform/teach/opened_library.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// 2026-11-21 12:00:00 UTC, 13:00 of those who live there
const TeachTime kNoon{decltype(TeachTime::at)(seconds(1795262400)), 13 * 60};

TeachTime after(milliseconds passed) {
  TeachTime time = kNoon;
  time.at += passed;
  return time;
}

TaughtWatch gate() { return {"gate", "The gate", {0.1, 0.2, 0.5, 0.25}, {"open", "closed"}, 0}; }

template <typename Do>
std::optional<TeachProblem> problem_of(Do what) {
  try {
    what();
  } catch (const TeachError& error) {
    return error.problem();
  }
  return std::nullopt;
}

std::vector<std::int64_t> numbers_of(const std::vector<TaughtPicture>& pictures) {
  std::vector<std::int64_t> numbers;
  for (const TaughtPicture& picture : pictures) numbers.push_back(picture.number);
  return numbers;
}

class TeachLibraryTest : public testing::Test {
 protected:
  TeachLibraryTest() { limits_.free = 0; }

  std::filesystem::path folder() const { return directory_.path() / "teach"; }
  TeachLibrary& library() {
    if (!library_) library_ = std::make_unique<TeachLibrary>(folder(), limits_);
    return *library_;
  }
  void reopen() { library_.reset(); }

  std::int64_t add(const std::string& label, const std::string& jpeg = "a picture") {
    NewPicture picture;
    picture.watch = "gate";
    picture.label = label;
    picture.time = kNoon;
    picture.brightness = 101.5F;
    return library().add_picture(picture, jpeg);
  }
  std::vector<std::int64_t> listed(std::optional<std::string> label, bool trashed = false) {
    return numbers_of(library().pictures({"gate", std::move(label), trashed, 0, 100}));
  }

  // As a run does from one day to another, counted from kNoon. Returns how many pictures went.
  std::size_t purge_daily(int from, int to) {
    std::size_t removed = 0;
    for (int day = from; day <= to; ++day) removed += library().purge(after(hours(24 * day)));
    return removed;
  }

  const TempDir directory_;
  TeachLimits limits_;
  std::unique_ptr<TeachLibrary> library_;
};

TEST_F(TeachLibraryTest, KeepsAWatchAsItWasDrawn) {
  EXPECT_EQ(library().add_watch(gate()).revision, 1);
  reopen();
  const TaughtWatch kept = library().watch("gate");
  EXPECT_EQ(kept.title, "The gate");
  EXPECT_EQ(kept.roi, gate().roi);
  EXPECT_THAT(kept.classes, ElementsAre("open", "closed"));
  EXPECT_THAT(library().watches(), SizeIs(1));
}

TEST_F(TeachLibraryTest, RefusesWatchesThatCannotBe) {
  TaughtWatch watch = gate();
  watch.name = "../gate";
  EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kBadName);
  watch = gate();
  for (const cv::Rect2d& roi :
       {cv::Rect2d{0.6, 0, 0.5, 1}, {-0.1, 0, 0.5, 1}, {0, 0, 1, std::nan("")}}) {
    watch.roi = roi;
    EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kRegionOutside);
  }
  watch.roi = {0, 0, 0.001, 1};
  EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kSmallRegion);
  watch = gate();
  for (const char* label : {"", "a\nb", " open", "\xff"}) {
    watch.classes[0] = label;
    EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kBadClass) << label;
  }
  for (const char* label : {"unknown", "_other"}) {
    watch.classes[0] = label;
    EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kReservedClass);
  }
  watch.classes[0] = "closed";
  EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kSameClasses);
  watch.classes = {"open"};
  EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kTooFewClasses);
  watch.classes = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
  EXPECT_EQ(problem_of([&] { library().add_watch(watch); }), TeachProblem::kTooManyClasses);
  library().add_watch(gate());
  EXPECT_EQ(problem_of([&] { library().add_watch(gate()); }), TeachProblem::kWatchExists);
  EXPECT_THAT(library().watches(), SizeIs(1));
}

TEST_F(TeachLibraryTest, HasEightWatchesAtMost) {
  TaughtWatch watch = gate();
  for (int i = 0; i < 8; ++i) {
    watch.name = watch.title = std::to_string(i);
    library().add_watch(watch);
  }
  EXPECT_EQ(problem_of([&] { library().add_watch(gate()); }), TeachProblem::kTooManyWatches);
  library().remove_watch("3", kNoon);
  library().add_watch(gate());
  EXPECT_EQ(problem_of([&] { library().restore_watch("3"); }), TeachProblem::kTooManyWatches);
}

TEST_F(TeachLibraryTest, NoTwoWatchesAreCalledTheSame) {
  const TaughtWatch first = library().add_watch(gate());
  TaughtWatch second = gate();
  second.name = "second";
  EXPECT_EQ(problem_of([&] { library().add_watch(second); }), TeachProblem::kTitleExists);
  second.title = "";
  second = library().add_watch(second);
  second.title = "The gate";
  EXPECT_EQ(problem_of([&] { library().change_watch(second); }), TeachProblem::kTitleExists);
  TaughtWatch third = gate();
  third.name = "third";
  third.title = "second";  // as people see the name of the one without a title
  EXPECT_EQ(problem_of([&] { library().add_watch(third); }), TeachProblem::kTitleExists);
  EXPECT_THAT(library().watches(), SizeIs(2));
  EXPECT_EQ(library().change_watch(first).title, "The gate") << "its own";
}

TEST_F(TeachLibraryTest, AWatchThatIsRestoredKeepsItsTitleAndCanBeChanged) {
  library().add_watch(gate());
  library().remove_watch("gate", kNoon);
  TaughtWatch second = gate();
  second.name = "second";
  library().add_watch(second);
  TaughtWatch restored = library().restore_watch("gate");
  EXPECT_EQ(restored.title, "The gate");
  restored.roi = {0.5, 0.5, 0.5, 0.5};
  EXPECT_EQ(library().change_watch(restored).roi, restored.roi);
}

TEST_F(TeachLibraryTest, AWatchWhoseModelDoesNotEndStays) {
  library().add_watch(gate());
  EXPECT_THROW(
      library().remove_watch("gate", kNoon, [] { throw std::runtime_error("the disk is full"); }),
      std::exception);
  EXPECT_THAT(library().watches(), SizeIs(1));
}

TEST_F(TeachLibraryTest, MovesAWatchWithItsPictures) {
  const TaughtWatch before = library().add_watch(gate());
  const std::int64_t number = add("open");
  TaughtWatch moved = before;
  moved.roi = {0.5, 0.5, 0.5, 0.5};
  moved.classes = {"closed", "open", "ajar"};
  const TaughtWatch changed = library().change_watch(moved);
  EXPECT_EQ(changed.roi, moved.roi);
  EXPECT_EQ(changed.classes, moved.classes);
  EXPECT_THAT(listed("open"), ElementsAre(number));
  EXPECT_EQ(problem_of([&] { library().change_watch(moved); }), TeachProblem::kChanged);
}

TEST_F(TeachLibraryTest, AClassWithPicturesStaysAndCanBeRenamed) {
  TaughtWatch watch = library().add_watch(gate());
  const std::int64_t number = add("open");
  watch.classes = {"closed", "ajar"};
  EXPECT_EQ(problem_of([&] { library().change_watch(watch); }), TeachProblem::kClassHasPictures);
  EXPECT_THAT(library().watch("gate").classes, ElementsAre("open", "closed"));
  EXPECT_EQ(problem_of([&] { library().rename_class("gate", "open", "closed"); }),
            TeachProblem::kClassExists);
  EXPECT_THAT(library().rename_class("gate", "open", "offen").classes,
              ElementsAre("offen", "closed"));
  EXPECT_EQ(library().picture(number).label, "offen");
  EXPECT_EQ(problem_of([&] { add("open"); }), TeachProblem::kNoClass);
}

TEST_F(TeachLibraryTest, ARemovedWatchComesBackWithItsPictures) {
  library().add_watch(gate());
  const std::int64_t number = add("open");
  library().remove_watch("gate", kNoon);
  EXPECT_THAT(library().watches(), IsEmpty());
  EXPECT_EQ(problem_of([&] { library().picture(number); }), TeachProblem::kNoPicture);
  EXPECT_EQ(problem_of([&] { add("open"); }), TeachProblem::kNoWatch);
  library().restore_watch("gate");
  EXPECT_THAT(listed("open"), ElementsAre(number));
  library().remove_watch("gate", kNoon);
  EXPECT_EQ(purge_daily(0, 6), 0);
  EXPECT_EQ(purge_daily(7, 8), 1);
  EXPECT_FALSE(exists(library().file(number)));
  library().purge(after(hours(24 * 8)));
  EXPECT_EQ(problem_of([&] { library().restore_watch("gate"); }), TeachProblem::kNoWatch);
}

TEST_F(TeachLibraryTest, KeepsPicturesWithWhatIsKnownOfThem) {
  library().add_watch(gate());
  const std::int64_t hold = library().begin_hold("gate", "open", kNoon);
  NewPicture picture{"gate", "open", hold, after(milliseconds(1500))};
  picture.brightness = 33.25F;
  picture.night = true;
  const std::int64_t number = library().add_picture(picture, "bytes of a JPEG");
  NewPicture unsure{"gate", "", 0, kNoon, 0, false, PictureOrigin::kUnsure, "closed"};
  const std::int64_t other = library().add_picture(unsure, "another");
  reopen();
  const TaughtPicture kept = library().picture(number);
  EXPECT_EQ(kept.watch, "gate");
  EXPECT_EQ(kept.label, "open");
  EXPECT_EQ(kept.hold, hold);
  EXPECT_EQ(kept.time.at, kNoon.at + milliseconds(1500));
  EXPECT_EQ(kept.time.minute, 13 * 60);
  EXPECT_EQ(kept.brightness, 33.25F);
  EXPECT_TRUE(kept.night);
  EXPECT_EQ(kept.bytes, 15);
  EXPECT_EQ(read_file(library().file(number)), "bytes of a JPEG");
  EXPECT_EQ(library().picture(other).guess, "closed");
  EXPECT_EQ(library().picture(other).label, "");
  EXPECT_EQ(library().picture(other).origin, PictureOrigin::kUnsure);
  EXPECT_THAT(listed(std::nullopt), ElementsAre(other, number));
  EXPECT_THAT(listed(""), ElementsAre(other));
  EXPECT_THAT(numbers_of(library().labelled("gate")), ElementsAre(number));
  EXPECT_THAT(numbers_of(library().pictures({"gate", {}, false, other, 100})), ElementsAre(number));
}

TEST_F(TeachLibraryTest, ARangeIsRelabelledAsAWholeAndUndone) {
  library().add_watch(gate());
  const std::int64_t first = add("open");
  const std::int64_t second = add("open");
  const std::int64_t third = add("closed");
  const auto undo =
      library().change({{first, "closed"}, {second, kNoneOfThem}, {third, "", true}}, kNoon);
  reopen();
  EXPECT_THAT(listed("closed"), ElementsAre(first));
  EXPECT_THAT(listed(kNoneOfThem), ElementsAre(second));
  EXPECT_THAT(listed(std::nullopt, /*trashed=*/true), ElementsAre(third));
  library().change(undo, kNoon);
  EXPECT_THAT(listed("open"), ElementsAre(second, first));
  EXPECT_THAT(listed("closed"), ElementsAre(third));
  EXPECT_EQ(problem_of([&] { library().change(undo, kNoon); }), TeachProblem::kChanged)
      << "what was undone was changed since";
}

TEST_F(TeachLibraryTest, AChangeOfMissingPicturesChangesNothing) {
  library().add_watch(gate());
  const std::int64_t number = add("open");
  const auto change = [&](const std::vector<PictureMark>& marks) {
    return problem_of([&] { library().change(marks, kNoon); });
  };
  EXPECT_EQ(change({{number, "closed"}, {number + 1, "closed"}}), TeachProblem::kNoPicture);
  EXPECT_EQ(change({{number, "closed"}, {number, "ajar"}}), TeachProblem::kNoClass);
  EXPECT_EQ(change(std::vector<PictureMark>(501, {number, "closed"})), TeachProblem::kInvalid);
  EXPECT_THAT(listed("open"), ElementsAre(number));
}

TEST_F(TeachLibraryTest, ThrownAwayPicturesGoAfterAWeekAndTheirNumbersDoNotComeBack) {
  library().add_watch(gate());
  const std::int64_t number = add("open");
  library().change({{number, "open", true}}, kNoon);
  EXPECT_EQ(purge_daily(0, 6), 0);
  EXPECT_EQ(library().purge(after(hours(24 * 7) - seconds(1))), 0);
  EXPECT_EQ(library().purge(after(hours(24 * 7) + seconds(1))), 1);
  EXPECT_FALSE(exists(library().file(number)));
  reopen();
  EXPECT_EQ(add("open"), number + 1);
}

TEST_F(TeachLibraryTest, AClockThatIsAYearAheadAndBackCostsNothingThatWasThrownAway) {
  library().add_watch(gate());
  const std::int64_t first = add("open");
  library().change({{first, "open", true}}, kNoon);
  EXPECT_EQ(library().purge(kNoon), 0);
  EXPECT_EQ(library().purge(after(hours(24 * 365))), 0) << "the clock is ahead";
  reopen();
  const std::int64_t second = add("open");
  library().change({{second, "open", true}}, after(hours(24 * 365)));
  EXPECT_EQ(purge_daily(366, 367), 0);
  EXPECT_EQ(purge_daily(3, 5), 0) << "and right again";
  EXPECT_THAT(listed(std::nullopt, /*trashed=*/true), ElementsAre(second, first));
  EXPECT_EQ(purge_daily(6, 9), 2) << "that time went by all the same";
}

TEST_F(TeachLibraryTest, AClockThatIsAheadForLongRemovesWhatTheProgramSawAge) {
  library().add_watch(gate());
  library().change({{add("open"), "open", true}}, kNoon);
  EXPECT_EQ(purge_daily(365, 370), 0) << "it was never purged before";
  EXPECT_EQ(purge_daily(371, 373), 1);
}

TEST_F(TeachLibraryTest, AClockThatIsWrongForAnHourChangesNoTimeInTheTrash) {
  library().add_watch(gate());
  TaughtWatch lamp = gate();
  lamp.name = lamp.title = "lamp";
  library().add_watch(lamp);
  EXPECT_EQ(purge_daily(0, 3), 0);
  const hours year(24 * 365);
  library().change({{add("open"), "open", true}}, after(-year));
  library().change({{add("open"), "open", true}}, after(year));
  library().remove_watch("lamp", after(-year));
  EXPECT_EQ(purge_daily(4, 9), 0) << "what was thrown away when the clock was behind";
  EXPECT_EQ(library().restore_watch("lamp").name, "lamp");
  EXPECT_EQ(purge_daily(10, 12), 2) << "also when it was ahead";
}

TEST_F(TeachLibraryTest, TheTimeInWhichTheMachineIsOffDoesNotCount) {
  library().add_watch(gate());
  library().remove_watch("gate", kNoon);
  purge_daily(0, 2);
  purge_daily(90, 93);
  EXPECT_EQ(library().restore_watch("gate").name, "gate");
}

TEST_F(TeachLibraryTest, IsBoundedAndTrashMakesRoomFirst) {
  limits_.pictures = 3;
  library().add_watch(gate());
  const std::int64_t thrown = add("open");
  add("open");
  const std::int64_t unlabelled = add("");
  library().change({{thrown, "open", true}}, kNoon);
  add("closed");
  EXPECT_FALSE(exists(library().file(thrown)));
  EXPECT_TRUE(exists(library().file(unlabelled)));
  add("closed");
  EXPECT_FALSE(exists(library().file(unlabelled)));
  EXPECT_EQ(problem_of([&] { add("closed"); }), TeachProblem::kLibraryFull);
  EXPECT_EQ(library().usage().pictures, 3);
}

TEST_F(TeachLibraryTest, IsBoundedInBytes) {
  limits_.bytes = 1000;
  library().add_watch(gate());
  add("open", std::string(600, 'x'));
  EXPECT_EQ(problem_of([&] { add("open", std::string(600, 'x')); }), TeachProblem::kLibraryFull);
  add("open", std::string(400, 'x'));
  EXPECT_EQ(library().usage().bytes, 1000);
}

TEST_F(TeachLibraryTest, OldPicturesWithoutALabelMakeRoomForNewOnes) {
  limits_.unlabelled = 2;
  library().add_watch(gate());
  add("");
  const std::int64_t second = add("");
  const std::int64_t third = add("");
  EXPECT_THAT(listed(""), ElementsAre(third, second));
  EXPECT_EQ(library().unlabelled("gate"), 2U);
  library().change({{second, "open", false, 0}, {third, "", true, 0}}, kNoon);
  EXPECT_EQ(library().unlabelled("gate"), 0U);
}

TEST_F(TeachLibraryTest, PicturesWithoutALabelMakeRoomForThoseOfTheirWatchAlone) {
  limits_.unlabelled = 1;
  library().add_watch(gate());
  TaughtWatch lamp = gate();
  lamp.name = lamp.title = "lamp";
  library().add_watch(lamp);
  const std::int64_t kept = add("");
  NewPicture other;
  other.watch = "lamp";
  library().add_picture(other, "a JPEG");
  const std::int64_t newest = library().add_picture(other, "a JPEG");
  EXPECT_THAT(listed(""), ElementsAre(kept));
  EXPECT_THAT(numbers_of(library().pictures({"lamp", "", false, 0, 100})), ElementsAre(newest));
}

TEST_F(TeachLibraryTest, AGuessMayBeNoneOfThemAndHoldsNoClass) {
  TaughtWatch watch = library().add_watch(gate());
  NewPicture picture;
  picture.watch = "gate";
  picture.guess = kNoneOfThem;
  const std::int64_t none = library().add_picture(picture, "a JPEG");
  picture.guess = watch.classes.back();
  const std::int64_t guessed = library().add_picture(picture, "a JPEG");
  EXPECT_EQ(library().picture(none).guess, kNoneOfThem);
  EXPECT_EQ(library().picture(guessed).guess, watch.classes.back());
  watch.classes.back() = "another";
  library().change_watch(watch);
  EXPECT_EQ(library().picture(none).guess, kNoneOfThem);
  EXPECT_EQ(library().picture(guessed).guess, "");
}

TEST_F(TeachLibraryTest, AFullDiskIsToldAndNothingIsLeft) {
  library().add_watch(gate());
  const std::int64_t kept = add("open");
  reopen();
  limits_.free = std::numeric_limits<std::uintmax_t>::max();
  EXPECT_EQ(problem_of([&] { add("open"); }), TeachProblem::kDiskFull);
  reopen();
  limits_.free = 0;
  // A limit of the size of files stands for the end of the disk: in a process of its own.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    TeachLibrary full(folder(), limits_);
    const rlimit limit{10'000, 10'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    NewPicture picture;
    picture.watch = "gate";
    picture.label = "open";
    const auto problem = problem_of([&] { full.add_picture(picture, std::string(20'000, 'x')); });
    _exit(problem == TeachProblem::kDiskFull ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(listed("open"), ElementsAre(kept));
  EXPECT_EQ(add("open"), kept + 1);
}

// The database cannot be written at all here; on a full disk the picture's file makes the room.
TEST_F(TeachLibraryTest, TrashIsEmptiedOnAFullDisk) {
  library().add_watch(gate());
  const std::int64_t old = add("open");
  library().change({{old, "open", true}}, kNoon);
  EXPECT_EQ(purge_daily(0, 3), 0);
  const std::int64_t young = add("open");
  library().change({{young, "open", true}}, after(hours(24 * 3)));
  EXPECT_EQ(purge_daily(4, 5), 0);
  const auto of_old = library().file(old);
  const auto of_young = library().file(young);
  reopen();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    TeachLibrary full(folder(), limits_);
    const rlimit limit{16, 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto fails = [&full](int day) {
      return problem_of([&] { full.purge(after(hours(24 * day) + seconds(1))); }).has_value();
    };
    bool is_right = fails(6) && exists(of_old);
    is_right = is_right && fails(7) && !exists(of_old);
    is_right = is_right && fails(365) && exists(of_young);  // the clock is ahead
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(purge_daily(6, 8), 1) << "its row";
  EXPECT_THAT(listed(std::nullopt, /*trashed=*/true), ElementsAre(young));
}

TEST_F(TeachLibraryTest, OneProcessWrites) {
  library();
  EXPECT_THROW(TeachLibrary{folder()}, std::system_error);
}

TEST_F(TeachLibraryTest, ADamagedDatabaseIsSetAside) {
  library().add_watch(gate());
  add("open", "work of people");
  reopen();
  std::ofstream(folder() / kTeachFile) << std::string(5000, 'x');
  std::ofstream(folder() / "embeddings.db") << "of the picture 1";
  const OpenedLibrary opened = open_library(folder(), limits_);
  EXPECT_THAT(opened.damage, HasSubstr("not a database"));
  EXPECT_THAT(opened.library->watches(), IsEmpty());
  EXPECT_TRUE(exists(folder() / "library.db.damaged"));
  EXPECT_EQ(read_file(folder() / "pictures.damaged/0/1.jpg"), "work of people");
  EXPECT_FALSE(exists(folder() / "embeddings.db")) << "another picture gets the number";
  EXPECT_EQ(opened.damaged_file, folder() / "library.db.damaged");
}

TEST_F(TeachLibraryTest, ADamagedDatabaseKeepsItsLogWhichMayHaveTheNewestLabels) {
  library().add_watch(gate());
  reopen();
  add("open");
  // As if the machine had lost its power now.
  const auto crashed = directory_.path() / "crashed";
  std::filesystem::copy(folder(), crashed, std::filesystem::copy_options::recursive);
  const std::string log = read_file(crashed / "library.db-wal");
  ASSERT_NE(log, "");
  const auto size = file_size(crashed / kTeachFile);
  std::ofstream(crashed / kTeachFile) << std::string(size, 'x');
  const OpenedLibrary opened = open_library(crashed, limits_);
  ASSERT_NE(opened.damage, "");
  EXPECT_EQ(read_file(crashed / "library.db.damaged-wal"), log);
}

TEST_F(TeachLibraryTest, AnEmptyOrMissingDatabaseCostsNoPictures) {
  library().add_watch(gate());
  add("open", "work of people");
  reopen();
  std::filesystem::resize_file(folder() / kTeachFile, 0);
  EXPECT_THAT(open_library(folder(), limits_).damage, HasSubstr("empty"));
  EXPECT_EQ(read_file(folder() / "pictures.damaged/0/1.jpg"), "work of people");
  library().add_watch(gate());
  add("open", "more work");
  reopen();
  std::filesystem::remove(folder() / kTeachFile);
  EXPECT_THAT(open_library(folder(), limits_).damage, HasSubstr("missing"));
  EXPECT_EQ(read_file(folder() / "pictures.damaged.2/0/1.jpg"), "more work");
}

TEST_F(TeachLibraryTest, FurtherDamageCostsTheSmallestOfTheFormerCopies) {
  EXPECT_EQ(note_of_damaged(folder()), "");
  const auto damage = [this](const std::string& jpeg) {
    library().add_watch(gate());
    add("open", jpeg);
    reopen();
    std::ofstream(folder() / kTeachFile) << std::string(5000, 'x');
    return open_library(folder(), limits_).damaged_file.filename();
  };
  const std::string most(2'000'000, '1');
  EXPECT_EQ(damage(most), "library.db.damaged");
  EXPECT_EQ(damage("2"), "library.db.damaged.2");
  EXPECT_EQ(damage("33"), "library.db.damaged.3");
  EXPECT_EQ(damage("444"), "library.db.damaged.2") << "in place of the smallest";
  EXPECT_EQ(read_file(folder() / "pictures.damaged/0/1.jpg"), most);
  EXPECT_EQ(read_file(folder() / "pictures.damaged.2/0/1.jpg"), "444");
  EXPECT_EQ(read_file(folder() / "pictures.damaged.3/0/1.jpg"), "33");
  EXPECT_THAT(note_of_damaged(folder()), HasSubstr("3 damaged libraries are kept, 2.0 MB"));
}

}  // namespace
}  // namespace lookout
