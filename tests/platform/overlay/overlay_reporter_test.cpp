// The window on a real X server, and the program with it.
#include "platform/overlay/overlay_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"
#include "platform/sources/test_pattern.h"
#include "tests/support/model_testing.h"
#include "tests/support/overlay_places.h"
#include "tests/support/program.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/x_server.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const cv::Size kSize(kOverlayWidth, kOverlayHeight);
constexpr int kTries = 1500;  // of 20 ms each

class OverlayTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!XServer::is_installed()) GTEST_SKIP() << "Xvfb is not installed";
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    x_.emplace();
    frame_.bgr.create(480, 640, CV_8UC3);
    draw_pattern(Pattern::kColorBars, frame_.bgr);
    frame_.origin = "folder/picture.png";
    result_.dropped = 3;
    result_.durations.total = std::chrono::microseconds(27100);
    result_.frame_age = std::chrono::microseconds(31200);
    content_.title = overlay_text("front: net");
    content_.rates = overlay_text("0.0 fps (camera 0.0)  dropped 3");
    content_.latency = overlay_text("latency 27.1 ms  age 31.2 ms");
    content_.rows = 2;
    set_score(0.75F);
  }

  // Of the best prediction.
  void set_score(float score) {
    result_.top = {{0, "first", score}, {1, "second", 0.2F}};
    content_.row[0] = {overlay_text("first"), score};
    content_.row[1] = {overlay_text("second"), 0.2F};
  }

  static RunInfo info(bool live = true) {
    RunInfo info;
    info.camera = "front";
    info.live = live;
    return info;
  }

  static bool until(const std::function<bool()>& done) {
    for (int i = 0; i < kTries; ++i) {
      if (done()) return true;
      ::poll(nullptr, 0, 20);
    }
    return false;
  }

  // As the frame loop turns without frames.
  static bool beat_until(OverlayReporter& reporter, const std::function<bool()>& done) {
    return until([&] {
      reporter.poll();
      return done();
    });
  }

  bool logs(const std::string& text) const { return log_.text().find(text) != std::string::npos; }

  cv::Mat expected() const {
    cv::Mat canvas;
    draw_overlay(frame_.bgr, {}, content_, canvas);
    return canvas;
  }

  bool shows_content() {
    return x_->has_window(kSize) && cv::norm(x_->screenshot(), expected(), cv::NORM_INF) == 0;
  }

  // Reports the result and returns when it can be seen.
  void show(OverlayReporter& reporter) {
    reporter.watching({{nullptr, model_with({})}});
    ASSERT_TRUE(beat_until(reporter, [&] {
      reporter.report(result_, frame_);
      return shows_content();
    })) << log_.text();
  }

  TempDir folder_;
  CapturedLog log_;
  std::optional<XServer> x_;
  std::atomic<bool> stop_{false};
  Frame frame_;
  Result result_;
  OverlayContent content_;  // what the window is expected to show
};

TEST_F(OverlayTest, ShowsRatesLatencyAndPredictionsPixelForPixel) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  set_score(0.1F);
  StatsSnapshot stats;
  stats.classified_fps = 29.5;
  stats.camera_fps = 30;
  reporter.tick(stats);
  content_.rates = overlay_text("29.5 fps (camera 30.0)  dropped 3");
  show(reporter);
}

