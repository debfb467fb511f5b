#include "platform/system/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/captured_log.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

TEST(InputFile, IsReadAsItIs) {
  const TempDir directory;
  EXPECT_EQ(read_input("labels", directory.write("l.txt", "a\r\nb")), "a\r\nb");
  EXPECT_EQ(read_input("labels", directory.write("empty.txt", "")), "");
}

TEST(InputFile, WhatCannotBeReadIsSaidWithTheReason) {
  const TempDir directory;
  const std::string missing = directory / "none.json";
  expect_error(ErrorKind::kNoInput,
               "trace " + missing + " cannot be read: No such file or directory",
               [&] { read_input("trace", missing); });
  const std::string folder = directory.path();
  expect_error(ErrorKind::kNoInput, "trace " + folder + " cannot be read: Is a directory",
               [&] { read_input("trace", folder); });
  const std::string secret = directory.write("secret.txt", "a");
  chmod(folder.c_str(), 0755);
  chmod(secret.c_str(), 0);
  expect_error_unprivileged(ErrorKind::kPermission,
                            "labels " + secret + " cannot be read: Permission denied",
                            [&] { read_input("labels", secret); });
}

// Nothing is mapped at the start of a process's memory, so that reading it fails with EIO, as a
// damaged disk does.
TEST(InputFile, AnErrorInTheMiddleOfReadingIsAFileThatCannotBeRead) {
  const std::string memory = "/proc/self/mem";
  if (access(memory.c_str(), R_OK) != 0) GTEST_SKIP() << "there is no readable " << memory;
  expect_error(ErrorKind::kNoInput, "labels /proc/self/mem cannot be read: Input/output error",
               [&] { read_input("labels", memory); });
}

bool reading_warns(const std::string& path) {
  const CapturedLog log;
  EXPECT_EQ(read_secret("token", path), "secret");
  return !log.text().empty();
}

TEST(InputFile, ASecretThatOthersCanReadIsWarnedOfOnce) {
  const TempDir directory;
  const std::string file = directory.write("token", "secret");
  chmod(file.c_str(), 0600);
  EXPECT_FALSE(reading_warns(file));
  chmod(file.c_str(), 0644);
  const CapturedLog log;
  for (int i = 0; i < 2; ++i) read_secret("token", file);
  const std::string text = log.text();
  EXPECT_THAT(text, testing::EndsWith("token " + file +
                                      " can be read by other users; this makes it private: "
                                      "chmod 600 " +
                                      file + "\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(InputFile, AGroupMayReadASecretThatRootGaveIt) {
  const TempDir directory;
  const std::string file = directory.write("token", "secret");
  chmod(file.c_str(), 0640);
  EXPECT_EQ(reading_warns(file), getuid() != 0);
}

TEST(InputFile, SecretsOfASystemServiceAndOfDescriptorsAreNotWarnedOf) {
  const TempDir directory;
  const std::string file = directory.write("token", "secret");
  chmod(file.c_str(), 0444);
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(reading_warns("/dev/fd/" + std::to_string(fd)));
  EXPECT_FALSE(reading_warns("/proc/self/fd/" + std::to_string(fd)));
  close(fd);
  setenv("CREDENTIALS_DIRECTORY", directory.path().c_str(), 1);
  EXPECT_FALSE(reading_warns(file));
  unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_TRUE(reading_warns(file));
}

}  // namespace
}  // namespace lookout
