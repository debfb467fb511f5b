#include "platform/system/journal.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>

namespace lookout {
namespace {

std::string stream_of(int fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

TEST(Journal, IsKnownByItsDeviceAndInode) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const std::string stream = stream_of(ends[1]);
  EXPECT_TRUE(is_journal(ends[1], stream.c_str()));
  EXPECT_FALSE(is_journal(ends[1], nullptr));
  EXPECT_FALSE(is_journal(ends[1], ""));
  EXPECT_FALSE(is_journal(ends[1], (stream + "0").c_str()));
  EXPECT_FALSE(is_journal(-1, stream.c_str()));
  for (const int end : ends) close(end);
}

TEST(Journal, LogLinesCarryTheirPriorityAndNothingElse) {
  std::ostringstream text;
  spdlog::logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  log.set_formatter(make_journal_formatter());
  log.set_level(spdlog::level::trace);
  log.debug("d");
  log.info("i");
  log.warn("w");
  log.error("e");
  log.critical("c");
  EXPECT_EQ(text.str(), "<7>d\n<6>i\n<4>w\n<3>e\n<2>c\n");
}

TEST(Journal, AMessageOfTheLogIsOneLineThereAndElsewhere) {
  std::ostringstream text;
  spdlog::logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  log.set_formatter(make_journal_formatter());
  log.warn("{}", "a\n<0>b\x1b[2J");
  EXPECT_EQ(text.str(), "<4>a\\n<0>b\\x1b[2J\n");
  text.str("");
  log.set_formatter(make_log_formatter());
  log.warn("{}", "a\nb\x1b[2J");
  const std::string end = " warning a\\nb\\x1b[2J\n";
  ASSERT_EQ(text.str().size(), std::string("10:15:00").size() + end.size()) << text.str();
  EXPECT_EQ(text.str().substr(text.str().size() - end.size()), end);
}

}  // namespace
}  // namespace lookout
