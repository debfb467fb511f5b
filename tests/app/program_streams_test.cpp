// Runs on videos that another program writes into a pipe.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "paths.h"
#include "tests/support/fifo_writer.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr int kFps = 20;

// As ffmpeg -f yuv4mpegpipe writes it: gray frames.
std::string y4m(int frames) {
  std::string bytes = "YUV4MPEG2 W64 H48 F20:1 C420jpeg\n";
  for (int i = 0; i < frames; ++i) bytes += "FRAME\n" + std::string(64 * 48 * 3 / 2, '\x80');
  return bytes;
}

class ProgramStreams : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mkfifo(fifo_.c_str(), 0600), 0); }

  const TempDir dir_;
  const std::string fifo_ = dir_ / "pipe";
};

TEST_F(ProgramStreams, EveryFrameIsClassifiedAndTheEndIsTheEndOfTheRun) {
  constexpr int kFrames = 30;
  const FifoWriter writer(fifo_, y4m(kFrames));
  const ProgramResult result = run_lookout({fifo_, "--format", "json", "--threads", "1"});
  EXPECT_EQ(result.status, 0) << result.err;
  const std::vector<Json> lines = classifications(result);
  ASSERT_EQ(lines.size(), kFrames);
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_NEAR(lines[i]["media_time"].get<double>(), 1.0 / kFps * i, 1e-6);
    EXPECT_FALSE(lines[i].contains("file"));
  }
}

TEST_F(ProgramStreams, OfALiveStreamTheNewestFrameWins) {
  constexpr int kFrames = 1000;
  const FifoWriter writer(fifo_, y4m(kFrames));
  const ProgramResult result =
      run_lookout({fifo_, "--set", "camera.live=true", "--format", "json", "--threads", "1"});
  EXPECT_EQ(result.status, 0) << result.err;
  const Json summary = json_lines(result.out).back();
  EXPECT_EQ(summary["captured"], kFrames);
  EXPECT_GT(summary["dropped"], 0);
  EXPECT_EQ(summary["classified"].get<int>() + summary["dropped"].get<int>(), kFrames);
}

TEST_F(ProgramStreams, StdinIsAStreamOrAFile) {
  const std::string video = dir_.write("video.y4m", y4m(3));
  const std::string out = dir_ / "out";
  const std::string run = fmt::format("{} - --format json --threads 1 >{}", LOOKOUT_PROGRAM, out);
  for (const std::string& command :
       {fmt::format("cat {} | {}", video, run), fmt::format("{} <{}", run, video)}) {
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(out);
    const ProgramResult result{0, std::string(std::istreambuf_iterator<char>(file), {}), ""};
    EXPECT_EQ(classifications(result).size(), 3U) << command;
  }
}

TEST_F(ProgramStreams, AStopEndsARunThatWaitsForAWriter) {
  Program program({fifo_});
  ASSERT_TRUE(program.wait_for("source: stream in " + fifo_)) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
  EXPECT_EQ(run_lookout({fifo_, "-t", "50ms"}).status, 0);
}

TEST_F(ProgramStreams, WhatIsNoVideoIsOneSentence) {
  const FifoWriter writer(fifo_, "no video");
  const ProgramResult result = run_lookout({fifo_});
  EXPECT_EQ(result.status, 66);
  EXPECT_NE(result.err.find("the stream in " + fifo_ + " is no video that can be decoded"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find("captured"), std::string::npos) << "no summary: " << result.err;
}

TEST_F(ProgramStreams, DoctorAndBenchDoNotReadAStream) {
  const ProgramResult doctor = run_lookout({"doctor", fifo_});
  EXPECT_NE(doctor.out.find("stream in " + fifo_ + ", which doctor does not read"),
            std::string::npos)
      << doctor.out;
  const ProgramResult bench = run_lookout({"bench", fifo_});
  EXPECT_EQ(bench.status, 64);
  EXPECT_NE(bench.err.find("bench cannot measure a stream"), std::string::npos) << bench.err;
}

}  // namespace
}  // namespace lookout
