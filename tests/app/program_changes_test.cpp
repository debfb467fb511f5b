// Changes of the state: lines, commands and snapshots.
#include "tests/support/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "paths.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

TEST(Program, KeysThatDoNothingAreWarnedOf) {
  const ProgramResult result = run_lookout({"test://red?frames=1", "--set", "mqtt.commands=true"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("mqtt.commands does nothing without --mqtt URL"), std::string::npos);
  const ProgramResult unsure =
      run_lookout({"test://red?frames=1", "--set", "events.unsure-below=0.5"});
  EXPECT_EQ(unsure.status, 0);
  EXPECT_NE(unsure.err.find("events.unsure-below does nothing unless"), std::string::npos);
  const ProgramResult of_two =
      run_lookout({"test://red?frames=1", "--set", "events.unsure-below=0.5", "--set",
                   "watch.gate.roi=0,0,0.5,1", "--set", "watch.lamp.roi=0.5,0,0.5,1"});
  const std::size_t first = of_two.err.find("events.unsure-below does nothing unless");
  ASSERT_NE(first, std::string::npos) << of_two.err;
  EXPECT_EQ(of_two.err.find("events.unsure-below", first + 1), std::string::npos) << "once";
}

TEST(Program, ChangesOfTheStateAreWrittenRunAndPictured) {
  const TempDir directory;
  const std::string states = directory / "states";
  const ProgramResult result = run_lookout(
      {"test://all?fps=0&hold=5&frames=10", "--format", "json", "--set", "results.write=changes",
       "--on-change", "sh -c 'echo $LOOKOUT_EVENT_STATE >>" + states + "'", "--snapshot-on-change",
       directory.path().string(), "--set", "events.snapshot-cooldown=1h", "--set",
       "log.stats-interval=1h"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::vector<std::string> types;
  for (const Json& line : json_lines(result.out)) types.push_back(line["type"]);
  ASSERT_EQ(types, (std::vector<std::string>{"state", "classification", "state", "classification",
                                             "summary"}));
  const Json second = json_lines(result.out)[2];
  EXPECT_EQ(second["state"], "horizontal color bars");
  EXPECT_EQ(second["previous"], "color bars");
  EXPECT_EQ(second["seq"], 5);
  std::ifstream file(states);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("horizontal color bars\n"), std::string::npos) << text;
  int pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() != ".jpg") continue;
    ++pictures;
    EXPECT_EQ(cv::imread(entry.path()).size(), cv::Size(640, 480));
  }
  EXPECT_EQ(pictures, 1);
}

TEST(Program, ACommandFindsThePictureOfItsChange) {
  const TempDir directory;
  const std::string copy = directory / "copy.jpg";
  const ProgramResult result = run_lookout({"test://cross?fps=0&frames=3", "--on-change",
                                            "sh -c 'cp \"$LOOKOUT_EVENT_SNAPSHOT\" " + copy + "'",
                                            "--snapshot-on-change", directory.path().string()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(cv::imread(copy).size(), cv::Size(640, 480)) << result.err;
}

TEST(Program, AFolderForSnapshotsIsMadeOrRefusedAtTheStart) {
  const TempDir directory;
  const std::string folder = directory / "pictures";
  const ProgramResult result =
      run_lookout({"test://cross?fps=0&frames=3", "--snapshot-on-change", folder});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("1 written, 0 failed"), std::string::npos) << result.err;
  const ProgramResult refused =
      run_lookout({"test://cross?fps=0&frames=3", "--snapshot-on-change", directory / "no/such"});
  expect_failure(refused, 74, directory / "no/such");
  EXPECT_EQ(refused.out, "");
}

TEST(Program, ACommandThatFailsIsSaidWhateverTheParentDidWithSigchld) {
  Program::Options options;
  options.ignore_sigchld = true;
  const ProgramResult result =
      run_lookout({"test://cross?fps=0&frames=3", "--on-change", "sh -c 'exit 3'"}, options);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("--on-change sh: exit status 3"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("1 run, 1 failed"), std::string::npos) << result.err;
}

TEST(Program, NothingOfACommandOrAFullFolderStopsClassification) {
  const TempDir folder;
  const std::string broken = folder.write("broken", "a program of no known format");
  chmod(broken.c_str(), 0755);
  const ProgramResult result = run_lookout(
      {"test://all?fps=0&hold=5&frames=80", "--set", "state.min-duration=1ms", "--on-change",
       broken, "--snapshot-on-change", folder.path(), "--set", "events.snapshot-limit=1"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 80);
  EXPECT_NE(result.out.find("), now "), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("/broken: cannot be started: Exec format error"), std::string::npos);
  EXPECT_NE(result.err.find("one snapshot is larger than the limit"), std::string::npos);
}

TEST(Program, ACommandThatTakesTooLongMakesRoomForTheNext) {
  const TempDir directory;
  const std::string first = directory / "first";
  // The program ends before the 10 s that a command has by default.
  Program program({"test://all?hold=5", "-t", "7s", "--set", "events.on-change-timeout=200ms",
                   "--on-change",
                   "sh -c 'mkdir " + first + " || echo a second one; exec sleep 60'"});
  EXPECT_TRUE(program.wait_for("a second one")) << program.err();
  EXPECT_NE(program.err().find("--on-change sh: killed: it took too long"), std::string::npos);
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

// A failing card is mounted read-only by the kernel.
TEST(Program, ClassifiesThoughSnapshotsAreOnAReadOnlyDisk) {
  const TempDir directory;
  const std::string disk = directory / "disk";
  const std::string err = directory / "err";
  std::filesystem::create_directory(disk);
  const auto run = [](const std::string& commands) {
    return std::system(("unshare --mount sh -c '" + commands + "' 2>/dev/null").c_str());
  };
  const std::string mount = "mount -t tmpfs -o ro none " + disk;
  if (run(mount) != 0) GTEST_SKIP() << "nothing can be mounted";
  const std::string command =
      LOOKOUT_PROGRAM " test://red?frames=5 >/dev/null --snapshot-on-change ";
  EXPECT_EQ(run(mount + " && " + command + disk + " 2>" + err), 0);
  std::ifstream file(err);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& said :
       {"snapshots cannot be written into " + disk + " now: Read-only file system",
        std::string("0 written, 1 failed")}) {
    EXPECT_NE(text.find(said), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace lookout