TEST_F(OverlayTest, NamedWatchesHaveTheirStatesAndRectangles) {
  const ModelInfoPtr model = model_with({"open", "shut"});
  const auto gate = std::make_shared<WatchInfo>(WatchInfo{"gate", {0, 0, 0.5, 1}, "The gate"});
  const auto lamp = std::make_shared<WatchInfo>(WatchInfo{"lamp", {0.5, 0, 0.5, 0.5}});
  OverlayReporter reporter(info(/*live=*/false), {}, stop_, std::chrono::seconds(120));
  reporter.watching({{gate, model}, {lamp, model}});
  content_.title = overlay_text("front");
  content_.rates = overlay_text("picture.png");
  content_.boxes = 2;
  content_.row[0] = {overlay_text("The gate: shut"), 0.75F};
  content_.row[1] = {overlay_text("lamp: unknown"), 0};
  content_.box[0] = {gate->roi, content_.row[0].label};
  content_.box[1] = {lamp->roi, content_.row[1].label};
  // All watches of a frame are shown together.
  result_.watch = gate;
  result_.state = {SceneState::Kind::kClass, {1, "shut", 0.75F}, model};
  reporter.report(result_, frame_);
  result_.watch = lamp;
  result_.state = {SceneState::Kind::kUnknown};
  reporter.report(result_, frame_);
  EXPECT_TRUE(beat_until(reporter, [this] { return shows_content(); })) << log_.text();
  // One that is replaced begins again.
  const auto box = std::make_shared<WatchInfo>(WatchInfo{"box", {0, 0, 1, 1}});
  reporter.watching({{box, model}, {gate, model}});
  result_.sequence = 1;
  result_.watch = box;
  result_.state = {};
  reporter.report(result_, frame_);
  result_.watch = gate;
  result_.state = {SceneState::Kind::kClass, {0, "open", 0.5F}, model};
  reporter.report(result_, frame_);
  content_.row[0] = {overlay_text("box"), 0};
  content_.row[1] = {overlay_text("The gate: open"), 0.5F};
  content_.box[0] = {box->roi, content_.row[0].label};
  content_.box[1] = {gate->roi, content_.row[1].label};
  EXPECT_TRUE(beat_until(reporter, [this] { return shows_content(); })) << log_.text();
}

// Texts in many scripts, as pictures of the window's first row.
TEST_F(OverlayTest, LabelsAreShownInEveryScript) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  const cv::Rect label = cv::Rect(kOverlayPictureWidth + 12, 84, 210, 19);
  std::vector<std::string> labels{"geöffnet", "ge?ffnet", "—",       "?",      "??????",
                                  "открыто",  "مفتوح",    "ανοιχτό", "门开着", "???"};
  std::vector<cv::Mat> pictures;
  for (const std::string& text : labels) {
    result_.top[0].label = text;
    const cv::Mat before = x_->screenshot()(label).clone();
    ASSERT_TRUE(beat_until(reporter, [&] {
      reporter.report(result_, frame_);
      return cv::norm(x_->screenshot()(label), before, cv::NORM_INF) > 0;
    })) << text;
    pictures.push_back(x_->screenshot()(label).clone());
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(cv::norm(pictures[i], pictures[j], cv::NORM_INF), 60) << labels[i] << labels[j];
    }
  }
}

TEST_F(OverlayTest, ACharacterThatNoFontHasIsNamedOnce) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  result_.top[0].label = "geöffnet \xF3\xB0\x80\x80";  // U+F0000, for private use
  EXPECT_TRUE(beat_until(reporter, [&] {
    reporter.report(result_, frame_);
    return logs(
        "no font has '\xF3\xB0\x80\x80' (U+F0000), which is shown as a box; this may help: "
        "apt install fonts-noto-core");
  }));
  result_.top[0].label = "\xF3\xB0\x80\x81";
  for (int i = 0; i < 10; ++i) reporter.report(result_, frame_);
  EXPECT_EQ(log_.text().find("no font has"), log_.text().rfind("no font has"));
}

TEST_F(OverlayTest, TheLastPictureStaysWhileTheCameraIsOffline) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  content_.rates = overlay_text("offline for 0 s");
  content_.latency = overlay_text("waiting for the camera");
  content_.alert = true;
  content_.rows = 0;
  EXPECT_TRUE(until([&] {
    reporter.status({false, std::chrono::system_clock::now()});
    return shows_content();
  }));
}

TEST_F(OverlayTest, ClosingIsAWarning) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  x_->close_window();
  EXPECT_TRUE(beat_until(reporter, [&] { return logs("closed"); }));
  reporter.report(result_, frame_);
  EXPECT_FALSE(stop_);
}

