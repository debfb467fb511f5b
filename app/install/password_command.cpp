#include "app/install/password_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/options/resolved_run.h"
#include "pipeline/core/error.h"
#include "platform/system/atomic_file.h"
#include "platform/system/password.h"
#include "platform/system/service.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t password_signal = 0;
extern "C" void note_password_signal(int signal) { password_signal = signal; }

// What is typed is not shown while this lives. A signal that would end the program ends it after
// that.
class HiddenTyping {
 public:
  HiddenTyping() {
    password_signal = 0;
    struct sigaction action {};
    action.sa_handler = note_password_signal;  // without SA_RESTART: read() returns
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &action, &before_[i]);
    }
    if (tcgetattr(STDIN_FILENO, &shown_) != 0) return;
    termios hidden = shown_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    hidden.c_lflag |= ECHONL;
    is_hidden_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
  }
  ~HiddenTyping() {
    if (is_hidden_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
    if (password_signal != 0) std::raise(password_signal);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

  std::array<struct sigaction, kSignals.size()> before_{};
  termios shown_{};
  bool is_hidden_ = false;
};

Error password_usage(const std::string& sentence) { return {ErrorKind::kUsage, sentence}; }

// The bytes up to the end of the line; a line takes no more than a password may have.
std::string read_stdin_line() {
  std::string line;
  char byte = 0;
  while (line.size() <= kMaxPassword) {
    const ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR && password_signal == 0) continue;
    if (count <= 0 || byte == '\n') {
      if (count <= 0 && line.empty()) throw password_usage("there is no password on stdin");
      break;
    }
    line += byte;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

void print_question(const std::string& question) {
  std::string_view text = question;
  while (!text.empty()) {
    const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string read_password(const PasswordInput& input) {
  const std::string password = input.read_line("New password: ");
  if (const std::string reason = reason_against_password(password); !reason.empty()) {
    throw password_usage("the password " + reason + "; nothing was changed");
  }
  if (input.is_terminal && input.read_line("The same again: ") != password) {
    throw password_usage("the two passwords differ; nothing was changed");
  }
  return password;
}

// Before somebody types a password in vain.
void check_password_file(const fs::path& file) {
  try {
    check_can_write("the password file", file);
  } catch (const Error& error) {
    const bool needs_root = error.kind() == ErrorKind::kPermission && geteuid() != 0;
    throw Error(error.kind(), std::string(error.what()) + (needs_root ? ": run it with sudo" : ""));
  }
}

std::string remove_password(const fs::path& file) {
  std::error_code error;
  const bool was_there = fs::remove(file, error);
  if (error) {
    throw Error(ErrorKind::kOutput,
                fmt::format("{} cannot be removed: {}", file.string(), error.message()));
  }
  if (!was_there) return fmt::format("There is no password in {}.\n", file.string());
  return fmt::format("{} is removed: nobody can log in, and nobody is logged in.\n", file.string());
}

}  // namespace

PasswordInput standard_input() {
  PasswordInput input;
  input.is_terminal = isatty(STDIN_FILENO) == 1;
  input.read_line = [is_terminal = input.is_terminal](const std::string& question) {
    if (!is_terminal) return read_stdin_line();
    print_question(question);
    const HiddenTyping hidden;
    return read_stdin_line();
  };
  return input;
}

std::string change_password(const RunOptions& options, const PasswordOptions& command,
                            const PasswordInput& input) {
  const fs::path file = password_file(options);
  if (file.empty()) {
    throw Error(ErrorKind::kConfig,
                fmt::format("there is no configuration beside which the password could lie, as {}: "
                            "name one by --config, or a file by --set http.password-file=FILE",
                            kServiceConfig));
  }
  check_password_file(file);
  if (command.remove) return remove_password(file);
  write_password_hash(file, hash_password(read_password(input)));
  const std::string unit = unit_of_service(options.config_file);
  if (!unit.empty()) check_service_reads("password file", file);
  std::string text = fmt::format("The password is in {}, as its hash.", file.string());
  text += options.http.teach
              ? " It is asked for from now on, and who was logged in is not any more."
              : " Nobody can log in until http.teach = true.";
  return text + "\n";
}

}  // namespace lookout
