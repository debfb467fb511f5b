#include "platform/overlay/overlay_window.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <opencv2/core/version.hpp>
#include <opencv2/imgproc.hpp>
#include <string_view>
#include <system_error>

#include "platform/system/module.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kNoWait{0};
constexpr std::chrono::milliseconds kTimeToEnd{1000};
constexpr int kCannotRun = 127;  // exit status of the dynamic loader

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Throws std::system_error with the last error's number unless `done`.
void check(bool done) {
  if (!done) throw std::system_error(errno, std::generic_category());
}

}  // namespace

OverlayWindow::OverlayWindow() {
  // Qt has platforms without a display, such as the console's framebuffer.
  if (variable("DISPLAY").empty() && variable("QT_QPA_PLATFORM").empty()) {
    give_up("there is no display, DISPLAY is not set");
    return;
  }
  try {
    start();
  } catch (const std::exception& error) {
    give_up(fmt::format("{} cannot be started: {}", kOverlayProgram, error.what()));
  }
}

OverlayWindow::~OverlayWindow() {
  if (is_open()) ::close(socket_);  // at which the process ends
  if (process_) process_->wait(kTimeToEnd);
  if (shared_ != nullptr) ::munmap(shared_, sizeof(OverlayShared));
}

void OverlayWindow::start() {
  const MemoryFile memory;
  check(::ftruncate(memory.fd(), sizeof(OverlayShared)) == 0);
  void* mapped =
      ::mmap(nullptr, sizeof(OverlayShared), PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd(), 0);
  check(mapped != MAP_FAILED);
  shared_ = new (mapped) OverlayShared;
  errors_.emplace();
  std::array<int, 2> sockets{};
  check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  socket_ = sockets[0];
  ProcessOptions options{
      {module_path(kOverlayProgram).string()},
      {},
      {ProcessOptions::kDevNull, ProcessOptions::kDevNull, errors_->fd(), sockets[1], memory.fd()}};
  try {
    process_.emplace(options);
  } catch (const std::exception&) {
    ::close(sockets[1]);
    throw;
  }
  ::close(sockets[1]);
}

void OverlayWindow::show(const cv::Mat& picture, const View& view, const OverlayContent& content) {
  const double scale =
      std::min(1.0, static_cast<double>(kOverlayMaxSide) / std::max(picture.cols, picture.rows));
  shared_->width = std::max(1, static_cast<int>(std::lround(picture.cols * scale)));
  shared_->height = std::max(1, static_cast<int>(std::lround(picture.rows * scale)));
  shared_->view = view;
  cv::Mat target(shared_->height, shared_->width, CV_8UC3, shared_->bgr.data());
  cv::resize(picture, target, target.size(), 0, 0, cv::INTER_LINEAR);
  show(content);
}

void OverlayWindow::show(const OverlayContent& content) {
  shared_->content = content;
  ready_ = false;
  ::send(socket_, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);  // serve() notices a failure
}

void OverlayWindow::serve(std::chrono::milliseconds timeout) {
  if (!is_open()) {
    if (process_ && process_->wait(kNoWait)) process_.reset();
    return;
  }
  pollfd socket{socket_, POLLIN, 0};
  if (::poll(&socket, 1, static_cast<int>(timeout.count())) <= 0) return;
  if (!receive() && process_->wait(timeout)) handle_end();
}

// Handles all packets. Returns false when the process has closed its end.
bool OverlayWindow::receive() {
  std::array<char, kOverlayMaxPacket> packet;
  ssize_t size = 0;
  while ((size = ::recv(socket_, packet.data(), packet.size(), MSG_DONTWAIT)) > 0) {
    const std::string_view text(packet.data() + 1, static_cast<std::size_t>(size - 1));
    if (packet[0] == kOverlayTaken) was_ready_ = ready_ = true;
    if (packet[0] == kOverlayInfo) spdlog::info("overlay: {}", text);
    if (packet[0] == kOverlayWarning) spdlog::warn("overlay: {}", text);
  }
  return size < 0 && (errno == EAGAIN || errno == EINTR);
}

// What follows the first line is advice for Qt's developers.
std::string OverlayWindow::first_error_line() const {
  const std::string text = errors_->content();
  std::string line = text.substr(0, text.find('\n'));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void OverlayWindow::handle_end() {
  const int wait_status = process_->kill();
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  std::string why = first_error_line();
  if (why.empty()) why = describe_end(wait_status);
  if (status == kOverlayQuit) {
    wants_to_quit_ = true;
    close();
  } else if (status == kOverlayClosed) {
    give_up("the window was closed");
  } else if (status == kCannotRun) {
    // Debian's name of the package, as of libopencv_highgui.so.406.
    give_up(fmt::format("{}; this may help: apt install libopencv-highgui{}{:02}", why,
                        CV_VERSION_MAJOR, CV_VERSION_MINOR));
  } else if (was_ready_) {
    give_up(fmt::format("the window is lost: {}", why));
  } else {
    give_up(fmt::format("no window on DISPLAY '{}': {}", variable("DISPLAY"), why));
  }
}

void OverlayWindow::give_up(const std::string& why) {
  spdlog::warn("overlay: {}; going on without it", why);
  close();
}

// The process has nothing left to do; serve() reaps it.
void OverlayWindow::close() {
  if (is_open()) ::close(socket_);
  socket_ = -1;
  if (process_) process_->send_kill();
}

}  // namespace lookout
