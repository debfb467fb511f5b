// How a run behaves as a systemd service.
#include "tests/support/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/program_results.h"

namespace lookout {
namespace {

TEST(Program, AnAbsentCameraEndsARunAndIsWaitedForByAService) {
  expect_failure(run_lookout({"/dev/video9876"}), 66, "/dev/video9876");
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  expect_failure(run_lookout({"/dev/video9876", "--set", "camera.wait=no"}, service), 66,
                 "/dev/video9876");
  Program program({"/dev/video9876", "--format", "json"}, service);
  ASSERT_TRUE(program.wait_for("\"state\":\"offline\"")) << program.err();
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(json_lines(result.out)[0]["camera"], "video9876");
  EXPECT_NE(result.err.find("waiting for camera video9876: no such device"), std::string::npos)
      << result.err;
  expect_failure(run_lookout({"/dev/video9876", "--set", "camera.wait=yes", "--set",
                              "camera.give-up-after=100ms"}),
                 69, "video9876 did not come within 0.1 s");
}

TEST(Program, AServiceDoesNotWaitForADeviceThatIsNoCamera) {
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  expect_failure(run_lookout({"/dev/null", "-t", "10s"}, service), 66, "/dev/null is not a camera");
}

TEST(Program, AServiceIsToldThatItSeesNoHomeFolders) {
  const std::string told = "; a service does not see home folders";
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  for (const std::string file : {"/home/no-one/file", "/root/no-such-folder/file"}) {
    expect_failure(run_lookout({"test://red", "--model", file}, service), 66,
                   std::string("no such model: ").append(file).append(told));
    expect_failure(
        run_lookout({"test://red", "--labels", file}, service), 66,
        std::string("labels ").append(file).append(" cannot be read: No such file or directory") +
            told);
    EXPECT_EQ(run_lookout({"test://red", "--model", file}).err.find(told), std::string::npos);
  }
  EXPECT_EQ(run_lookout({"test://red", "--model", "/no/such/model"}, service).err.find(told),
            std::string::npos);
}

TEST(Program, AServiceThatMayNotReachItsModelsHomeFolderIsNotTriedAgain) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  struct stat home {};
  if (stat("/root", &home) != 0 || (home.st_mode & S_IXOTH) != 0) {
    GTEST_SKIP() << "/root is not there, or open to everybody";
  }
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  service.user = 65534;
  if (run_lookout({"--version"}, service).status != 0) {
    GTEST_SKIP() << "another user cannot run the program from here";
  }
  expect_failure(run_lookout({"test://red", "--model", "/root/model.pt"}, service), 66,
                 "/root/model.pt; a service does not see home folders");
}

}  // namespace
}  // namespace lookout
