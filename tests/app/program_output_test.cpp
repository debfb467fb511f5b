// Where a run writes to: stdout, stderr, terminals, pipes and the journal.
#include "tests/support/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <string>

#include "paths.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

TEST(Program, StdoutIsDataAndStderrIsLog) {
  const ProgramResult result = run_lookout({"test://checkers?fps=0&frames=3"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out.find("0 test://checkers: checkers "), 0U) << result.out;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3);
  EXPECT_NE(result.err.find("model: "), std::string::npos);
  EXPECT_NE(result.err.find("source: "), std::string::npos);
  EXPECT_NE(result.err.find("summary of "), std::string::npos);
  EXPECT_NE(result.err.find("no --model given"), std::string::npos);
}

TEST(Program, NoFileTakesThePlaceOfAClosedStandardDescriptor) {
  Program::Options options;
  options.closed = {STDIN_FILENO, STDERR_FILENO};
  Program program({"test://all"}, options);
  ASSERT_TRUE(program.wait_for("test://colorbars: "));
  for (const char* fd : {"/fd/0", "/fd/2"}) {
    const std::string link = "/proc/" + std::to_string(program.pid()) + fd;
    std::error_code absent;
    EXPECT_EQ(std::filesystem::read_symlink(link, absent), "/dev/null") << link;
  }
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

TEST(Program, TheTimeIsKeptThoughNobodyReadsTheResultsOfAFile) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  while (write(ends[1], "\n", 1) == 1) {  // until no byte fits any more
  }
  ASSERT_EQ(fcntl(ends[1], F_SETFL, 0), 0);
  Program::Options options;
  options.stdout_fd = ends[1];
  const ProgramResult result =
      run_lookout({"test://all?fps=0", "--format", "json", "-t", "2s"}, options);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("stdout's reader was too slow"), std::string::npos) << result.err;
  for (const int fd : ends) close(fd);
}

TEST(Program, AClosedStdoutIsAnError) {
  Program::Options options;
  options.closed = {STDOUT_FILENO};
  const std::string sentence = "stdout: Bad file descriptor";
  expect_failure(run_lookout({"test://red?fps=0&frames=10"}, options), 74, sentence);
  expect_failure(run_lookout({"--help"}, options), 74, sentence);
}

TEST(Program, StatisticsTellHowWarmAndThrottledTheBoardIs) {
  const TempDir machine;
  std::filesystem::create_directories(machine / "thermal/thermal_zone0");
  std::filesystem::create_directories(machine / "platform/soc/soc:firmware");
  machine.write("thermal/thermal_zone0/temp", "81200\n");
  machine.write("platform/soc/soc:firmware/get_throttled", "50004\n");
  const auto run = [](const std::string& commands) {
    return std::system(("unshare --mount sh -c '" + commands + "' 2>/dev/null").c_str());
  };
  const std::string mount = "mount --bind " + machine / "thermal" + " /sys/class/thermal && " +
                            "mount --bind " + machine / "platform" + " /sys/devices/platform";
  if (run(mount) != 0) GTEST_SKIP() << "files cannot be mounted over the kernel's";
  const std::string out = machine / "out";
  ASSERT_EQ(run(mount +
                " && " LOOKOUT_PROGRAM
                " run test://red -t 1s --set log.stats-interval=50ms --format json >" +
                out),
            0);
  std::ifstream file(out);
  std::set<std::string> types;
  for (const Json& line : json_lines({std::istreambuf_iterator<char>(file), {}})) {
    const std::string type = line["type"];
    if (type != "stats" && type != "summary") continue;
    types.insert(type);
    EXPECT_EQ(line["temperature_c"], 81.2);
    EXPECT_EQ(line["throttled"], 0x50004);
    EXPECT_EQ(line["throttled_source"], "get_throttled");
  }
  EXPECT_EQ(types, (std::set<std::string>{"stats", "summary"}));
}

TEST(Program, NamesOfFilesBeginNoLinesAndMoveNoCursor) {
  const TempDir directory;
  cv::imwrite(directory / "1\n\x1b[2J.png", cv::Mat(64, 64, CV_8UC3, cv::Scalar(0, 0, 255)));
  directory.write("2\n\x1b[2J.png", "this is no picture");
  const ProgramResult result = run_lookout({directory.path().string()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1) << result.out;
  EXPECT_NE(result.out.find("/1\\n\\x1b[2J.png: red "), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("/2\\n\\x1b[2J.png cannot be read"), std::string::npos) << result.err;
  expect_failure(run_lookout({"/no/such\n\x1b[2J.png"}), 66, "/no/such\\n\\x1b[2J.png");
}

// The program's output on a terminal of that type.
std::string on_terminal(const std::string& term, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), "test://all?frames=3");
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(terminal), 0);
  EXPECT_EQ(unlockpt(terminal), 0);
  Program::Options options;
  options.stdout_fd = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  options.environment = {"TERM=" + term};
  Program program(arguments, options);
  close(options.stdout_fd);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = read(terminal, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  close(terminal);
  EXPECT_EQ(program.finish().status, 0);
  return text;
}

