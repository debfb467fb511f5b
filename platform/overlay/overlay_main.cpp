// lookout-overlay: the process of the overlay window, started by `lookout --overlay`.
//
// A process of its own because Qt, which OpenCV's windows are made of on Debian, ends its process:
// it aborts where there is no display and calls exit() when the display is lost.
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <opencv2/core/utility.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "platform/overlay/overlay_protocol.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

const char* const kTitle = "lookout";
constexpr int kWaitMs = 15;  // between two looks at the keyboard
constexpr int kNiceness = 10;

// A new file in the current folder: lookout-20261231-235959.png, ...-2.png.
std::string snapshot_path() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> stem{};
  std::strftime(stem.data(), stem.size(), "lookout-%Y%m%d-%H%M%S", &local);
  const std::string path = fs::current_path() / stem.data();
  std::string file = path + ".png";
  for (int i = 2; fs::exists(file); ++i) file = path + "-" + std::to_string(i) + ".png";
  return file;
}

class Window {
 public:
  explicit Window(const OverlayShared& shared) : shared_(shared) {
    cv::namedWindow(kTitle, cv::WINDOW_NORMAL | cv::WINDOW_KEEPRATIO | cv::WINDOW_GUI_NORMAL);
    cv::resizeWindow(kTitle, kOverlayWidth, kOverlayHeight);
    cv::imshow(kTitle, canvas_);
  }

  // Returns an exit status, when lookout is gone or the user wants it.
  int run() {
    send(kOverlayTaken);
    while (receive()) {
      const int key = cv::waitKey(1);
      if (cv::getWindowProperty(kTitle, cv::WND_PROP_VISIBLE) < 1) break;
      if (taken_) send(kOverlayTaken);  // now the picture can be seen
      taken_ = false;
      if (key == 'q') return kOverlayQuit;
      if (key == 's') save();
      if (key == ' ') frozen_ = !frozen_;
      if (key == ' ' && !frozen_) show();
    }
    return kOverlayClosed;
  }

 private:
  static void send(char what, const std::string& text = "") {
    const std::string packet = what + text.substr(0, kOverlayMaxPacket - 1);
    ::send(kOverlaySocket, packet.data(), packet.size(), MSG_NOSIGNAL);
  }

  // Returns false when lookout is gone.
  bool receive() {
    pollfd socket{kOverlaySocket, POLLIN, 0};
    if (::poll(&socket, 1, kWaitMs) <= 0) return true;
    char packet = 0;
    const ssize_t size = ::recv(kOverlaySocket, &packet, 1, 0);
    if (size <= 0) return size < 0 && errno == EINTR;
    *latest_ = shared_;
    taken_ = true;
    if (!frozen_) show();
    return true;
  }

  void show() {
    draw_overlay(cv::Mat(latest_->height, latest_->width, CV_8UC3, latest_->bgr.data()),
                 latest_->view, latest_->content, canvas_);
    cv::imshow(kTitle, canvas_);
  }

  void save() {
    const std::string file = snapshot_path();
    try {
      if (cv::imwrite(file, canvas_)) return send(kOverlayInfo, "snapshot " + file);
    } catch (const cv::Exception&) {
      // reported below
    }
    send(kOverlayWarning, "no snapshot, " + file + " cannot be written");
  }

  const OverlayShared& shared_;
  std::unique_ptr<OverlayShared> latest_ = std::make_unique<OverlayShared>();
  cv::Mat canvas_ = cv::Mat::zeros(kOverlayHeight, kOverlayWidth, CV_8UC3);
  bool frozen_ = false;  // the window does not follow latest_
  bool taken_ = false;   // lookout does not know yet that latest_ was taken
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
  void* memory = ::mmap(nullptr, sizeof(OverlayShared), PROT_READ, MAP_SHARED, kOverlayMemory, 0);
  if (memory == MAP_FAILED) return fail("lookout-overlay is a part of lookout --overlay");
  try {
    return Window(*static_cast<const OverlayShared*>(memory)).run();
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace
}  // namespace lookout

int main() {
  const int status = lookout::run();
  // Qt's globals would take longer than all the rest, and may wait for a display that is gone.
  std::fflush(nullptr);
  _exit(status);
}
