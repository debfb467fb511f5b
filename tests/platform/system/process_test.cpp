#include "platform/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

bool never() { return false; }

std::string run_shell(const std::string& script, const std::vector<std::string>& environment = {}) {
  return run_process({"sh", "-c", script}, environment, never);
}

TEST(SplitCommand, AsAShellWould) {
  setenv("WHERE", "front door", 1);
  EXPECT_THAT(split_command("notify  --now\t'two words' \"it's\" a\\ b \"$WHERE\" ''"),
              ElementsAre("notify", "--now", "two words", "it's", "a b", "front door", ""));
  EXPECT_THAT(split_command("sh -c 'echo $LOOKOUT_EVENT_STATE > /tmp/x; exit'"),
              ElementsAre("sh", "-c", "echo $LOOKOUT_EVENT_STATE > /tmp/x; exit"));
  unsetenv("WHERE");
}

TEST(SplitCommand, SaysWhatItCannot) {
  const std::map<std::string, std::string> wrong{{"echo hello > file", "sh -c"},
                                                 {"echo; reboot", "sh -c"},
                                                 {"echo $LOOKOUT_EVENT_STATE", "not set"},
                                                 {"echo $(date)", "need a shell"},
                                                 {"echo `date`", "need a shell"},
                                                 {"echo 'oh", "not closed"},
                                                 {" ", "names no program"},
                                                 {"''", "names no program"}};
  for (const auto& [command, named] : wrong) {
    expect_error(ErrorKind::kUsage, HasSubstr(named), [&, c = command] { split_command(c); });
  }
}

TEST(RunProcess, SaysHowItEnded) {
  EXPECT_EQ(run_process({"true"}, {}, never), "");
  EXPECT_EQ(run_shell("exit 3"), "exit status 3");
  EXPECT_EQ(run_shell("kill -TERM $$"), "Terminated (signal 15)");
  EXPECT_EQ(run_process({"no-such-program"}, {}, never),
            "cannot be started: No such file or directory");
  // 0: a process that lives, such as the sanitizer's own.
  EXPECT_LE(waitpid(-1, nullptr, WNOHANG), 0) << "a zombie is left";
}

TEST(CaptureProcess, KeepsWhatIsWrittenAndTheStatus) {
  const ProcessOutput output =
      capture_process({"sh", "-c", "echo data; echo log >&2; exit 5"}, {}, never);
  EXPECT_EQ(output.out, "data\n");
  EXPECT_EQ(output.err, "log\n");
  EXPECT_EQ(output.status, 5);
  EXPECT_EQ(output.problem, "exit status 5");
  EXPECT_EQ(capture_process({"true"}, {}, never).problem, "");
}

TEST(CaptureProcess, ALogMayGoToTheCallersStderr) {
  testing::internal::CaptureStderr();
  const ProcessOutput output =
      capture_process({"sh", "-c", "echo data; echo log >&2"}, {}, never, Stderr::kInherited);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "log\n");
  EXPECT_EQ(output.out, "data\n");
  EXPECT_EQ(output.err, "");
}

TEST(CaptureProcess, ANonExitHasNoStatus) {
  const ProcessOutput killed =
      capture_process({"sh", "-c", "echo begun; kill -KILL $$"}, {}, never);
  EXPECT_EQ(killed.status, -1);
  EXPECT_EQ(killed.out, "begun\n");
  EXPECT_EQ(killed.problem, "Killed (signal 9)");
  EXPECT_EQ(capture_process({"/no/such"}, {}, never).status, -1);
}

TEST(RunProcess, TheEnvironmentIsTheCallersWithTheAdditions) {
  const TempDir directory;
  setenv("COLOR", "red", 1);
  setenv("SHAPE", "round", 1);
  setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
  EXPECT_EQ(run_shell("echo \"$COLOR $SHAPE ${NOTIFY_SOCKET-unset}\" > " + (directory / "out"),
                      {"COLOR=dark green"}),
            "");
  EXPECT_EQ(read_file(directory / "out"), "dark green round unset\n");
  for (const char* name : {"COLOR", "SHAPE", "NOTIFY_SOCKET"}) unsetenv(name);
}

TEST(RunProcess, NeitherSignalsNorDescriptorsAreInherited) {
  const TempDir directory;
  const std::string out = directory / "out";
  constexpr int kOpen = 77;
  ASSERT_EQ(dup2(STDERR_FILENO, kOpen), kOpen);
  const auto pipe_handler = std::signal(SIGPIPE, SIG_IGN);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const std::string failure =
      run_shell("exec > " + out +
                "; grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd; "
                "readlink /proc/$$/fd/0");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGPIPE, pipe_handler);
  close(kOpen);
  EXPECT_EQ(failure, "");
  EXPECT_THAT(read_file(out), HasSubstr("SigBlk:\t0000000000000000\n"));
  const auto ignored = read_file(out).find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos);
  EXPECT_EQ(std::stoull(read_file(out).substr(ignored + 8), nullptr, 16) & (1U << (SIGPIPE - 1)),
            0U);
  EXPECT_THAT(read_file(out), EndsWith("\n0\n1\n2\n/dev/null\n"));
}

// A process and its child that hold a FIFO open.
class LongProcess : public testing::Test {
 protected:
  LongProcess() {
    mkfifo(fifo_.c_str(), 0600);
    reader_ = open(fifo_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~LongProcess() override { close(reader_); }

  bool both_run() const {
    char byte = 0;
    return read(reader_, &byte, 1) == 1;
  }
  // Returns when no process holds the FIFO any more.
  void wait_for_their_end() const {
    pollfd end{reader_, POLLIN, 0};
    while ((end.revents & POLLHUP) == 0) {
      ASSERT_GT(poll(&end, 1, -1), 0);
      char byte = 0;
      static_cast<void>(!read(reader_, &byte, 1));
    }
  }

  TempDir directory_;
  std::string fifo_ = directory_ / "fifo";
  int reader_ = -1;
};

TEST_F(LongProcess, IsKilledWithWhatItStarted) {
  const std::string failure =
      run_process({"sh", "-c", "exec 5> " + fifo_ + "; sleep 1000 & echo >&5; wait"}, {},
                  [this] { return both_run(); });
  EXPECT_EQ(failure, "killed: it took too long");
  wait_for_their_end();
}

TEST_F(LongProcess, LeavesNothingBehindWhenItEndsItself) {
  EXPECT_EQ(run_shell("exec 5> " + fifo_ + "; sleep 1000 & exit 0"), "");
  wait_for_their_end();
}

TEST(CheckProgram, AcceptsWhatCanBeStarted) {
  EXPECT_NO_THROW(check_program("--on-change", "sh"));
  EXPECT_NO_THROW(check_program("--on-change", "/bin/sh"));
}

TEST(CheckProgram, NamesWhatCannotBeStarted) {
  const TempDir directory;
  const std::string text = directory.write("text", "no program");
  expect_error(ErrorKind::kNoInput,
               testing::StrEq("--on-change: there is no program nope-x in PATH"),
               [] { check_program("--on-change", "nope-x"); });
  expect_error(ErrorKind::kNoInput, testing::StrEq("--on-change: there is no program /no/such"),
               [] { check_program("--on-change", "/no/such"); });
  expect_error(ErrorKind::kPermission, testing::StrEq("--on-change: no permission to run " + text),
               [&text] { check_program("--on-change", text); });
  expect_error(ErrorKind::kNoInput,
               testing::HasSubstr("there is no program " + directory.path().string()),
               [&directory] { check_program("--on-change", directory.path()); });
}

}  // namespace
}  // namespace lookout
