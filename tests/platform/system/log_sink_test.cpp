#include "platform/system/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// A logger that writes "LEVEL TEXT" to `fd`.
spdlog::logger logger_to(int fd) {
  spdlog::logger log("test", make_log_sink(fd));
  log.set_pattern("%^%l%$ %v");
  return log;
}

class LogToAPipe : public testing::Test {
 protected:
  LogToAPipe() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~LogToAPipe() override {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  std::string read_all() const {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = read(ends_[0], part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

  std::array<int, 2> ends_{-1, -1};
};

TEST_F(LogToAPipe, ThatIsReadTakesEveryLine) {
  spdlog::logger log = logger_to(ends_[1]);
  log.info("one");
  log.warn("two");
  EXPECT_EQ(read_all(), "info one\nwarning two\n");
}

TEST_F(LogToAPipe, ThatIsFullCountsWhatItDropsAndSaysSoWhenThereIsRoom) {
  spdlog::logger log = logger_to(ends_[1]);
  constexpr std::size_t kLines = 1000;
  const std::string text(1000, 'x');
  for (std::size_t i = 0; i < kLines; ++i) log.info(text);
  const std::size_t written = count_lines(read_all());
  EXPECT_GT(written, 0U);
  ASSERT_LT(written, kLines);
  log.error("after");
  const std::string dropped = std::to_string(kLines - written);
  EXPECT_THAT(read_all(), StartsWith("warning " + dropped + " log lines were dropped"));
  log.error("later");
  EXPECT_EQ(read_all(), "error later\n") << "it is said once";
}

TEST_F(LogToAPipe, ThatIsFullHasTheCountAtTheEndAlsoWithoutAnotherLine) {
  spdlog::logger log = logger_to(ends_[1]);
  const std::string text(999, 'x');
  for (int i = 0; i < 100; ++i) log.info(text);
  read_all();
  log.flush();
  EXPECT_THAT(read_all(), HasSubstr("dropped"));
  log.flush();
  EXPECT_EQ(read_all(), "");
}

TEST_F(LogToAPipe, WithoutAReaderEndsNothing) {
  spdlog::logger log = logger_to(ends_[1]);
  close(ends_[0]);
  ends_[0] = -1;
  log.info("one");
  log.info("two");
}

TEST(LogSink, AFileTakesEveryLine) {
  const TempDir directory;
  const std::string path = directory / "log";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  spdlog::logger log = logger_to(fd);
  const std::string text(1000, 'x');
  for (int i = 0; i < 1000; ++i) log.info(text);
  close(fd);
  std::ifstream file(path);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(count_lines(content), 1000U);
  EXPECT_THAT(content, EndsWith("x\n"));
}

TEST(LogSink, AFullDiskIsNoError) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  spdlog::logger log = logger_to(full);
  bool failed = false;
  log.set_error_handler([&failed](const std::string& /*what*/) { failed = true; });
  log.info("one");
  log.flush();
  close(full);
  EXPECT_FALSE(failed);
}

// The bytes of a warning on a terminal of type `term`.
std::string on_terminal(const char* term) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return "no terminal";
  const int fd = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  setenv("TERM", term, 1);
  logger_to(fd).warn("hot");
  std::string text;
  while (text.empty() || text.back() != '\n') {
    char c = 0;
    if (read(terminal, &c, 1) != 1) break;
    text += c;
  }
  close(fd);
  close(terminal);
  return text;
}

TEST(LogSink, TheLevelHasAColorOnATerminalThatShowsSome) {
  const std::string colored = on_terminal("xterm");
  if (colored == "no terminal") GTEST_SKIP() << colored;
  EXPECT_EQ(colored, "\x1b[33m\x1b[1mwarning\x1b[m hot\r\n");
  EXPECT_EQ(on_terminal("dumb"), "warning hot\r\n");
}

}  // namespace
}  // namespace lookout
