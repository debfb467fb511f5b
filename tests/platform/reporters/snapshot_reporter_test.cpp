#include "platform/reporters/snapshot_reporter.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <opencv2/imgcodecs.hpp>

#include "platform/system/atomic_file.h"
#include "tests/support/failing_disk.h"
#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t kMegabyte = 1 << 20;

// 2026-11-21 12:00:00 UTC
const std::chrono::system_clock::time_point kNoon{seconds(1795262400)};

std::vector<std::string> names_in(const TempDir& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

cv::Mat red_picture(int value = 200) { return {48, 64, CV_8UC3, cv::Scalar(0, 0, value)}; }

TEST(SnapshotFolder, WritesAJpegThatSaysWhatWhereAndWhen) {
  const TempDir directory;
  SnapshotFolder folder(directory.path(), "/dev/video0", kMegabyte);
  folder.write(red_picture(), "Egyptian cat/2", kNoon + milliseconds(7));
  const std::string name = "dev-video0~a0192d77_20261121T120000.007Z_Egyptian-cat-2.jpg";
  EXPECT_THAT(names_in(directory), ElementsAre(name));
  const cv::Mat read = cv::imread(directory / name);
  ASSERT_EQ(read.size(), cv::Size(64, 48));
  EXPECT_NEAR(read.at<cv::Vec3b>(24, 32)[2], 200, 4);
}

TEST(SnapshotFolder, PicturesOfOneMillisecondDoNotReplaceEachOther) {
  const TempDir directory;
  SnapshotFolder folder(directory.path(), "front", kMegabyte);
  for (int i = 0; i < 3; ++i) folder.write(red_picture(), "cat", kNoon);
  EXPECT_THAT(names_in(directory), ElementsAre("front_20261121T120000.000Z_cat.jpg",
                                               "front_20261121T120000.001Z_cat.jpg",
                                               "front_20261121T120000.002Z_cat.jpg"));
}

TEST(SnapshotFolder, TheOldestOfItsOwnMakeRoom) {
  const TempDir directory;
  directory.write("holiday.jpg", std::string(5000, 'x'));
  directory.write("back_20200101T000000.000Z_cat.jpg", std::string(5000, 'x'));
  directory.write(".front_20200101T000000.000Z_cat.jpg.ab12yz.part", "of a run that was killed");
  const TempFile at_work(directory / "front_20300101T000000.000Z_cat.jpg");
  directory.write(".front_notes.part", "not ours");
  SnapshotFolder unlimited(directory.path(), "front", kMegabyte);
  for (int i = 0; i < 3; ++i) unlimited.write(red_picture(), "cat", kNoon + seconds(i));
  const auto size = std::filesystem::file_size(directory / "front_20261121T120000.000Z_cat.jpg");
  SnapshotFolder limited(directory.path(), "front", 3 * size);
  limited.write(red_picture(), "cat", kNoon + seconds(3));
  EXPECT_THAT(names_in(directory),
              ElementsAre(StartsWith(".front_20300101T000000.000Z_cat.jpg."), ".front_notes.part",
                          "back_20200101T000000.000Z_cat.jpg", "front_20261121T120001.000Z_cat.jpg",
                          "front_20261121T120002.000Z_cat.jpg",
                          "front_20261121T120003.000Z_cat.jpg", "holiday.jpg"));
}

// The board has no clock of its own: it may start in the past, or once have been in the future.
TEST(SnapshotFolder, TheOldestIsTheOneThatWasWrittenFirstWhateverItsDate) {
  const TempDir directory;
  directory.write("front_20300101T000000.000Z_cat.jpg", std::string(100, 'x'));
  directory.write("front_20300101T000001.000Z_cat.jpg", std::string(100, 'x'));
  const auto size = std::filesystem::file_size(
      SnapshotFolder(directory.path(), "sample", kMegabyte).write(red_picture(), "cat", kNoon));
  const std::vector<seconds> clock{seconds(0),    seconds(1),     seconds(-5000), seconds(-4999),
                                   seconds(2000), seconds(-6000), seconds(-5999), seconds(-5998)};
  std::vector<std::string> written;
  for (const seconds time : clock) {
    SnapshotFolder restarted(directory.path(), "front", 3 * size);
    written.push_back(restarted.write(red_picture(), "cat", kNoon + time).filename().string());
    for (std::size_t i = 0; i < written.size(); ++i) {
      EXPECT_EQ(std::filesystem::exists(directory / written[i]), i + 3 >= written.size())
          << written[i] << " after " << written.back();
    }
  }
  EXPECT_THAT(
      names_in(directory),
      ElementsAre("front_20261121T102000.000Z_cat_3.jpg", "front_20261121T102001.000Z_cat_3.jpg",
                  "front_20261121T102002.000Z_cat_3.jpg", "sample_20261121T120000.000Z_cat.jpg"));
}

TEST(SnapshotFolder, PicturesOfAnEarlierVersionGoFirst) {
  const TempDir directory;
  const std::string size_of_one(
      SnapshotFolder(directory.path(), "sample", kMegabyte).write(red_picture(), "cat", kNoon));
  const auto size = std::filesystem::file_size(size_of_one);
  for (const char* old : {"front_20250101T000000.000Z_cat.jpg", "front_20300101T000000.000Z_7.jpg",
                          "front_20300102T000000.000Z_.jpg"}) {
    directory.write(old, std::string(size, 'x'));
  }
  SnapshotFolder folder(directory.path(), "front", 4 * size);
  for (int i = 0; i < 3; ++i) folder.write(red_picture(), "7", kNoon + seconds(i));
  EXPECT_THAT(
      names_in(directory),
      ElementsAre("front_20261121T120000.000Z_7_1.jpg", "front_20261121T120001.000Z_7_1.jpg",
                  "front_20261121T120002.000Z_7_1.jpg", "front_20300102T000000.000Z_.jpg",
                  "sample_20261121T120000.000Z_cat.jpg"));
}

// The service's umask lets nobody else read, but members of its group may read its folder.
TEST(SnapshotFolder, WhoeverOfTheGroupReadsTheFolderReadsThePictures) {
  using std::filesystem::perms;
  const TempDir directory;
  const mode_t before = umask(077);
  for (const perms of_folder : {perms{0700}, perms{0750}}) {
    std::filesystem::permissions(directory.path(), of_folder);
    const std::string name = of_folder == perms{0700} ? "closed" : "open";
    SnapshotFolder made(directory.path() / name, "front", kMegabyte);
    const auto in_made = made.write(red_picture(), "cat", kNoon);
    SnapshotFolder found(directory.path(), name, kMegabyte);
    const auto in_found = found.write(red_picture(), "cat", kNoon);
    const bool shared = of_folder == perms{0750};
    EXPECT_EQ(std::filesystem::status(in_made.parent_path()).permissions(), of_folder);
    for (const auto& picture : {in_made, in_found}) {
      EXPECT_EQ(std::filesystem::status(picture).permissions(), shared ? perms{0640} : perms{0600});
    }
  }
  umask(before);
}

// The limit of one would remove another's pictures.
TEST(SnapshotFolder, CamerasInEveryScriptKeepTheirPicturesApart) {
  const TempDir directory;
  const std::string old = directory.write("_20200101T000000.000Z_cat.jpg", "of an earlier version");
  const std::string end(60, 'x');
  const std::vector<std::string> cameras{
      "前",     "后",    "ü",       "*",       "",  "front door", "front-door", "front/d",
      "-front", "front", end + "1", end + "2", end, "北~大门",    "北 大门"};
  for (const std::string& camera : cameras) {
    SnapshotFolder(directory.path(), camera, kMegabyte).write(red_picture(), "cat", kNoon);
  }
  const std::vector<std::string> names = names_in(directory);
  EXPECT_EQ(names.size(), cameras.size() + 1);
  EXPECT_THAT(names, Contains("front_20261121T120000.000Z_cat.jpg"));
  EXPECT_THAT(names, Contains("front-door_20261121T120000.000Z_cat.jpg"));
  EXPECT_THAT(names, Contains(testing::MatchesRegex("front-door~[0-9a-f]+_2026.*")));
  const auto size = std::filesystem::file_size(directory / "front_20261121T120000.000Z_cat.jpg");
  SnapshotFolder(directory.path(), "前", size).write(red_picture(), "cat", kNoon + seconds(1));
  EXPECT_EQ(names_in(directory).size(), cameras.size() + 1) << "it replaced its own alone";
  EXPECT_TRUE(std::filesystem::exists(old));
}

// A watch may be renamed any number of times.
TEST(SnapshotFolder, WatchesOfACameraHaveOneLimitAndThoseThatAreGoneMakeRoomFirst) {
  const TempDir directory;
  const auto size = std::filesystem::file_size(
      SnapshotFolder(directory.path(), "sample", kMegabyte).write(red_picture(), "cat", kNoon));
  for (const char* other :
       {"frontyard_20200101T000000.000Z_cat.jpg", "front.a.b_20200101T000000.000Z_cat.jpg",
        "front._20200101T000000.000Z_cat.jpg"}) {
    directory.write(other, std::string(5000, 'x'));
  }
  const auto watches = std::make_shared<SnapshotWatches>();
  const auto write = [&](const std::string& watch, int second) {
    SnapshotFolder folder(directory.path(), "front", 4 * size, {watch, watches});
    folder.write(red_picture(), "cat", kNoon + seconds(second));
  };
  write("", 0);
  watches->set({"old gate", "lamp"});
  write("old gate", 1);
  write("lamp", 2);
  watches->set({"gate", "lamp"});
  for (int second = 3; second < 6; ++second) write("gate", second);
  EXPECT_THAT(names_in(directory), ElementsAre(StartsWith("front._"), StartsWith("front.a.b_"),
                                               "front.gate_20261121T120003.000Z_cat.jpg",
                                               "front.gate_20261121T120004.000Z_cat.jpg",
                                               "front.gate_20261121T120005.000Z_cat.jpg",
                                               "front.lamp_20261121T120002.000Z_cat.jpg",
                                               StartsWith("frontyard_"), StartsWith("sample_")));
  for (int second = 6; second < 9; ++second) write("lamp", second);
  write("gate", 9);
  EXPECT_THAT(
      names_in(directory),
      testing::IsSupersetOf(
          {"front.gate_20261121T120005.000Z_cat.jpg", "front.gate_20261121T120009.000Z_cat.jpg",
           "front.lamp_20261121T120007.000Z_cat.jpg", "front.lamp_20261121T120008.000Z_cat.jpg"}))
      << "each has as much of the limit as the other";
  EXPECT_EQ(names_in(directory).size(), 8U);
}

TEST(SnapshotFolder, OneThatIsTooLargeIsRefusedAndNothingRemoved) {
  const TempDir directory;
  SnapshotFolder(directory.path(), "front", kMegabyte).write(red_picture(), "cat", kNoon);
  SnapshotFolder folder(directory.path(), "front", 100);
  expect_error(ErrorKind::kOutput, HasSubstr("larger than the limit"),
               [&] { folder.write(red_picture(), "cat", kNoon); });
  EXPECT_EQ(names_in(directory).size(), 1U);
}

TEST(SnapshotFolder, WhatCannotBeWrittenAsAWholeIsNotThere) {
  const TempDir directory;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);  // as if the disk were full after 100 bytes
  SnapshotFolder folder(directory.path(), "front", kMegabyte);
  expect_error(ErrorKind::kOutput, HasSubstr(directory.path().string() + ": File too large"),
               [&] { folder.write(red_picture(), "cat", kNoon); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(names_in(directory), IsEmpty());
}

TEST(SnapshotFolder, IsMadeWhereItsParentIs) {
  const TempDir directory;
  SnapshotFolder folder(directory.path() / "pictures", "front", kMegabyte);
  EXPECT_TRUE(std::filesystem::exists(folder.write(red_picture(), "cat", kNoon)));
  const SnapshotFolder again(directory.path() / "pictures/", "front", kMegabyte);
  EXPECT_THAT(names_in(directory), ElementsAre("pictures"));
}

TEST(SnapshotFolder, OneThatCannotBeMadeOrWrittenIsRefused) {
  const TempDir directory;
  for (const std::string& path :
       {directory / "no/pictures", directory.write("file", ""), std::string("/proc")}) {
    expect_error(ErrorKind::kOutput, HasSubstr("cannot be written into " + path + ": "),
                 [&path] { const SnapshotFolder folder(path, "front", kMegabyte); });
  }
  expect_error(ErrorKind::kOutput, HasSubstr("file: it is a file, not a folder"),
               [&] { check_snapshot_folder(directory / "file"); });
  expect_error(ErrorKind::kOutput, HasSubstr(": " + (directory / "no") + " does not exist"),
               [&] { check_snapshot_folder(directory / "no/pictures"); });
}

// Nothing can be made on a card that is worn out: the service starts all the same, and tells.
TEST(SnapshotFolder, OneOnADiskThatFailsIsAWarning) {
  const TempDir directory;
  const CapturedLog log;
  const bool has_filters = on_a_failing_disk([&] {
    check_snapshot_folder(directory.path());
    for (const auto& path : {directory.path() / "new", directory.path()}) {
      const SnapshotFolder folder(path, "front", kMegabyte);
    }
  });
  if (!has_filters) GTEST_SKIP() << "the kernel has no filters";
  EXPECT_THAT(log.text(), HasSubstr("cannot be written into " + (directory / "new") +
                                    " now: Input/output error"));
  EXPECT_THAT(log.text(), HasSubstr("cannot be written into " + directory.path().string() +
                                    " now: Input/output error"));
}

class SnapshotReporterTest : public testing::Test {
 protected:
  static std::future<std::filesystem::path> change(SnapshotReporter& reporter,
                                                   const std::string_view& label, seconds at) {
    Result result;
    result.state_changed = true;
    result.state = {SceneState::Kind::kClass, {0, label, 1}};
    result.timestamp = kNoon + at;
    Frame frame;
    frame.bgr = red_picture();
    frame.captured = Clock::time_point(at);
    return reporter.take(result, frame);
  }

  TempDir directory_;
};

TEST_F(SnapshotReporterTest, APictureForAChangeAndThenACoolDown) {
  const CapturedLog log;
  {
    SnapshotReporter reporter(SnapshotFolder(directory_.path(), "front", kMegabyte), seconds(10));
    reporter.report({}, {});
    change(reporter, "cat", seconds(1));
    change(reporter, "dog", seconds(5));
    change(reporter, "bird", seconds(10));
  }
  EXPECT_THAT(names_in(directory_), ElementsAre("front_20261121T120001.000Z_cat.jpg"));
  EXPECT_THAT(log.text(), HasSubstr("1 written, 0 failed, 2 dropped by the cool-down"));
  SnapshotReporter reporter(SnapshotFolder(directory_.path(), "front", kMegabyte), seconds(10));
  change(reporter, "dog", seconds(11));
  // The first may still be being written: then this one is dropped, and the next takes its turn.
  for (int at = 21; names_in(directory_).size() < 3; at += 10) {
    change(reporter, "unknown", seconds(at));
  }
}

TEST_F(SnapshotReporterTest, WithoutACoolDownEachFrameThatCanWaitIsWritten) {
  const CapturedLog log;
  {
    SnapshotTrigger trigger;
    trigger.waits = true;
    SnapshotReporter reporter(SnapshotFolder(directory_.path(), "front", kMegabyte), seconds(0),
                              trigger);
    for (int at = 0; at < 20; ++at) change(reporter, at % 2 == 0 ? "cat" : "dog", seconds(at));
  }
  EXPECT_EQ(names_in(directory_).size(), 20U);
  EXPECT_THAT(log.text(), HasSubstr("20 written, 0 failed, 0 dropped by the cool-down, 0 because"));
}

TEST_F(SnapshotReporterTest, AFrameThatWaitedStillHasItsCoolDown) {
  const CapturedLog log;
  {
    SnapshotTrigger trigger;
    trigger.waits = true;
    SnapshotReporter reporter(SnapshotFolder(directory_.path(), "front", kMegabyte), seconds(10),
                              trigger);
    for (int at = 0; at < 40; at += 2) change(reporter, "cat", seconds(at));
  }
  EXPECT_EQ(names_in(directory_).size(), 4U) << "at 0, 10, 20 and 30 s";
  EXPECT_THAT(log.text(), HasSubstr("4 written, 0 failed, 16 dropped by the cool-down, 0 because"));
}

TEST_F(SnapshotReporterTest, PicturesOfUnsureFramesHaveTheirBestLabel) {
  {
    SnapshotReporter reporter(SnapshotFolder(directory_.path(), "front", kMegabyte), seconds(0),
                              {false, 0.7F});
    ModelInfo model;
    model.unknown = 2;
    Result result;
    result.model = std::make_shared<ModelInfo>(model);
    result.timestamp = kNoon + seconds(2);
    result.state_changed = true;
    result.top = {{0, "cat", 0.71F}};
    Frame frame;
    frame.bgr = red_picture();
    EXPECT_FALSE(reporter.take(result, frame).valid()) << "sure";
    result.top = {{1, "dog", 0.69F}};
    EXPECT_NE(reporter.take(result, frame).get(), "");
    result.timestamp = kNoon + seconds(3);
    result.top = {{2, "none", 0.99F}};
    EXPECT_NE(reporter.take(result, frame).get(), "") << "unknown is unsure";
  }
  EXPECT_THAT(names_in(directory_), Contains("front_20261121T120002.000Z_dog.jpg"));
  EXPECT_THAT(names_in(directory_), Contains("front_20261121T120003.000Z_none.jpg"));
}

TEST_F(SnapshotReporterTest, APictureThatFailsStartsNoCoolDown) {
  const std::string folder = directory_ / "pictures";
  SnapshotReporter reporter(SnapshotFolder(folder, "front", kMegabyte), std::chrono::hours(1));
  std::filesystem::remove(folder);
  EXPECT_EQ(change(reporter, "cat", seconds(1)).get(), "");
  std::filesystem::create_directory(folder);
  EXPECT_NE(change(reporter, "dog", seconds(2)).get(), "");
  EXPECT_FALSE(change(reporter, "cat", seconds(3)).valid());
}

TEST_F(SnapshotReporterTest, AFolderThatCannotBeWrittenIsSaidOnce) {
  const CapturedLog log;
  const std::string missing = directory_ / "none";
  {
    SnapshotReporter reporter(SnapshotFolder(missing, "front", kMegabyte), seconds(0));
    std::filesystem::remove(missing);
    change(reporter, "cat", seconds(1));
    // Until the second one has been taken.
    for (int at = 2; at < 1000; ++at) change(reporter, "dog", seconds(at));
  }
  const std::string sentence = missing + ": No such file or directory";
  EXPECT_THAT(log.text(), HasSubstr(sentence));
  EXPECT_EQ(log.text().find(sentence), log.text().rfind(sentence));
  EXPECT_THAT(log.text(), Not(HasSubstr(" 0 failed")));
}

TEST_F(SnapshotReporterTest, AFailureIsSaidAgainAfterPicturesWereWrittenAgain) {
  const CapturedLog log;
  const std::string folder = directory_ / "new";
  SnapshotReporter reporter(SnapshotFolder(folder, "front", kMegabyte), seconds(0));
  int at = 0;
  const auto take = [&] {
    auto path = change(reporter, "cat", seconds(++at));
    ASSERT_TRUE(path.valid());
    path.get();
  };
  const auto times_said = [&] {
    const std::string text = log.text();
    int count = 0;
    for (auto found = text.find("No such file"); found != std::string::npos;
         found = text.find("No such file", found + 1)) {
      ++count;
    }
    return count;
  };
  std::filesystem::remove(folder);
  take();
  take();
  EXPECT_EQ(times_said(), 1);
  std::filesystem::create_directory(folder);
  take();
  std::filesystem::remove_all(folder);
  take();
  EXPECT_EQ(times_said(), 1) << "one picture is no end of it";
  std::filesystem::create_directory(folder);
  for (int i = 0; i < 3; ++i) take();
  EXPECT_THAT(log.text(), HasSubstr("pictures are written again; 3 failed"));
  std::filesystem::remove_all(folder);
  take();
  EXPECT_EQ(times_said(), 2);
}

TEST_F(SnapshotReporterTest, AFolderThatDoesNotAnswerDoesNotHoldTheEnd) {
  const CapturedLog log;
  const auto storage = std::make_shared<Gate>();
  const auto started = std::make_shared<std::promise<void>>();
  std::future<std::filesystem::path> path;
  {
    SnapshotReporter reporter(
        [storage, started](const auto&...) -> std::filesystem::path {
          started->set_value();
          storage->wait();
          return "too late";
        },
        seconds(0));
    path = change(reporter, "cat", seconds(1));
    started->get_future().wait();
    EXPECT_FALSE(change(reporter, "dog", seconds(2)).valid()) << "one is being written";
    reporter.end_by(Clock::now());
  }
  EXPECT_THAT(log.text(), HasSubstr("the last picture is not complete"));
  EXPECT_THAT(log.text(),
              HasSubstr("0 written, 0 failed, 0 dropped by the cool-down, 1 because another was "
                        "being written"));
  storage->open();
  EXPECT_EQ(path.get(), "too late") << "the thread goes on without the reporter";
}

}  // namespace
}  // namespace lookout
