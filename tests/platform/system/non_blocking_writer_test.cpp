#include "platform/system/non_blocking_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

class WriterToAPipe : public testing::Test {
 protected:
  WriterToAPipe() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
  }
  ~WriterToAPipe() override {
    close_reader();
    close(ends_[1]);
  }
  void close_reader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }
  std::string read_some() const {
    std::string text(1 << 16, '\0');
    text.resize(static_cast<std::size_t>(read(ends_[0], text.data(), text.size())));
    return text;
  }

  std::array<int, 2> ends_{};
  std::atomic<bool> stop_{false};
};

TEST_F(WriterToAPipe, WritesWholeLines) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kWait, stop_);
  EXPECT_TRUE(output.write("one\n"));
  EXPECT_TRUE(output.write("two\n"));
  EXPECT_EQ(read_some(), "one\ntwo\n");
}

TEST_F(WriterToAPipe, NoReaderIsWaitedForAfterTheEnd) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kWait, stop_);
  output.wait_until(std::chrono::steady_clock::now());
  const std::string line(1000, 'a');
  int accepted = 0;
  while (output.write(line)) ++accepted;  // the pipe takes 64 KB
  EXPECT_GT(accepted, 1);
  EXPECT_EQ(output.dropped(), 1U);
  EXPECT_FALSE(stop_);
}

TEST_F(WriterToAPipe, AClosedPipeIsACleanStop) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kWait, stop_);
  close_reader();
  EXPECT_FALSE(output.write("one\n"));
  EXPECT_TRUE(stop_);
  EXPECT_FALSE(output.write("two\n"));
  EXPECT_EQ(output.dropped(), 0U) << "nobody was too slow";
}

TEST_F(WriterToAPipe, AClosedJournalIsAFailureOnce) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kDrop, stop_,
                           NonBlockingWriter::WhenClosed::kFail);
  close_reader();
  expect_error(ErrorKind::kDeviceLost, "out: the reader has closed it",
               [&] { output.write("one\n"); });
  EXPECT_FALSE(stop_);
  EXPECT_FALSE(output.write("two\n"));
}

TEST_F(WriterToAPipe, DropsWholeLinesWhenTheReaderOfALiveSourceIsSlow) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kDrop, stop_);
  const std::string line(1000, 'x');
  std::size_t written = 0;
  while (output.write(line)) ++written;
  EXPECT_GT(written, 0U);
  EXPECT_EQ(output.dropped(), 1U);
  EXPECT_FALSE(stop_);
  EXPECT_EQ(read_some().size() % line.size(), 0U);
  EXPECT_EQ(output.waited().count(), 0);
}

TEST_F(WriterToAPipe, DropsLinesAlsoWhereItCannotBeOpenedAgain) {
  // UndefinedBehaviorSanitizer needs a descriptor to look at the fixture.
  const int out = ends_[1];
  std::atomic<bool>& stop = stop_;
  rlimit descriptors{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  const rlimit none{0, descriptors.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  NonBlockingWriter output(out, "out", NonBlockingWriter::WhenFull::kDrop, stop);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
  while (output.write(std::string(1000, 'x'))) continue;
  EXPECT_EQ(output.dropped(), 1U);
}

TEST_F(WriterToAPipe, WaitsForTheReaderOfAFilesResults) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kWait, stop_);
  const std::string text(1 << 20, 'x');
  std::size_t received = 0;
  std::thread reader([&] {
    while (received < text.size()) received += read_some().size();
  });
  EXPECT_TRUE(output.write(text));
  reader.join();
  EXPECT_EQ(received, text.size());
  EXPECT_EQ(output.dropped(), 0U);
  EXPECT_GT(output.waited().count(), 0) << "a pipe takes 64 KB at a time";
}

TEST_F(WriterToAPipe, StoppingEndsTheWait) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kWait, stop_);
  stop_ = true;
  output.write(std::string(1 << 20, 'x'));
  EXPECT_FALSE(output.write("y"));
}

TEST_F(WriterToAPipe, ALineThatWasBegunIsFinishedBeforeTheNext) {
  for (const auto when_full :
       {NonBlockingWriter::WhenFull::kWait, NonBlockingWriter::WhenFull::kDrop}) {
    NonBlockingWriter output(ends_[1], "out", when_full, stop_);
    stop_ = true;
    const std::string line = std::string(100'000, 'x') + "\n";  // more than a pipe holds
    EXPECT_TRUE(output.write(line));
    EXPECT_FALSE(output.write("lost\n"));
    std::string received = read_some();
    EXPECT_TRUE(output.write("next\n"));
    while (received.size() < line.size() + 5) received += read_some();
    EXPECT_EQ(received, line + "next\n");
    EXPECT_EQ(output.dropped(), 1U);
  }
}

TEST_F(WriterToAPipe, FlushingWritesTheRestAndNoMore) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kDrop, stop_);
  const std::string text(100'000, 'x');  // more than a pipe holds
  EXPECT_TRUE(output.write(text));
  EXPECT_FALSE(output.flush());
  std::string received = read_some();
  EXPECT_TRUE(output.flush());
  EXPECT_TRUE(output.flush());
  received += read_some();
  EXPECT_EQ(received, text);
}

