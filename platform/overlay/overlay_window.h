// The overlay window, seen from lookout: it is drawn by another process, which is started here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <opencv2/core/mat.hpp>
#include <string>

#include "pipeline/model/preprocessor.h"
#include "platform/overlay/overlay_layout.h"
#include "platform/overlay/overlay_protocol.h"

namespace lookout {

// Used by one thread at a time. Nothing here throws or, but for serve(), waits: what keeps the
// window from opening or takes it away is a warning in the log, once, and then is_open() is false.
class OverlayWindow {
 public:
  OverlayWindow();
  ~OverlayWindow();
  OverlayWindow(const OverlayWindow&) = delete;
  OverlayWindow& operator=(const OverlayWindow&) = delete;

  bool is_open() const { return socket_ >= 0; }
  // The user pressed q, which also closes the window.
  bool wants_to_quit() const { return wants_to_quit_; }
  // The window shows what it got last and waits for more.
  bool is_ready() const { return is_open() && ready_; }
  // The user stopped the picture; it is not ready until he lets it go on.
  bool is_frozen() const { return frozen_; }

  // When it is ready: copies the picture (CV_8UC3, not empty), scaled down if it is larger than can
  // be seen, and has it shown with `content`.
  void show(const cv::Mat& picture, const View& view, const OverlayContent& content);
  // The same with the last picture, black if there was none.
  void show(const OverlayContent& content);

  // Waits at most `timeout` for the window to say something, and takes all it said.
  void serve(std::chrono::milliseconds timeout);

  // Takes the window away, with a warning.
  void give_up(const std::string& why);

 private:
  void start();
  void spawn(int socket, int memory, int errors);
  void take(char what, const std::string& text);
  std::string last_words();
  void lost();
  void close();

  pid_t pid_ = -1;
  int socket_ = -1;
  int errors_ = -1;  // what the process writes to stderr
  OverlayShared* shared_ = nullptr;
  bool was_ready_ = false;
  bool ready_ = false;
  bool frozen_ = false;
  bool wants_to_quit_ = false;
};

}  // namespace lookout
