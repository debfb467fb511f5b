#include "platform/system/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace
}  // namespace lookout
