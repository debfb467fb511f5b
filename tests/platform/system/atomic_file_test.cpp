#include "platform/system/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::StrEq;

TEST(AtomicFile, IsWrittenAsAWholeInPlaceOfAnOldOne) {
  const TempDir directory;
  const std::string file = directory.write("trace.json", "old");
  directory.write(".trace.json.ab12yz.part", "of a program that was killed");
  const AtomicFile saved("trace", file);
  EXPECT_EQ(read_file(file), "old") << "nothing is changed until there is a trace";
  saved.save([](const WritePart& write) {
    write("ne");
    write("w");
  });
  EXPECT_EQ(read_file(file), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(AtomicFile, TwoProgramsMayWriteTheSameFile) {
  const TempDir directory;
  const std::string file = directory / "trace.json";
  AtomicFile("trace", file).save([&file](const WritePart& write) {
    AtomicFile("trace", file).save([](const WritePart& other) { other("the first to end"); });
    write("the last to end");
  });
  EXPECT_EQ(read_file(file), "the last to end");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(AtomicFile, OnlyUnfinishedFilesForItsOwnNameAreRemoved) {
  const TempDir directory;
  directory.write(".other.json.ab12yz.part", "of a program that was killed");
  directory.write(".trace.json.part", "of nobody knows whom");
  const AtomicFile saved("trace", directory / "trace.json");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 2);
}

TEST(AtomicFile, WithoutANameNothingIsRemoved) {
  const TempDir dir;
  const std::string other = dir.write("other", "");
  remove_abandoned(dir.path() / "");
  EXPECT_TRUE(std::filesystem::exists(other));
}

TEST(AtomicFile, ALongNameIsWritten) {
  const TempDir directory;
  const std::string file = directory / std::string(255, 'x');
  AtomicFile("trace", file).save([](const WritePart& write) { write("new"); });
  EXPECT_EQ(read_file(file), "new");
}

TEST(AtomicFile, AFolderThatGoesAwayIsSaidAtTheEnd) {
  const TempDir directory;
  const std::string folder = directory / "folder";
  std::filesystem::create_directory(folder);
  const AtomicFile saved("trace", folder + "/trace.json");
  std::filesystem::remove(folder);
  try {
    saved.save([](const WritePart&) {});
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_EQ(std::string(error.what()),
              "trace " + folder + "/trace.json cannot be written: No such file or directory");
  }
}

TEST(AtomicFile, TheCheckLeavesNothing) {
  const TempDir directory;
  check_can_write("trace", directory / "trace.json");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  expect_error(ErrorKind::kOutput,
               StrEq("trace " + directory.path().string() + " cannot be written: it is no file"),
               [&] { check_can_write("trace", directory.path()); });
}

TEST(AtomicFile, WithoutPermissionIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  try {
    const AtomicFile saved("trace", "/trace.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPermission);
  }
}

}  // namespace
}  // namespace lookout
