// An X server without a screen, for tests of windows.
#pragma once

#include <X11/Xlib.h>
#include <sys/types.h>

#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

namespace lookout {

class XServer {
 public:
  // Starts Xvfb and sets DISPLAY. Throws std::runtime_error when it does not start.
  XServer();
  ~XServer();
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;

  static bool is_installed();

  // Kills it, as if the machine with the screen were gone.
  void lose();

  // The only window is as large as `size` and visible; false: not yet.
  bool has_window(const cv::Size& size);
  // The window's content, CV_8UC3. There must be a window.
  cv::Mat screenshot();
  // The window's title; empty: there is no window.
  std::string title();
  // As if the user typed it, or closed the window by its frame.
  void press(char key);
  void close_window();

 private:
  std::optional<Window> window();
  void send(XEvent& event);

  pid_t pid_ = -1;
  Display* display_ = nullptr;
};

}  // namespace lookout