TEST_F(OverlayTest, LosingTheDisplayIsAWarning) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  x_->lose();
  EXPECT_TRUE(beat_until(reporter, [&] { return logs("the window is lost"); }));
  reporter.report(result_, frame_);
  EXPECT_FALSE(stop_);
}

TEST_F(OverlayTest, KeyQIsTheWishToQuit) {
  OverlayReporter reporter(info(), {}, stop_);
  show(reporter);
  x_->press('q');
  EXPECT_TRUE(beat_until(reporter, [&] { return stop_.load(); }));
  EXPECT_THAT(log_.text(), testing::IsEmpty());
}

TEST_F(OverlayTest, SpaceFreezesThePictureUntilTheNextSpace) {
  OverlayReporter reporter(info(/*live=*/false), {}, stop_);
  content_.rates = overlay_text("picture.png");
  show(reporter);
  x_->press(' ');
  // Shows results that differ, until the window takes one and does not show it.
  const auto is_frozen = [&] {
    set_score(content_.row[0].score < 0.9F ? content_.row[0].score + 0.01F : 0.1F);
    // Each waits until the window has taken the one before, and it paints between two of them.
    for (int i = 0; i < 3; ++i) reporter.report(result_, frame_);
    return !shows_content() && !shows_content() && !shows_content();
  };
  ASSERT_TRUE(until(is_frozen));
  EXPECT_THAT(log_.text(), testing::IsEmpty()) << "a frozen window takes pictures";
  x_->press(' ');
  EXPECT_TRUE(until([&] { return shows_content(); })) << "the latest picture is shown again";
}

// The processes of windows that this one started and has not reaped.
std::vector<pid_t> window_processes() {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name;
    std::string state;
    // The kernel cuts names to 15 characters, and `lookout-overlay` has as many.
    if (file >> pid >> name >> state >> parent && parent == ::getpid() &&
        name == "(lookout-overlay)") {
      found.push_back(pid);
    }
  }
  return found;
}

TEST_F(OverlayTest, AWindowThatHangsIsNotWaitedFor) {
  OverlayReporter reporter(info(/*live=*/false), {}, stop_, std::chrono::seconds(0));
  ASSERT_TRUE(beat_until(reporter, [&] { return x_->has_window(kSize); })) << log_.text();
  const std::vector<pid_t> processes = window_processes();
  ASSERT_EQ(processes.size(), 1U);
  ::kill(processes[0], SIGSTOP);
  for (int i = 0; i < 3; ++i) reporter.report(result_, frame_);
  EXPECT_THAT(log_.text(), HasSubstr("the window does not answer"));
  EXPECT_EQ(window_processes(), processes) << "its end was waited for";
  EXPECT_TRUE(beat_until(reporter, [] { return window_processes().empty(); }))
      << "it is not reaped later";
}

TEST_F(OverlayTest, KeySSavesWhatIsShownInTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  OverlayReporter reporter(info(), {}, stop_);
  fs::current_path(before);
  show(reporter);
  x_->press('s');
  ASSERT_TRUE(until([&] { return x_->title().rfind("saved ", 0) == 0; })) << x_->title();
  const cv::Mat saved = cv::imread(folder_ / x_->title().substr(6));
  ASSERT_EQ(saved.size(), kSize);
  EXPECT_EQ(cv::norm(saved, expected(), cv::NORM_INF), 0);
}

TEST_F(OverlayTest, ADisplayThatIsNotThereIsAWarningThatNamesIt) {
  ::setenv("DISPLAY", ":4711", 1);
  OverlayReporter reporter(info(), {}, stop_);
  EXPECT_TRUE(beat_until(reporter, [&] { return logs("going on without it"); }));
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("no window on DISPLAY ':4711'"), HasSubstr("display")));
}

TEST_F(OverlayTest, NoDisplayIsAWarning) {
  ::unsetenv("DISPLAY");
  OverlayReporter reporter(info(), {}, stop_);
  reporter.report(result_, frame_);
  EXPECT_THAT(log_.text(), HasSubstr("DISPLAY is not set"));
}