TEST(Program, OnlyATerminalThatCanGetsADisplay) {
  EXPECT_NE(on_terminal("xterm").find('\x1b'), std::string::npos);
  for (const char* term : {"dumb", ""}) {
    const std::string text = on_terminal(term);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << term;
    EXPECT_NE(text.find(" test://"), std::string::npos) << text;
  }
}

TEST(Program, TheDisplayHasAllWatches) {
  const std::string text = on_terminal(
      "xterm", {"--set", "watch.gate.roi=0,0,0.5,1", "--set", "watch.lamp.title=The lamp"});
  for (const char* expected : {"\x1b[?2026h", "\ngate: ", "\nThe lamp: ", "  latency "}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << text;
  }
}

TEST(Program, AClosedPipeIsACleanStop) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  Program::Options options;
  options.stdout_fd = ends[1];
  Program program({"test://all", "--format", "json"}, options);
  close(ends[1]);
  char first = 0;
  EXPECT_EQ(read(ends[0], &first, 1), 1);
  close(ends[0]);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("summary of "), std::string::npos);
}

// A pipe that is full from the start; only the test reads it.
class StalledStderr : public testing::Test {
 protected:
  StalledStderr() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const std::string filling(4096, '.');
    while (write(ends_[1], filling.data(), filling.size()) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
    options_.stderr_fd = ends_[1];
  }
  ~StalledStderr() override {
    for (const int end : ends_) close(end);
  }
  std::string read_some() const {
    std::string text(1 << 16, '\0');
    const ssize_t size = read(ends_[0], text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

  std::array<int, 2> ends_{};
  Program::Options options_;
};

TEST_F(StalledStderr, NeitherStopsResultsNorOutlivesASigterm) {
  Program program({"test://all", "--format", "json", "--set", "log.stats-interval=100ms"},
                  options_);
  ASSERT_TRUE(program.wait_for("\"type\":\"stats\""));
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(json_lines(result.out).back()["type"], "summary");
}

TEST_F(StalledStderr, IsToldWhatWasDroppedWhenItIsReadAgain) {
  Program program({"test://all", "--set", "log.stats-interval=100ms"}, options_);
  ASSERT_TRUE(program.wait_for(" ms)"));
  std::string log;
  while (log.find("log lines were dropped") == std::string::npos) {
    pollfd data{ends_[0], POLLIN, 0};
    ASSERT_EQ(poll(&data, 1, -1), 1);
    log += read_some();
  }
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

TEST_F(StalledStderr, DoesNotKeepAProgramThatFailed) {
  EXPECT_EQ(run_lookout({"/no/such.png"}, options_).status, 66);
}

TEST(Program, AFullDiskIsSaid) {
  Program::Options options;
  options.stdout_path = "/dev/full";
  expect_failure(run_lookout({"test://red?fps=0&frames=10"}, options), 74,
                 "No space left on device");
  expect_failure(run_lookout({"--help"}, options), 74, "No space left on device");
}

TEST(Program, InTheJournalOnlyChangesAreWritten) {
  const TempDir directory;
  Program::Options journal;
  journal.stdout_path = directory.write("journal", "");
  struct stat status {};
  ASSERT_EQ(stat(journal.stdout_path.c_str(), &status), 0);
  journal.environment = {"JOURNAL_STREAM=" + std::to_string(status.st_dev) + ":" +
                         std::to_string(status.st_ino)};
  const ProgramResult result = run_lookout({"test://all?fps=0&hold=5&frames=80"}, journal);
  EXPECT_EQ(result.status, 0) << result.err;
  std::ifstream written(journal.stdout_path);
  int lines = 0;
  for (std::string line; std::getline(written, line);) {
    ++lines;
    EXPECT_EQ(std::count(line.begin(), line.end(), '%'), 1) << "the best prediction only: " << line;
  }
  EXPECT_EQ(lines, 16) << "one for each pattern";
}

TEST(Program, WithTheShippedFileAFlickeringSceneDoesNotFillTheJournal) {
  const ProgramResult result =  // no class lasts for two frames
      run_lookout({"test://all?fps=0&hold=1&frames=64", "--set", "results.write=changes",
                   "--config", std::string(LOOKOUT_DEPLOY) + "/lookout.toml"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace lookout
