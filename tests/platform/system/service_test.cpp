#include "platform/system/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "pipeline/core/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Service, TrustsFilesOfRoot) {
  EXPECT_EQ(reason_to_distrust(fs::canonical("/usr/bin/env")), "");
  EXPECT_THAT(reason_to_distrust("/usr/bin/no such program"), StartsWith("cannot be examined: "));
}

TEST(Service, DistrustsWhatOthersMayWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to whom the file has to belong";
  const TempDir directory;
  const std::string file = directory.write("library.so", "");
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(reason_to_distrust(file), "may be written by others than root");
  fs::permissions(file, fs::perms::owner_all);
  fs::permissions(directory.path(), fs::perms::others_all, fs::perm_options::add);
  EXPECT_EQ(reason_to_distrust(file),
            "is in " + directory.path().string() + ", which may be written by others than root");
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(reason_to_distrust(file), "does not belong to root");
}

TEST(Service, LoadsLibrariesFromTheirFoldersAlone) {
  for (const char* path : {"/etc/passwd", "/usr/lib/lookout.so", "/usr/lib/lookouts/a.so"}) {
    try {
      check_library_of_service("operator library", path);
      FAIL() << path << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kPermission);
      EXPECT_EQ(error.what(), "operator library " + std::string(path) +
                                  " is not loaded by a service: put it into "
                                  "/usr/local/lib/lookout, as root");
    }
  }
  try {
    check_library_of_service("operator library", "/usr/local/lib/lookout/no such library.so");
    FAIL() << "it is accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a service does not load it"));
  }
}

}  // namespace
}  // namespace lookout
