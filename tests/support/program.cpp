#include "tests/support/program.h"
#include "paths.h"
#include "tests/support/temp_dir.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace lookout {
namespace {

int open_for_writing(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// nohup and shells ignore some in what they start.
void hear_signals() {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT}) std::signal(number, SIG_DFL);
}

}  // namespace

Program::Program(std::vector<std::string> arguments, const Options& options) {
  arguments.insert(arguments.begin(), LOOKOUT_PROGRAM);
  const int err = options.stderr_fd >= 0 ? options.stderr_fd : open_for_writing(directory_ / "err");
  const int out = options.stdout_fd >= 0         ? options.stdout_fd
                  : !options.stdout_path.empty() ? open_for_writing(options.stdout_path)
                                                 : open_for_writing(directory_ / "out");
  std::vector<char*> argv = pointers(arguments);
  std::vector<std::string> environment = options.environment;
  environment.emplace_back(
      "LOOKOUT_MODEL_THREADS=1");  // the tests that run beside this one want some, too
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool is_set =
        std::any_of(environment.begin(), environment.end(),
                    [name](const auto& set) { return set.compare(0, name.size(), name) == 0; });
    if (!is_set) environment.emplace_back(text);
  }
  std::vector<char*> envp = pointers(environment);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    for (const int fd : options.closed) close(fd);
    hear_signals();
    if (options.ignore_sigchld) std::signal(SIGCHLD, SIG_IGN);
    if (options.user != 0 && setuid(options.user) != 0) _exit(126);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  if (options.stderr_fd < 0) close(err);
  if (options.stdout_fd < 0) close(out);
}

Program::~Program() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    poll_end(/*block=*/true);
  }
}

std::string Program::out() const { return read_file(directory_ / "out"); }

std::string Program::err() const { return read_file(directory_ / "err"); }

bool Program::poll_end(bool block) {
  int status = 0;
  if (!ended_ && waitpid(pid_, &status, block ? 0 : WNOHANG) == pid_) {
    ended_ = true;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return ended_;
}

bool Program::wait_for(const std::string& text) {
  const int changes = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(changes, directory_.path().c_str(), IN_MODIFY);
  const auto found = [&] {
    return out().find(text) != std::string::npos || err().find(text) != std::string::npos;
  };
  bool result = false;
  while (!(result = found()) && !poll_end(/*block=*/false)) {
    pollfd change{changes, POLLIN, 0};
    poll(&change, 1, 100);  // an end makes no change
    char events[4096];
    if ((change.revents & POLLIN) != 0) static_cast<void>(!read(changes, events, sizeof(events)));
  }
  close(changes);
  return result || found();
}

ProgramResult Program::finish() {
  poll_end(/*block=*/true);
  return {status_, out(), err()};
}

ProgramResult run_lookout(const std::vector<std::string>& arguments) {
  return Program(arguments).finish();
}

ProgramResult run_lookout(const std::vector<std::string>& arguments,
                          const Program::Options& options) {
  return Program(arguments, options).finish();
}

}  // namespace lookout
