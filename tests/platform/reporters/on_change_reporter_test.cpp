#include "platform/reporters/on_change_reporter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <opencv2/imgcodecs.hpp>

#include "tests/support/fakes.h"
#include "tests/support/model_testing.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class OnChangeReporterTest : public testing::Test {
 protected:
  OnChangeReporterTest() {
    mkfifo(output_path_.c_str(), 0600);
    mkfifo(gate_path_.c_str(), 0600);
    output_ = open(output_path_.c_str(), O_RDWR | O_CLOEXEC);
    gate_ = open(gate_path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~OnChangeReporterTest() override {
    close(output_);
    close(gate_);
  }

  // Runs `script`, with $OUTPUT and $GATE as FIFOs of the test.
  OnChangeOptions shell(const std::string& script) const {
    OnChangeOptions options;
    options.command = {"sh", "-c",
                       "OUTPUT=" + output_path_ + " GATE=" + gate_path_ + "; " + script};
    options.time_limit = hours(1);
    options.patience = hours(1);
    return options;
  }

  // A line that a command wrote to $OUTPUT; waits for it.
  std::string next_line() const {
    std::string line;
    char byte = 0;
    while (read(output_, &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
  }
  void open_gate() const { ASSERT_EQ(write(gate_, "\n", 1), 1); }

  std::unique_ptr<SnapshotReporter> snapshots_in(const std::string& folder) const {
    return std::make_unique<SnapshotReporter>(SnapshotFolder(folder, "front", 100 << 20), hours(1));
  }

  static Result change(const std::string_view& label) {
    Result result;
    result.model = model_with({});
    result.state_changed = true;
    result.state = {SceneState::Kind::kClass, {7, label, 0.51239F}};
    return result;
  }

  TempDir directory_;
  std::string output_path_ = directory_ / "output";
  std::string gate_path_ = directory_ / "gate";
  int output_ = -1;
  int gate_ = -1;
};

TEST_F(OnChangeReporterTest, TheChangeIsInTheEnvironment) {
  const std::string out = directory_ / "out";
  Result result = change("golden \"retriever\"");
  result.sequence = 812;
  result.timestamp = std::chrono::system_clock::time_point(milliseconds(1795262400007));
  result.previous_state.kind = SceneState::Kind::kUnknown;
  Frame frame;
  frame.origin = "dir/a b.jpg";
  {
    OnChangeReporter reporter(shell("env | grep ^LOOKOUT_EVENT_ | sort > " + out), "front");
    reporter.report(result, frame);
  }
  std::ifstream file(out);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text,
            "LOOKOUT_EVENT_CAMERA=front\n"
            "LOOKOUT_EVENT_COALESCED=0\n"
            "LOOKOUT_EVENT_FILE=dir/a b.jpg\n"
            "LOOKOUT_EVENT_INDEX=7\n"
            "LOOKOUT_EVENT_MODEL=net\n"
            "LOOKOUT_EVENT_PREVIOUS=unknown\n"
            "LOOKOUT_EVENT_SCORE=0.5124\n"
            "LOOKOUT_EVENT_SEQ=812\n"
            "LOOKOUT_EVENT_SNAPSHOT=\n"
            "LOOKOUT_EVENT_STATE=golden \"retriever\"\n"
            "LOOKOUT_EVENT_TIMESTAMP=1795262400.007\n");
}

TEST_F(OnChangeReporterTest, TheWatchIsInTheEnvironment) {
  Result result = change("open");
  result.watch = std::make_shared<WatchInfo>(WatchInfo{"gate", {}, "The gate"});
  OnChangeReporter reporter(shell("echo \"$LOOKOUT_EVENT_CAMERA,$LOOKOUT_EVENT_WATCH\" > $OUTPUT"),
                            "front");
  reporter.report(result, {});
  EXPECT_EQ(next_line(), "front,gate");
}

TEST_F(OnChangeReporterTest, UnknownHasNeitherIndexNorScore) {
  Result result = change("");
  result.state.kind = SceneState::Kind::kUnknown;
  OnChangeReporter reporter(shell("echo \"$LOOKOUT_EVENT_STATE,$LOOKOUT_EVENT_INDEX,"
                                  "$LOOKOUT_EVENT_SCORE,$LOOKOUT_EVENT_PREVIOUS\" > $OUTPUT"),
                            "front");
  reporter.report(result, {});
  EXPECT_EQ(next_line(), "unknown,,,");
}

TEST_F(OnChangeReporterTest, ThePictureOfTheChangeIsThereAsAWhole) {
  Frame frame;
  frame.bgr = cv::Mat(2000, 3000, CV_8UC3, cv::Scalar::all(200));  // takes a while to encode
  const std::string copy = directory_ / "copy.jpg";
  OnChangeReporter reporter(shell("[ -z \"$LOOKOUT_EVENT_SNAPSHOT\" ] || "
                                  "cp \"$LOOKOUT_EVENT_SNAPSHOT\" " +
                                  copy + "; echo \"$LOOKOUT_EVENT_SNAPSHOT\" > $OUTPUT"),
                            "front", snapshots_in(directory_.path()));
  reporter.report(change("cat"), frame);
  EXPECT_THAT(next_line(), AllOf(StartsWith(directory_ / "front_"), EndsWith("_cat.jpg")));
  EXPECT_EQ(cv::imread(copy).size(), frame.bgr.size());
  reporter.report(change("dog"), frame);
  EXPECT_EQ(next_line(), "") << "dropped by the cool-down";
}

TEST_F(OnChangeReporterTest, ACommandIsRunWithoutAPictureThatCannotBeWritten) {
  const CapturedLog log;
  {
    OnChangeReporter reporter(
        shell("echo \"$LOOKOUT_EVENT_STATE,$LOOKOUT_EVENT_SNAPSHOT\" > $OUTPUT"), "front",
        snapshots_in(directory_ / "none"));
    std::filesystem::remove(directory_ / "none");
    Frame frame;
    frame.bgr = cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(200));
    reporter.report(change("cat"), frame);
    EXPECT_EQ(next_line(), "cat,");
  }
  EXPECT_THAT(log.text(), HasSubstr("No such file or directory"));
}

TEST_F(OnChangeReporterTest, OneRunsAtATimeAndOfTheOthersTheNewestIsNext) {
  const CapturedLog log;
  {
    OnChangeReporter reporter(
        shell(
            "echo \"$LOOKOUT_EVENT_STATE $LOOKOUT_EVENT_COALESCED\" > $OUTPUT; read line < $GATE"),
        "front");
    reporter.report(change("a"), {});
    EXPECT_EQ(next_line(), "a 0");
    Result same = change("x");
    same.state_changed = false;
    for (const char* label : {"b", "c", "d"}) {
      reporter.report(change(label), {});
      reporter.report(same, {});
    }
    open_gate();
    EXPECT_EQ(next_line(), "d 2");
    open_gate();
  }
  EXPECT_THAT(log.text(), HasSubstr("2 runs, 0 failed, 2 changes coalesced"));
}

TEST_F(OnChangeReporterTest, AFailureIsSaidOnceWithItsStatus) {
  const CapturedLog log;
  {
    OnChangeReporter reporter(shell("echo > $OUTPUT; exit 3"), "front");
    for (const char* label : {"a", "b", "c"}) {
      reporter.report(change(label), {});
      next_line();
    }
  }
  const std::string failure = "--on-change sh: exit status 3";
  EXPECT_THAT(log.text(), HasSubstr(failure));
  EXPECT_EQ(log.text().find(failure), log.text().rfind(failure));
  EXPECT_THAT(log.text(), HasSubstr("3 runs, 3 failed"));
}

TEST_F(OnChangeReporterTest, AFailureAfterItWorkedIsSaidAgain) {
  const CapturedLog log;
  const std::string failure = "--on-change sh: exit status 3";
  {
    OnChangeReporter reporter(shell("echo > $OUTPUT; [ $LOOKOUT_EVENT_STATE = well ] || exit 3"),
                              "front");
    for (const char* label : {"a", "well", "well", "well", "b"}) {
      reporter.report(change(label), {});
      next_line();
    }
  }
  EXPECT_THAT(log.text(), HasSubstr("--on-change sh: works again; 1 failed"));
  EXPECT_NE(log.text().find(failure), log.text().rfind(failure));
}

TEST_F(OnChangeReporterTest, OneThatTakesTooLongIsKilled) {
  const CapturedLog log;
  {
    OnChangeOptions options = shell("read line < $GATE");
    options.time_limit = milliseconds(1);
    OnChangeReporter reporter(options, "front");
    reporter.report(change("a"), {});
  }
  EXPECT_THAT(log.text(), HasSubstr("killed: it took too long"));
}

TEST_F(OnChangeReporterTest, WhatWaitsAtTheEndIsStillRun) {
  {
    OnChangeReporter reporter(shell("echo $LOOKOUT_EVENT_STATE > $OUTPUT; read line < $GATE"),
                              "front");
    reporter.report(change("a"), {});
    EXPECT_EQ(next_line(), "a");
    reporter.report(change("b"), {});
    open_gate();
    open_gate();
  }
  EXPECT_EQ(next_line(), "b");
}

TEST_F(OnChangeReporterTest, AtTheEndPatienceIsBounded) {
  const CapturedLog log;
  {
    OnChangeOptions options = shell("echo > $OUTPUT; read line < $GATE");
    options.patience = milliseconds(0);
    OnChangeReporter reporter(options, "front");
    reporter.report(change("a"), {});
    next_line();
    reporter.report(change("b"), {});
  }
  EXPECT_THAT(log.text(), HasSubstr("1 run, 1 failed"));
}

TEST_F(OnChangeReporterTest, AFolderThatDoesNotAnswerDoesNotHoldTheEnd) {
  const CapturedLog log;
  const auto storage = std::make_shared<Gate>();
  const auto started = std::make_shared<std::promise<void>>();
  const auto returned = std::make_shared<std::promise<void>>();
  {
    OnChangeOptions options = shell("exit 0");
    options.patience = milliseconds(0);
    OnChangeReporter reporter(
        options, "front",
        std::make_unique<SnapshotReporter>(
            [storage, started, returned](const auto&...) -> std::filesystem::path {
              started->set_value();
              storage->wait();
              returned->set_value();
              return "too late";
            },
            hours(1)));
    reporter.report(change("cat"), {});
    started->get_future().wait();
  }
  EXPECT_THAT(log.text(), HasSubstr("the last picture is not complete"));
  storage->open();
  returned->get_future().wait();
}

TEST_F(OnChangeReporterTest, ACommandDoesNotWaitForEverForItsPicture) {
  const CapturedLog log;
  const auto storage = std::make_shared<Gate>();
  OnChangeOptions options = shell("read line < $GATE");
  options.time_limit = milliseconds(1);
  OnChangeReporter reporter(options, "front",
                            std::make_unique<SnapshotReporter>(
                                [storage](const auto&...) -> std::filesystem::path {
                                  storage->wait();
                                  return "too late";
                                },
                                hours(1)));
  reporter.report(change("cat"), {});
  log.wait_for("killed: it took too long");
  storage->open();
}

TEST_F(OnChangeReporterTest, IsSilentWithoutAChange) {
  const CapturedLog log;
  { OnChangeReporter reporter(shell("exit 1"), "front"); }
  EXPECT_EQ(log.text(), "");
}

}  // namespace
}  // namespace lookout