// The program in such a window, with a picture that has one color in the middle.
class OverlayProgramTest : public OverlayTest {
 protected:
  void SetUp() override {
    OverlayTest::SetUp();
    picture_file_ = folder_ / "red.png";
    cv::imwrite(picture_file_, cv::Mat(100, 100, CV_8UC3, cv::Scalar(0, 0, 255)));
  }

  bool shows_red() {
    return x_->has_window(kSize) &&
           x_->screenshot().at<cv::Vec3b>(200, 300) == cv::Vec3b(0, 0, 255);
  }

  // Something else than the background, which is in the canvas' last corner.
  bool shows_something(const cv::Rect& part) {
    if (!x_->has_window(kSize)) return false;
    const cv::Mat shot = x_->screenshot();
    const cv::Mat background(part.size(), CV_8UC3,
                             shot.at<cv::Vec3b>(kOverlayHeight - 1, kOverlayWidth - 1));
    return cv::norm(shot(part), background, cv::NORM_INF) > 0;
  }

  static std::size_t results(const Program& program) {
    const std::string out = program.out();
    std::size_t count = 0;
    for (auto at = out.find("\"seq\""); at != std::string::npos; at = out.find("\"seq\"", at + 1)) {
      ++count;
    }
    return count;
  }

  std::string picture_file_;
};

TEST_F(OverlayProgramTest, TextsAndBarsAreShownBesideThePicture) {
  for (const std::string& source : {std::string("test://red"), picture_file_}) {
    Program program({source, "--overlay"});
    EXPECT_TRUE(until([&] { return shows_red(); })) << program.err();
    for (int line = 0; line < kOverlayLines; ++line) {
      EXPECT_TRUE(until([&] { return shows_something(overlay_line(line)); })) << line;
    }
    EXPECT_TRUE(until([&] { return shows_something(overlay_row(0)); }));
    x_->press('q');
    EXPECT_EQ(program.finish().status, 0);
  }
}

TEST_F(OverlayProgramTest, ItClassifiesOnWhenTheDisplayIsLost) {
  Program program({"test://red", "--overlay", "--format", "json"});
  EXPECT_TRUE(until([&] { return shows_red(); })) << program.err();
  x_->lose();
  EXPECT_TRUE(program.wait_for("going on without it"));
  const std::size_t before = results(program);
  EXPECT_TRUE(until([&] { return results(program) > before + 5; }));
  kill(program.pid(), SIGINT);
  EXPECT_EQ(program.finish().status, 0);
}

TEST_F(OverlayProgramTest, TheWindowEndsWithTheProgram) {
  Program program({"test://red", "--overlay"});
  EXPECT_TRUE(until([&] { return shows_red(); })) << program.err();
  kill(program.pid(), SIGKILL);
  EXPECT_TRUE(until([&] { return !x_->has_window(kSize); }));
}

TEST_F(OverlayProgramTest, KeyQEndsItCleanly) {
  Program program({"test://red", "--overlay"});
  EXPECT_TRUE(until([&] { return shows_red(); })) << program.err();
  x_->press('q');
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("summary"));
}

TEST_F(OverlayProgramTest, TheLastPictureOfAFolderStaysUntilTheWindowIsClosed) {
  Program program({picture_file_, "--overlay"});
  EXPECT_TRUE(program.wait_for("summary"));
  EXPECT_TRUE(until([&] { return shows_red(); })) << program.err();
  x_->close_window();
  EXPECT_EQ(program.finish().status, 0);
}

TEST_F(OverlayProgramTest, WithoutADisplayFilesAreClassifiedAtOnce) {
  Program::Options options;
  options.environment = {"DISPLAY=:4711"};
  const ProgramResult result = run_lookout({picture_file_, "--overlay"}, options);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr(":4711"));
  EXPECT_THAT(result.out, HasSubstr("red"));
}

}  // namespace
}  // namespace lookout
