// The overlay window, seen from lookout: another process draws it, which is started here.
#pragma once

#include <chrono>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

#include "platform/overlay/overlay_protocol.h"
#include "platform/system/child_process.h"

namespace lookout {

// Used by one thread at a time. Nothing throws, and nothing but serve() and the destructor waits.
// What keeps the window from opening or takes it away is logged once, as a warning, and then
// is_open() is false.
class OverlayWindow {
 public:
  OverlayWindow();
  // Gives the window's process one second to end, and kills it then.
  ~OverlayWindow();
  OverlayWindow(const OverlayWindow&) = delete;
  OverlayWindow& operator=(const OverlayWindow&) = delete;

  bool is_open() const { return socket_ >= 0; }
  // The user pressed q, which also closes the window.
  bool wants_to_quit() const { return wants_to_quit_; }
  // The window has taken what it got last and waits for more.
  bool is_ready() const { return is_open() && ready_; }

  // When it is ready: copies the picture (CV_8UC3, not empty), scaled down if it is larger than can
  // be seen, and has it shown with `content`.
  void show(const cv::Mat& picture, const View& view, const OverlayContent& content);
  // The same with the last picture, black if there was none.
  void show(const OverlayContent& content);

  // Waits at most `timeout` for packets of the window, and handles all of them. Also has to be
  // called after the window was closed, without a timeout: it reaps the process.
  void serve(std::chrono::milliseconds timeout);

  // Takes the window away, with a warning.
  void give_up(const std::string& why);

 private:
  void start();
  bool receive();
  std::string first_error_line() const;
  void handle_end();
  void close();

  std::optional<ChildProcess> process_;
  std::optional<MemoryFile> errors_;  // the process' stderr
  int socket_ = -1;
  OverlayShared* shared_ = nullptr;
  bool was_ready_ = false;
  bool ready_ = false;
  bool wants_to_quit_ = false;
};

}  // namespace lookout