TEST_F(WriterToAPipe, TheDescriptionThatOthersShareStaysAsItIs) {
  const NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kDrop, stop_);
  EXPECT_EQ(fcntl(ends_[1], F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(WriterToAPipe, ALastTextIsGivenUpWhenNobodyTakesIt) {
  EXPECT_TRUE(write_at_end(ends_[1], "last\n", std::chrono::milliseconds(0)));
  EXPECT_EQ(read_some(), "last\n");
  EXPECT_FALSE(write_at_end(ends_[1], std::string(100'000, 'x'), std::chrono::milliseconds(0)));
  close_reader();
  EXPECT_FALSE(write_at_end(ends_[1], "last\n", std::chrono::hours(1)));
}

// A terminal whose other end only the test reads.
class WriterToATerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0) {
      GTEST_SKIP() << "no pseudo-terminal";
    }
    program_ = open(ptsname(terminal_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(program_, 0);
  }
  ~WriterToATerminal() override {
    if (program_ >= 0) close(program_);
    if (terminal_ >= 0) close(terminal_);
  }
  std::string read_some() const {
    std::string text(1 << 16, '\0');
    const ssize_t size = read(terminal_, text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

  int terminal_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  int program_ = -1;
  std::atomic<bool> stop_{false};
};

TEST_F(WriterToATerminal, ThatStallsDropsLines) {
  // A line end alone is two bytes on a terminal, so that there may be room for half of one.
  for (const std::string& line : {std::string(1000, 'x') + "\n", std::string("\n")}) {
    NonBlockingWriter output(program_, "stdout", NonBlockingWriter::WhenFull::kDrop, stop_);
    while (output.write(line)) {
    }
    EXPECT_EQ(output.dropped(), 1U);
    while (output.write(line)) {  // a thread of the kernel's may have made room meanwhile
    }
    EXPECT_EQ(output.dropped(), 2U);
    while (!output.write(line)) read_some();  // until there is room again
    while (!output.flush()) read_some();
  }
  EXPECT_FALSE(stop_);
}

TEST_F(WriterToATerminal, ThatStallsIsWaitedForUntilTheStop) {
  NonBlockingWriter output(program_, "stdout", NonBlockingWriter::WhenFull::kWait, stop_);
  stop_ = true;
  const std::string line = std::string(1000, 'x') + "\n";
  while (output.write(line)) {
  }
  EXPECT_EQ(output.dropped(), 1U);
}

TEST_F(WriterToATerminal, ThatIsReadGetsEveryLineOfAFilesResults) {
  NonBlockingWriter output(program_, "stdout", NonBlockingWriter::WhenFull::kWait, stop_);
  constexpr int kLines = 20'000;
  std::thread reader([&] {
    int lines = 0;
    while (lines < kLines) {
      pollfd data{terminal_, POLLIN, 0};
      ASSERT_EQ(poll(&data, 1, -1), 1);
      for (const char c : read_some()) lines += c == '\n' ? 1 : 0;
    }
  });
  for (int i = 0; i < kLines; ++i) EXPECT_TRUE(output.write("a line\n"));
  while (!output.flush()) {
  }
  reader.join();
  EXPECT_EQ(output.dropped(), 0U);
}

TEST(NonBlockingWriter, AFullSocketDropsLines) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  std::atomic<bool> stop{false};
  NonBlockingWriter output(ends[1], "stdout", NonBlockingWriter::WhenFull::kDrop, stop);
  while (output.write(std::string(1000, 'x'))) {
  }
  EXPECT_EQ(output.dropped(), 1U);
  for (const int end : ends) close(end);
}

TEST(NonBlockingWriter, AFileIsWrittenToWhereItsOffsetIs) {
  const TempDir directory;
  const std::string path = directory / "out";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(write(fd, "before\n", 7), 7);
  std::atomic<bool> stop{false};
  EXPECT_TRUE(
      NonBlockingWriter(fd, "stdout", NonBlockingWriter::WhenFull::kDrop, stop).write("after\n"));
  close(fd);
  std::ifstream file(path);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(content, "before\nafter\n");
}

TEST(NonBlockingWriter, AFullDiskIsAnError) {
  std::atomic<bool> stop{false};
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  NonBlockingWriter output(full, "stdout", NonBlockingWriter::WhenFull::kWait, stop);
  try {
    output.write("x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos);
  }
  close(full);
}

}  // namespace
}  // namespace lookout
