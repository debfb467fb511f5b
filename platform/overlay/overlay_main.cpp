// lookout-overlay: the process of the overlay window, started by `lookout --overlay`.
//
// It is a process of its own because Qt, which Debian's OpenCV opens windows with, ends its
// process: it aborts without a display and calls exit() when the display is lost.
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <opencv2/core/utility.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "platform/overlay/overlay_protocol.h"
#include "platform/overlay/window_font.h"

namespace lookout {
namespace {

const char* const kTitle = "lookout";
constexpr int kWaitMs = 15;  // between two looks at the memory and the keyboard
constexpr int kNiceness = 10;

class Window {
 public:
  explicit Window(OverlayShared& shared) : shared_(shared) {
    cv::namedWindow(kTitle, cv::WINDOW_NORMAL | cv::WINDOW_KEEPRATIO | cv::WINDOW_GUI_NORMAL);
    cv::resizeWindow(kTitle, kOverlayWidth, kOverlayHeight);
    has_font_ = WindowFont::is_there();
    draw();
  }

  // Returns an exit status, when lookout is gone or the user wants it.
  int run() {
    while (::getppid() == shared_.owner) {
      ::poll(nullptr, 0, kWaitMs);  // a longer waitKey() wakes up every 2 ms
      const int key = cv::waitKey(1);
      if (cv::getWindowProperty(kTitle, cv::WND_PROP_VISIBLE) < 1) break;
      if (key == 'q') return kOverlayQuit;
      if (key == 's') save();
      if (key == ' ') {
        frozen_ = !frozen_;
        show();
      }
      if (!shared_.ready) draw();
    }
    return kOverlayClosed;
  }

 private:
  void draw() {
    draw_overlay(cv::Mat(shared_.height, shared_.width, CV_8UC3, shared_.bgr.data()), shared_.view,
                 shared_.content, canvas_, has_font_ ? &font_ : nullptr);
    const std::string& missing = font_.missing();
    if (missing.size() < shared_.missing.size()) {
      std::copy(missing.begin(), missing.end(), shared_.missing.begin());
    }
    shared_.ready = true;
    show();
  }

  void show() {
    if (frozen_) return;
    canvas_.copyTo(shown_);
    cv::imshow(kTitle, shown_);
  }

  // The window's title tells the outcome. A second snapshot in the same second overwrites the
  // first.
  void save() const {
    const std::time_t now = std::time(nullptr);
    std::array<char, 64> file{};
    std::strftime(file.data(), file.size(), "lookout-%Y%m%d-%H%M%S.png", std::localtime(&now));
    bool saved = false;
    try {
      saved = cv::imwrite(file.data(), shown_);
    } catch (const cv::Exception&) {
      // `saved` is false
    }
    cv::setWindowTitle(kTitle, (saved ? "saved " : "cannot write ") + std::string(file.data()));
  }

  OverlayShared& shared_;
  WindowFont font_;
  bool has_font_ = false;
  cv::Mat canvas_;  // the latest picture with its texts
  cv::Mat shown_;   // likewise, or the one that the user froze
  bool frozen_ = false;
};

// lookout ends this process; classification goes before drawing; Qt's abort() is no crash.
void lower_priority() {
  std::signal(SIGTERM, SIG_IGN);
  ::setpriority(PRIO_PROCESS, 0, kNiceness);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  cv::setNumThreads(1);
}

int fail(const char* sentence) {
  std::fprintf(stderr, "%s\n", sentence);
  return 1;
}

int run() {
  lower_priority();
  ::setenv("QT_FONT_DPI", "96", 1);  // the canvas has a size in pixels
  void* memory =
      ::mmap(nullptr, sizeof(OverlayShared), PROT_READ | PROT_WRITE, MAP_SHARED, kOverlayMemory, 0);
  if (memory == MAP_FAILED) return fail("lookout-overlay is a part of lookout --overlay");
  try {
    return Window(*static_cast<OverlayShared*>(memory)).run();
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace
}  // namespace lookout

int main() {
  const int status = lookout::run();
  // The destructors of Qt's globals are slow, and may wait for a display that is gone.
  std::fflush(nullptr);
  _exit(status);
}
