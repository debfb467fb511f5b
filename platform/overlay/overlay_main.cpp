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
#include <map>
#include <numeric>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/overlay/overlay_layout.h"

namespace lookout {
namespace {

const char* const kTitle = "lookout";
constexpr int kWaitMs = 15;  // between two looks at the memory and the keyboard
constexpr int kNiceness = 10;

constexpr int kTextHeight = 22;      // pixels
constexpr int kMaxTextWidth = 1200;  // of a text that is cut later
constexpr int kPoints = 10;          // at 96 dots an inch
constexpr std::size_t kMaxPictures = 256;
const char* const kNoCharacter = "\xf4\x8f\xbf\xbd";  // U+10FFFD, for private use: no font has it
const char* const kEllipsis = "\xe2\x80\xa6";

// OpenCV passes the weight on to QFont: 0 to 99 in Qt 5, 1 to 1000 in Qt 6, which Debian's has
// since OpenCV 4.10.
constexpr int kNormalWeight = CV_VERSION_MAJOR * 100 + CV_VERSION_MINOR >= 410 ? 400 : 50;

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continues || characters.empty()) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

// To the right of the last column that is not black.
int used_width(const cv::Mat& picture) {
  cv::Mat columns;
  cv::reduce(picture, columns, 0, cv::REDUCE_MAX);
  int width = columns.cols;
  while (width > 1 && columns.at<unsigned char>(0, width - 1) == 0) --width;
  return width;
}

// The font of the window system: Qt's, which takes each character from a font that has it, and
// shapes scripts that need it. To be used by the thread of the window, once there is one. Texts are
// drawn when they change.
class WindowFont : public OverlayFont {
 public:
  // Whether OpenCV's windows are Qt's, as Debian's are. To be asked when there is one.
  static bool is_there() {
    try {
      drawn("");
      return true;
    } catch (const cv::Exception&) {
      return false;
    }
  }

  cv::Mat picture(const std::string& text, int width) override {
    const auto key = std::make_pair(text, width);
    if (const auto found = pictures_.find(key); found != pictures_.end()) return found->second;
    if (pictures_.size() >= kMaxPictures) pictures_.clear();
    for (const std::string& character : characters_of(text)) look_for(character);
    return pictures_[key] = cut(text, width);
  }

  // The first character so far that no font has, UTF-8; empty: none.
  const std::string& missing() const { return missing_; }

 private:
  static cv::Mat drawn(const std::string& text) {
    cv::Mat bgr(kTextHeight, kMaxTextWidth, CV_8UC3, cv::Scalar::all(0));
    cv::addText(bgr, text, {0, kBaseline}, "Sans Serif", kPoints, cv::Scalar(255, 255, 255),
                kNormalWeight);
    cv::Mat gray;
    cv::cvtColor(bgr, gray, cv::COLOR_BGR2GRAY);
    return gray;
  }

  static cv::Mat cut(const std::string& text, int width) {
    cv::Mat whole = drawn(text);
    std::vector<std::string> left = characters_of(text);
    while (used_width(whole) > width && !left.empty()) {
      left.pop_back();
      whole = drawn(std::accumulate(left.begin(), left.end(), std::string()) + kEllipsis);
    }
    return whole.colRange(0, std::min(width, used_width(whole)));
  }

  void look_for(const std::string& character) {
    if (!missing_.empty() || character.size() == 1 || !seen_.insert(character).second) return;
    const bool is_box = cv::norm(drawn(character), drawn(kNoCharacter), cv::NORM_INF) == 0;
    if (is_box) missing_ = character;
  }

  std::map<std::pair<std::string, int>, cv::Mat> pictures_;
  std::set<std::string> seen_;  // characters
  std::string missing_;
};

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
