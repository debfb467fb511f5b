#include "platform/system/non_blocking_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

#include "pipeline/error.h"

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

TEST_F(WriterToAPipe, AClosedPipeIsACleanStop) {
  NonBlockingWriter output(ends_[1], "out", NonBlockingWriter::WhenFull::kWait, stop_);
  close_reader();
  EXPECT_FALSE(output.write("one\n"));
  EXPECT_TRUE(stop_);
  EXPECT_FALSE(output.write("two\n"));
  EXPECT_EQ(output.dropped(), 0U) << "nobody was too slow";
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
