#include "tests/support/x_server.h"

#include <X11/Xutil.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

namespace lookout {
namespace {

constexpr const char* kProgram = "/usr/bin/Xvfb";

// A window may be gone when it is asked for. The default handler ends the process.
int ignore_error(Display* /*display*/, XErrorEvent* /*event*/) { return 0; }

}  // namespace

bool XServer::is_installed() { return ::access(kProgram, X_OK) == 0; }

XServer::XServer() {
  std::array<int, 2> numbers{};  // it chooses a free display and tells which
  if (::pipe(numbers.data()) != 0) throw std::runtime_error("no pipe");
  const std::string fd = std::to_string(numbers[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(numbers[0]);
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execl(kProgram, kProgram, "-displayfd", fd.c_str(), "-nolisten", "tcp", "-screen", "0",
            "1280x720x24", nullptr);
    ::_exit(127);
  }
  ::close(numbers[1]);
  std::string number;
  for (char c = 0; ::read(numbers[0], &c, 1) == 1 && c != '\n';) number += c;
  ::close(numbers[0]);
  if (!number.empty()) {
    ::setenv("DISPLAY", (":" + number).c_str(), 1);
    XSetErrorHandler(ignore_error);
    display_ = XOpenDisplay(nullptr);
  }
  if (display_ == nullptr) {
    lose();
    throw std::runtime_error("Xvfb does not start");
  }
}

XServer::~XServer() { lose(); }

void XServer::lose() {
  if (pid_ < 0) return;
  if (display_ != nullptr) XCloseDisplay(display_);
  display_ = nullptr;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::optional<Window> XServer::window() {
  Window root = DefaultRootWindow(display_);
  Window parent = 0;
  Window* children = nullptr;
  unsigned int count = 0;
  std::optional<Window> found;
  if (XQueryTree(display_, root, &root, &parent, &children, &count) == 0) return found;
  for (unsigned int i = 0; i < count; ++i) {
    XWindowAttributes attributes{};
    if (XGetWindowAttributes(display_, children[i], &attributes) != 0 &&
        attributes.map_state == IsViewable) {
      found = children[i];
    }
  }
  if (children != nullptr) XFree(children);
  return found;
}

bool XServer::has_window(const cv::Size& size) {
  const auto shown = window();
  XWindowAttributes attributes{};
  return shown && XGetWindowAttributes(display_, *shown, &attributes) != 0 &&
         cv::Size(attributes.width, attributes.height) == size;
}

cv::Mat XServer::screenshot() {
  const Window shown = window().value();
  XWindowAttributes attributes{};
  XGetWindowAttributes(display_, shown, &attributes);
  XImage* image = XGetImage(display_, shown, 0, 0, static_cast<unsigned int>(attributes.width),
                            static_cast<unsigned int>(attributes.height), AllPlanes, ZPixmap);
  if (image == nullptr || image->bits_per_pixel != 32) throw std::runtime_error("no screenshot");
  const cv::Mat bgrx(image->height, image->width, CV_8UC4, image->data,
                     static_cast<std::size_t>(image->bytes_per_line));
  cv::Mat bgr;
  cv::cvtColor(bgrx, bgr, cv::COLOR_BGRA2BGR);
  XDestroyImage(image);
  return bgr;
}

std::string XServer::title() {
  const auto shown = window();
  if (!shown) return "";
  Atom type = None;
  int format = 0;
  unsigned long count = 0;
  unsigned long rest = 0;
  unsigned char* text = nullptr;
  XGetWindowProperty(display_, *shown, XInternAtom(display_, "_NET_WM_NAME", False), 0, 1024, False,
                     AnyPropertyType, &type, &format, &count, &rest, &text);
  const std::string title(text, text + count);
  if (text != nullptr) XFree(text);
  return title;
}

void XServer::send(XEvent& event) {
  XSendEvent(display_, window().value(), False, NoEventMask, &event);
  XFlush(display_);
}

void XServer::press(char key) {
  XEvent event{};
  event.xkey.type = KeyPress;
  event.xkey.display = display_;
  event.xkey.window = window().value();
  event.xkey.root = DefaultRootWindow(display_);
  event.xkey.same_screen = True;
  event.xkey.keycode = XKeysymToKeycode(display_, static_cast<KeySym>(key));  // Latin 1 is the same
  send(event);
  event.xkey.type = KeyRelease;
  send(event);
}

void XServer::close_window() {
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = window().value();
  event.xclient.message_type = XInternAtom(display_, "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(display_, "WM_DELETE_WINDOW", False));
  event.xclient.data.l[1] = CurrentTime;
  send(event);
}

}  // namespace lookout
