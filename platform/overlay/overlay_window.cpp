#include "platform/overlay/overlay_window.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <opencv2/core/version.hpp>
#include <opencv2/imgproc.hpp>
#include <system_error>

#include "platform/system/module.h"

namespace lookout {
namespace {

constexpr int kPatienceMs = 1000;  // with a process that should end
constexpr int kCannotRun = 127;    // exit status of the dynamic loader

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::string message(int error) { return std::generic_category().message(error); }

void close_descriptor(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// Returns the exit status, or 128 + signal.
int reap(pid_t pid) {
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), POLLIN, 0};
  if (end.fd < 0 || ::poll(&end, 1, kPatienceMs) != 1) ::kill(pid, SIGKILL);
  if (end.fd >= 0) ::close(end.fd);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Debian's name of the package with OpenCV's windows, as of libopencv_highgui.so.406.
std::string highgui_package() {
  return fmt::format("libopencv-highgui{}{:02}", CV_VERSION_MAJOR, CV_VERSION_MINOR);
}

}  // namespace

OverlayWindow::OverlayWindow() {
  // Qt has platforms without a display, such as the console's framebuffer.
  if (!is_set("DISPLAY") && !is_set("QT_QPA_PLATFORM")) {
    give_up("there is no display, DISPLAY is not set");
    return;
  }
  start();
}

OverlayWindow::~OverlayWindow() {
  close();
  if (shared_ != nullptr) ::munmap(shared_, sizeof(OverlayShared));
}

void OverlayWindow::start() {
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> errors{-1, -1};
  int memory = ::memfd_create("lookout-overlay", MFD_CLOEXEC);
  void* mapped = MAP_FAILED;
  if (memory >= 0 && ::ftruncate(memory, sizeof(OverlayShared)) == 0) {
    mapped = ::mmap(nullptr, sizeof(OverlayShared), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  const bool made = mapped != MAP_FAILED &&
                    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) == 0 &&
                    ::pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) == 0;
  if (mapped != MAP_FAILED) shared_ = new (mapped) OverlayShared;
  socket_ = sockets[0];
  errors_ = errors[0];
  if (made) {
    spawn(sockets[1], memory, errors[1]);
  } else {
    give_up(message(errno));
  }
  close_descriptor(sockets[1]);
  close_descriptor(errors[1]);
  close_descriptor(memory);
}

// The process gets these descriptors, and none of the camera's.
void OverlayWindow::spawn(int socket, int memory, int errors) {
  const std::string program = module_path(kOverlayProgram).string();
  std::array<char*, 3> arguments{const_cast<char*>(kOverlayProgram),
                                 const_cast<char*>(kOverlayVersion), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // Above the places, so that none is overwritten before it is moved.
  const int high_socket = ::fcntl(socket, F_DUPFD_CLOEXEC, kOverlayMemory + 1);
  const int high_memory = ::fcntl(memory, F_DUPFD_CLOEXEC, kOverlayMemory + 1);
  posix_spawn_file_actions_adddup2(&actions, high_socket, kOverlaySocket);
  posix_spawn_file_actions_adddup2(&actions, high_memory, kOverlayMemory);
  posix_spawn_file_actions_addclosefrom_np(&actions, kOverlayMemory + 1);
  const int error =
      ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(high_socket);
  ::close(high_memory);
  if (error == 0) return;
  pid_ = -1;
  give_up(fmt::format("{} cannot be started: {}", program, message(error)));
}

void OverlayWindow::show(const cv::Mat& picture, const View& view, const OverlayContent& content) {
  const double scale = std::min(
      1.0, static_cast<double>(kOverlayLongestSide) / std::max(picture.cols, picture.rows));
  shared_->width = std::max(1, static_cast<int>(std::lround(picture.cols * scale)));
  shared_->height = std::max(1, static_cast<int>(std::lround(picture.rows * scale)));
  shared_->view = view;
  cv::Mat target(shared_->height, shared_->width, CV_8UC3, shared_->bgr.data());
  if (target.size() == picture.size()) {
    picture.copyTo(target);
  } else {
    cv::resize(picture, target, target.size(), 0, 0, cv::INTER_LINEAR);
  }
  show(content);
}

void OverlayWindow::show(const OverlayContent& content) {
  if (shared_->width == 0) shared_->width = shared_->height = 1;
  shared_->content = content;
  ready_ = false;
  // That nobody takes it is seen by serve().
  ::send(socket_, &kOverlayShow, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void OverlayWindow::serve(std::chrono::milliseconds timeout) {
  if (!is_open()) return;
  pollfd socket{socket_, POLLIN, 0};
  if (::poll(&socket, 1, static_cast<int>(timeout.count())) <= 0) return;
  std::array<char, kOverlayLongestPacket> packet;
  while (is_open()) {
    const ssize_t size = ::recv(socket_, packet.data(), packet.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      lost();
    } else {
      take(packet[0], std::string(packet.data() + 1, static_cast<std::size_t>(size - 1)));
    }
  }
}

void OverlayWindow::take(char what, const std::string& text) {
  switch (what) {
    case kOverlayReady:
      was_ready_ = ready_ = true;
      frozen_ = false;
      break;
    case kOverlayFrozen:
      ready_ = false;
      frozen_ = true;
      break;
    case kOverlayQuit:
      wants_to_quit_ = true;
      close();
      break;
    case kOverlayClosed:
      give_up("the window was closed");
      break;
    case kOverlaySaved:
      spdlog::info("overlay: snapshot {}", text);
      break;
    case kOverlayNotSaved:
      spdlog::warn("overlay: no snapshot, {} cannot be written", text);
      break;
    default:
      break;
  }
}

// The first line that the process wrote to stderr: what follows is advice for Qt's developers.
std::string OverlayWindow::last_words() {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(errors_, buffer.data(), buffer.size());
  const std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size)));
  std::string line = text.substr(0, text.find('\n'));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void OverlayWindow::lost() {
  const int status = reap(pid_);
  pid_ = -1;
  const std::string words = last_words();
  const std::string why = words.empty() ? fmt::format("exit status {}", status) : words;
  if (status == kCannotRun) {
    give_up(fmt::format("{}; this may help: apt install {}", why, highgui_package()));
  } else if (was_ready_) {
    give_up(fmt::format("the window is lost: {}", why));
  } else {
    const char* display = std::getenv("DISPLAY");
    give_up(fmt::format("no window on DISPLAY '{}': {}", display == nullptr ? "" : display, why));
  }
}

void OverlayWindow::give_up(const std::string& why) {
  spdlog::warn("overlay: {}; going on without it", why);
  close();
}

// The process ends when its socket is closed.
void OverlayWindow::close() {
  close_descriptor(socket_);
  if (pid_ >= 0) reap(pid_);
  pid_ = -1;
  close_descriptor(errors_);
  ready_ = frozen_ = false;
}

}  // namespace lookout
