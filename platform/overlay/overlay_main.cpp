// lookout-overlay: the process of the overlay window, started by `lookout --overlay`.
//
// A process of its own because Qt, which OpenCV's windows are made of on Debian, ends its process:
// it aborts where there is no display and calls exit() when the display is lost. Apart from that,
// neither Qt's libraries nor its threads are in the process that classifies.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <opencv2/core/utility.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "platform/overlay/overlay_layout.h"
#include "platform/overlay/overlay_protocol.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

const char* const kTitle = "lookout";
constexpr int kWaitMs = 15;  // between two looks at the keyboard
constexpr int kNiceness = 10;

// A file of the current folder that is not there yet: lookout-20261231-235959.png, ...-2.png.
std::string snapshot_path() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> stem{};
  std::strftime(stem.data(), stem.size(), "lookout-%Y%m%d-%H%M%S", &local);
  fs::path path = fs::current_path() / (std::string(stem.data()) + ".png");
  for (int i = 2; fs::exists(path); ++i) {
    path.replace_filename(std::string(stem.data()) + "-" + std::to_string(i) + ".png");
  }
  return path.string();
}

class Window {
 public:
  explicit Window(const OverlayShared& shared) : shared_(shared) {
    cv::namedWindow(kTitle, cv::WINDOW_NORMAL | cv::WINDOW_KEEPRATIO | cv::WINDOW_GUI_NORMAL);
    cv::resizeWindow(kTitle, kOverlayWidth, kOverlayHeight);
    canvas_ = cv::Mat::zeros(kOverlayHeight, kOverlayWidth, CV_8UC3);
    cv::imshow(kTitle, canvas_);
  }

  // Returns when lookout is gone or the user wants it.
  void run() {
    send(kOverlayReady);
    while (receive() && serve_user()) {
    }
  }

 private:
  static void send(char what, const std::string& text = "") {
    const std::string packet = what + text.substr(0, kOverlayLongestPacket - 1);
    ::send(kOverlaySocket, packet.data(), packet.size(), MSG_NOSIGNAL);
  }

  // False when lookout is gone.
  bool receive() {
    pollfd socket{kOverlaySocket, POLLIN, 0};
    if (::poll(&socket, 1, kWaitMs) <= 0) return true;
    char packet = 0;
    const ssize_t size = ::recv(kOverlaySocket, &packet, 1, 0);
    if (size < 0) return errno == EINTR;
    if (size == 0) return false;
    pending_ = true;
    if (!frozen_) show();
    return true;
  }

  void show() {
    // OpenCV has no picture without the right to write to it.
    auto* bgr = const_cast<unsigned char*>(shared_.bgr.data());
    draw_overlay(cv::Mat(shared_.height, shared_.width, CV_8UC3, bgr), shared_.view,
                 shared_.content, canvas_);
    cv::imshow(kTitle, canvas_);
    pending_ = false;
    drawn_ = true;
  }

  // False when it is the end.
  bool serve_user() {
    const int key = cv::waitKey(1);
    if (cv::getWindowProperty(kTitle, cv::WND_PROP_VISIBLE) < 1) {
      send(kOverlayClosed);
      return false;
    }
    if (drawn_) send(kOverlayReady);  // now it can be seen
    drawn_ = false;
    switch (key) {
      case 'q':
        send(kOverlayQuit);
        return false;
      case ' ':
        freeze();
        break;
      case 's':
        save();
        break;
      default:
        break;
    }
    return true;
  }

  void freeze() {
    frozen_ = !frozen_;
    if (frozen_) {
      send(kOverlayFrozen);
    } else if (pending_) {
      show();
    } else {
      send(kOverlayReady);
    }
  }

  void save() {
    const std::string file = snapshot_path();
    bool saved = false;
    try {
      saved = cv::imwrite(file, canvas_);
    } catch (const cv::Exception&) {
      // said below
    }
    send(saved ? kOverlaySaved : kOverlayNotSaved, file);
  }

  const OverlayShared& shared_;
  cv::Mat canvas_;        // what is shown
  bool frozen_ = false;   // it stays as it is
  bool pending_ = false;  // there is something newer in the memory
  bool drawn_ = false;    // for lookout to know
};

// Signals are lookout's affair; classification goes before drawing; Qt's abort() is no crash.
void lower_priority() {
  std::signal(SIGINT, SIG_IGN);
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

int run(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], kOverlayVersion) != 0) {
    return fail("lookout-overlay is of another version than lookout, which starts it");
  }
  lower_priority();
  void* memory = ::mmap(nullptr, sizeof(OverlayShared), PROT_READ, MAP_SHARED, kOverlayMemory, 0);
  if (memory == MAP_FAILED) return fail("lookout-overlay is a part of lookout --overlay");
  try {
    Window(*static_cast<const OverlayShared*>(memory)).run();
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  return 0;
}

}  // namespace
}  // namespace lookout

int main(int argc, char** argv) {
  const int status = lookout::run(argc, argv);
  // Qt's globals would take longer than all the rest, and may wait for a display that is gone.
  std::fflush(nullptr);
  _exit(status);
}
