// The window on a real X server, and the program with it.
#include "platform/overlay/overlay_window.h"

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

#include "platform/overlay/overlay_reporter.h"
#include "platform/sources/test_pattern.h"
#include "tests/support/overlay_places.h"
#include "tests/support/program.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/x_server.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
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
    draw_pattern(Pattern::kColorBars, picture_);
    content_.title = overlay_text("title");
    content_.rates = overlay_text("30.0 fps");
    content_.rows = 2;
    content_.row[0] = {overlay_text("first"), 0.75F};
    content_.row[1] = {overlay_text("second"), 0.2F};
  }

  static bool serve_until(OverlayWindow& window, const std::function<bool()>& done) {
    for (int i = 0; i < kTries; ++i) {
      if (done()) return true;
      window.serve(milliseconds(20));
      if (!window.is_open()) return done();
    }
    return false;
  }

  static bool until(const std::function<bool()>& done) {
    for (int i = 0; i < kTries; ++i) {
      if (done()) return true;
      ::poll(nullptr, 0, 20);
    }
    return false;
  }

  bool shows(const cv::Mat& picture, const OverlayContent& content) {
    if (!x_->has_window(kSize)) return false;
    cv::Mat expected;
    draw_overlay(picture, {}, content, expected);
    return cv::norm(x_->screenshot(), expected, cv::NORM_INF) == 0;
  }

  // Shows the picture and returns when it can be seen.
  void show(OverlayWindow& window) {
    ASSERT_TRUE(serve_until(window, [&] { return window.is_ready(); })) << log_.text();
    window.show(picture_, {}, content_);
    ASSERT_TRUE(serve_until(window, [&] { return shows(picture_, content_); })) << log_.text();
  }

  TempDir folder_;
  CapturedLog log_;
  std::optional<XServer> x_;
  cv::Mat picture_ = cv::Mat(480, 640, CV_8UC3);
  OverlayContent content_;
};

TEST_F(OverlayTest, ShowsTheLayoutPixelForPixel) {
  OverlayWindow window;
  show(window);
  content_.row[0].score = 0.1F;
  ASSERT_TRUE(serve_until(window, [&] { return window.is_ready(); }));
  window.show(content_);
  EXPECT_TRUE(serve_until(window, [&] { return shows(picture_, content_); }));
}

TEST_F(OverlayTest, TheReporterShowsRatesLatencyAndPredictions) {
  std::atomic<bool> stop{false};
  OverlayReporter reporter({"front: net", {}, /*every_picture=*/false}, stop);
  StatsSnapshot stats;
  stats.classified_fps = 29.5;
  stats.camera_fps = 30;
  reporter.tick(stats);
  Frame frame;
  frame.bgr = picture_;
  Result result;
  result.top = {{0, "first", 0.75F}, {1, "second", 0.2F}};
  result.dropped = 3;
  result.durations.total = std::chrono::microseconds(27100);
  result.frame_age = std::chrono::microseconds(31200);
  content_.title = overlay_text("front: net");
  content_.rates = overlay_text("29.5 fps (camera 30.0)  dropped 3");
  content_.latency = overlay_text("latency 27.1 ms  age 31.2 ms");
  EXPECT_TRUE(until([&] {
    reporter.beat();
    reporter.report(result, frame);
    return shows(picture_, content_);
  })) << log_.text();
}

TEST_F(OverlayTest, ClosingIsAWarning) {
  OverlayWindow window;
  show(window);
  x_->close_window();
  EXPECT_TRUE(serve_until(window, [&] { return !window.is_open(); }));
  EXPECT_FALSE(window.wants_to_quit());
  EXPECT_THAT(log_.text(), HasSubstr("closed"));
}

TEST_F(OverlayTest, LosingTheDisplayIsAWarning) {
  OverlayWindow window;
  show(window);
  x_->lose();
  EXPECT_TRUE(serve_until(window, [&] { return !window.is_open(); }));
  EXPECT_FALSE(window.wants_to_quit());
  EXPECT_THAT(log_.text(), HasSubstr("the window is lost"));
}

TEST_F(OverlayTest, KeyQIsTheWishToQuit) {
  OverlayWindow window;
  show(window);
  x_->press('q');
  EXPECT_TRUE(serve_until(window, [&] { return window.wants_to_quit(); }));
  EXPECT_FALSE(window.is_open());
  EXPECT_THAT(log_.text(), testing::IsEmpty());
}

// Has content shown that differs each time, until the window takes some without showing it.
bool becomes_frozen(OverlayWindow& window, const std::function<bool(OverlayWindow&)>& show_next) {
  for (int i = 0; i < kTries; ++i) {
    if (!show_next(window)) return true;
  }
  return false;
}

TEST_F(OverlayTest, SpaceFreezesThePictureUntilTheNextSpace) {
  OverlayWindow window;
  show(window);
  x_->press(' ');
  const auto show_next = [this](OverlayWindow& w) {
    content_.row[0].score += content_.row[0].score < 0.9F ? 0.01F : -0.8F;
    EXPECT_TRUE(serve_until(w, [&] { return w.is_ready(); }));
    w.show(content_);
    EXPECT_TRUE(serve_until(w, [&] { return w.is_ready(); })) << "a frozen window takes pictures";
    return shows(picture_, content_) || shows(picture_, content_) || shows(picture_, content_);
  };
  ASSERT_TRUE(becomes_frozen(window, show_next));
  x_->press(' ');
  EXPECT_TRUE(serve_until(window, [&] { return shows(picture_, content_); }))
      << "the latest picture is shown again";
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
  OverlayWindow window;
  show(window);
  const std::vector<pid_t> processes = window_processes();
  ASSERT_EQ(processes.size(), 1U);
  ::kill(processes[0], SIGSTOP);
  window.give_up("it hangs");
  EXPECT_EQ(window_processes(), processes) << "its end was waited for";
  EXPECT_FALSE(window.is_open());
  EXPECT_TRUE(until([&] {
    window.serve(milliseconds(0));
    return window_processes().empty();
  })) << "it is not reaped later";
}

TEST_F(OverlayTest, KeySSavesWhatIsShownInTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  {
    OverlayWindow window;
    show(window);
    x_->press('s');
    EXPECT_TRUE(
        serve_until(window, [&] { return log_.text().find("snapshot") != std::string::npos; }));
  }
  fs::current_path(before);
  fs::path saved;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    if (entry.path().extension() == ".png") saved = entry.path();
  }
  EXPECT_THAT(log_.text(), HasSubstr(saved.string()));
  cv::Mat expected;
  draw_overlay(picture_, {}, content_, expected);
  EXPECT_EQ(cv::norm(cv::imread(saved.string()), expected, cv::NORM_INF), 0);
}

TEST_F(OverlayTest, ADisplayThatIsNotThereIsAWarningThatNamesIt) {
  ::setenv("DISPLAY", ":4711", 1);
  OverlayWindow window;
  EXPECT_TRUE(serve_until(window, [&] { return !window.is_open(); }));
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("DISPLAY"), HasSubstr(":4711")));
}

TEST_F(OverlayTest, NoDisplayIsAWarning) {
  ::unsetenv("DISPLAY");
  const OverlayWindow window;
  EXPECT_FALSE(window.is_open());
  EXPECT_THAT(log_.text(), HasSubstr("DISPLAY"));
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
