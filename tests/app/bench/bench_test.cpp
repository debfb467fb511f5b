// lookout bench: its command line, and the program as its users meet it.
#include "app/bench/bench.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "tests/app/options/parsing.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StrEq;

BenchOptions parse_bench(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"bench"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return parse_command(all).bench;
}

TEST(BenchOptions, DefaultsAreAMeasurementOfTenSeconds) {
  const BenchOptions options = parse_bench({});
  EXPECT_EQ(options.camera.source, BenchOptions().camera.source);
  EXPECT_EQ(options.camera.timeout, std::chrono::seconds(10));
  EXPECT_EQ(options.frames, 0U);
  EXPECT_TRUE(options.models.empty());
  EXPECT_THAT(options.workers, ElementsAre(1));
}

TEST(BenchOptions, SomethingHasToEndAMeasurement) {
  expect_error({"bench", "-t", "0"}, ErrorKind::kUsage, "--frames N is needed");
  EXPECT_EQ(parse_bench({"-t", "0", "--frames", "3"}).frames, 3U);
}

TEST(BenchOptions, EveryOptionIsUnderstood) {
  const BenchOptions options =
      parse_bench({"--model", "a.pt", "pictures/", "--model", "b.pt", "--threads", "1,auto,4",
                   "--frames", "100", "--format", "json", "--report", "r.md", "--width", "1280",
                   "--rotation", "90", "--pace", "12.5"});
  EXPECT_THAT(options.models, ElementsAre("a.pt", "b.pt"));
  EXPECT_EQ(options.camera.source, "pictures/");
  EXPECT_THAT(options.threads, ElementsAre(1, 0, 4)) << "0: automatic";
  EXPECT_EQ(options.frames, 100U);
  EXPECT_EQ(options.camera.timeout, std::chrono::seconds(0)) << "frames end it";
  EXPECT_EQ(options.pace, 12.5);
  EXPECT_EQ(options.results.format, Format::kJson);
  EXPECT_EQ(options.report, "r.md");
  EXPECT_EQ(options.camera.source_options.width, 1280);
  EXPECT_EQ(options.camera.view.rotation, 90);
  EXPECT_EQ(parse_bench({"--frames", "5", "-t", "1min"}).camera.timeout, std::chrono::minutes(1));
}

TEST(BenchOptions, CombinationsAreModelsTimesThreadsTimesWorkers) {
  const BenchOptions options =
      parse_bench({"--model", "a.pt", "--model", "b.pt", "--threads", "1,3", "--workers", "1,2"});
  const auto all = combinations(options, 2);
  ASSERT_EQ(all.size(), 6U) << "several workers have one thread each";
  EXPECT_EQ(all[1].model.file, "a.pt");
  EXPECT_EQ(all[1].model.threads, 1);
  EXPECT_EQ(all[1].model.workers, 2);
  EXPECT_EQ(all[5].model.file, "b.pt");
  EXPECT_EQ(all[5].model.threads, 3);
  EXPECT_EQ(all[5].model.workers, 1);
  EXPECT_THROW(combinations(parse_bench({"--threads", "2", "--workers", "2"}), 2), Error);
  EXPECT_THROW(combinations(parse_bench({"--threads", "auto", "--workers", "2"}), 2), Error);
}

TEST(BenchOptions, ACombinationIsMeasuredAsWasAsked) {
  const BenchOptions options =
      parse_bench({"test://all?fps=15", "--labels", "l.txt", "--threads", "2", "--frames", "7",
                   "-t", "3s", "--width", "320", "--rotation", "180", "--log-level", "debug"});
  EXPECT_EQ(options.log.level, "debug");
  const Combination asked = combinations(options, 4).at(0);
  EXPECT_EQ(asked.camera.source, "test://all?fps=15");
  EXPECT_EQ(asked.camera.timeout, std::chrono::seconds(3));
  EXPECT_EQ(asked.camera.source_options.width, 320);
  EXPECT_EQ(asked.camera.view.rotation, 180);
  EXPECT_EQ(asked.model.labels, "l.txt");
  EXPECT_EQ(asked.frames, 7U);
}

TEST(BenchOptions, ThreadsFitTheMachine) {
  EXPECT_EQ(combinations(parse_bench({}), 1).size(), 1U);
  EXPECT_EQ(combinations(parse_bench({}), 2).size(), 2U);
  EXPECT_EQ(combinations(parse_bench({}), 4).size(), 3U);
  EXPECT_EQ(combinations(parse_bench({}), 64).size(), 3U);
}

void expect_usage_error(const std::vector<std::string>& arguments, const std::string& named) {
  try {
    parse_bench(arguments);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(named));
    EXPECT_THAT(error.what(), HasSubstr("see lookout bench --help"));
  }
}

TEST(BenchOptions, WrongValuesAreUsageErrors) {
  expect_usage_error({"--threads", "0"}, "--threads: expected numbers of threads");
  expect_usage_error({"--threads", "1-4"}, "--threads");
  expect_usage_error({"--threads", "1,automatic"}, "each from 1 to 64, or auto");
  expect_usage_error({"--workers", "auto"}, "--workers: expected numbers of workers");
  expect_usage_error({"--workers", "none"}, "--workers");
  expect_usage_error({"--frames", "-1"}, "--frames");
  expect_usage_error({"--pace", "0"}, "--pace");
  expect_usage_error({"--top-k", "3"}, "--top-k");
}

TEST(Bench, MeasuresEachCombinationInAProcessOfItsOwn) {
  const TempDir directory;
  const std::string report = directory / "report.md";
  const ProgramResult ran = run_lookout({"bench", "--threads", "1", "--workers", "1,2", "--frames",
                                         "20", "--format", "json", "--report", report});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("selftest, 1 thread, 1 worker: "));
  const json found = json::parse(ran.out);
  EXPECT_EQ(found["type"], "bench");
  ASSERT_EQ(found["results"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const json& result = found["results"][i];
    EXPECT_EQ(result["threads"], 1);
    EXPECT_EQ(result["workers"], i + 1);
    EXPECT_EQ(result["frames"], 20);
    EXPECT_EQ(result["dropped"], 0);
    EXPECT_EQ(result["model"]["name"], "selftest");
    EXPECT_EQ(result["model"]["sha256"].get<std::string>().size(), 64U);
    EXPECT_THAT(result["source"].get<std::string>(), HasSubstr("16 frames of test pattern all"));
    EXPECT_GT(result["fps"], 0);
    EXPECT_GT(result["cpu_ms"], 0);
    EXPECT_GT(result["resident_mb"], 1);
    EXPECT_GT(result["start_s"], 0);
    EXPECT_GE(result["latency_ms"]["total"]["max"], result["latency_ms"]["inference"]["p50"]);
    EXPECT_FALSE(result["verdict"].get<std::string>().empty());
  }
  EXPECT_THAT(read_file(report), HasSubstr("| selftest | 1 | 2 |"));
}

TEST(Bench, EachProcessLogsAtTheLevelThatWasAsked) {
  const std::vector<std::string> command{"bench", "--threads", "1,1", "--frames", "5"};
  const auto err_at = [&command](const char* level) {
    std::vector<std::string> all = command;
    all.insert(all.end(), {"--log-level", level});
    return run_lookout(all).err;
  };
  EXPECT_THAT(err_at("debug"), HasSubstr("archive: {\"name\":\"selftest\""));
  EXPECT_THAT(err_at("error"), StrEq(""));
}

TEST(Bench, TellsTheNumberOfThreadsThatAutoChose) {
  const ProgramResult ran =
      run_lookout({"bench", "--threads", "1,auto", "--frames", "20", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("selftest, auto: "));
  const json results = json::parse(ran.out)["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["auto_threads"], false);
  EXPECT_EQ(results[1]["auto_threads"], true);
  EXPECT_GE(results[1]["threads"], 1);
}

TEST(Bench, APacedSourceIsMeasuredAtItsRateForItsTime) {
  const ProgramResult ran = run_lookout({"bench", "test://all?fps=200&size=64x64", "--threads", "1",
                                         "-t", "100ms", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json result = json::parse(ran.out)["results"][0];
  EXPECT_EQ(result["live"], true);
  const double seconds = result["interval_s"];
  EXPECT_GE(seconds, 0.1);
  // One frame more at each end of so short a time, and one that was late.
  EXPECT_LE(result["frames"], 200 * seconds + 3);
}

TEST(Bench, FilesAreReplayedAtThePaceThatWasAsked) {
  const ProgramResult ran = run_lookout(
      {"bench", "--pace", "200", "--threads", "1", "--frames", "20", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json result = json::parse(ran.out)["results"][0];
  EXPECT_EQ(result["live"], true) << "the newest frame wins, as of a camera";
  EXPECT_EQ(result["pace_fps"], 200);
  EXPECT_THAT(result["source"].get<std::string>(), HasSubstr("replayed 200 times a second"));
  EXPECT_LE(result["camera_fps"], 400) << "without a pace they are thousands";
  EXPECT_GT(result["wakeups_per_s"], 0) << "a thread waited for each frame";
}

TEST(Bench, ASourceWithARateOfItsOwnTakesNoPace) {
  for (const std::string source : {"test://all?fps=50", "/dev/video-that-is-away", "csi://0"}) {
    const ProgramResult ran =
        run_lookout({"bench", source, "--pace", "30", "--threads", "1", "--model", "/no/such.pt"});
    EXPECT_EQ(ran.status, 64) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("--pace: " + source + " has a rate of its own"));
  }
}

TEST(BenchOptions, AStillSceneIsMeasuredUnlessAnotherSourceIsNamed) {
  EXPECT_THAT(parse_bench({"--still"}).camera.source, HasSubstr("still=1"));
  EXPECT_EQ(parse_bench({"--still", "pictures/"}).camera.source, "pictures/");
  EXPECT_TRUE(combinations(parse_bench({"--still", "--threads", "1"}), 1).at(0).still);
}

TEST(Bench, AStillSceneIsMeasuredInPairs) {
  const ProgramResult ran =
      run_lookout({"bench", "--still", "--pace", "500", "--width", "64", "--height", "64",
                   "--threads", "1", "--frames", "20", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json result = json::parse(ran.out)["results"][0];
  EXPECT_EQ(result["frames"], 20) << "the other figures are those of a run without it";
  const json& still = result["still"];
  ASSERT_EQ(still["pairs"].size(), 5U);
  EXPECT_GT(still["reused_share"], 0.5);
  for (const json& pair : still["pairs"]) {
    EXPECT_GT(pair["cpu_ms_without"], 0);
    EXPECT_GT(pair["cpu_ms_with"], 0);
  }
}

TEST(Bench, WhatMovesIsNotReused) {
  const ProgramResult ran =
      run_lookout({"bench", "test://noise?fps=0&frames=8&size=64x64", "--still", "--pace", "500",
                   "--threads", "1", "--frames", "20", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_LT(json::parse(ran.out)["results"][0]["still"]["reused_share"], 0.5);
}

TEST(Bench, ATableIsPrinted) {
  const ProgramResult ran = run_lookout({"bench", "--threads", "1", "--frames", "5"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("model +threads +workers +fps "));
  EXPECT_THAT(ran.out, HasSubstr("selftest, 1 thread, 1 worker: "));
}

TEST(Bench, IsPrintedWhenItCannotBeSaved) {
  const TempDir directory;
  const std::string gone = directory / "gone";
  std::filesystem::create_directory(gone);
  const std::string model = directory / "model.pt";
  write_archive(model, kMeanOfChannels, small_metadata(), "");
  const std::string labels = directory / "labels.txt";
  ASSERT_EQ(mkfifo(labels.c_str(), 0600), 0);
  Program program({"bench", "--model", model, "--labels", labels, "--threads", "1", "--frames", "5",
                   "--report", gone + "/r.md"});
  std::ofstream writer(labels);  // opened when it is read, which is after --report was tried
  std::filesystem::remove(gone);
  writer << kThreeLabels;
  writer.close();
  const ProgramResult ran = program.finish();
  EXPECT_EQ(ran.status, 74) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(", 1 thread, 1 worker: "));
  EXPECT_THAT(ran.err, HasSubstr("lookout: report " + gone + "/r.md cannot be written"));
}

// Works on the blank picture that it is tried with, and fails on others.
const char* const kFailsOnPictures =
    "assert bool((x.amax([2, 3]) == x.amin([2, 3])).all()), \"not today\"\n"
    "  return x.mean([2, 3])";

TEST(Bench, EveryModelIsOpenedBeforeTheFirstIsMeasured) {
  const TempDir directory;
  const std::string good = directory / "good.pt";
  write_archive(good, kMeanOfChannels, small_metadata(), kThreeLabels);
  const std::string text = directory.write("text.txt", "this is no archive");
  const ProgramResult ran =
      run_lookout({"bench", "--model", good, "--model", text, "--threads", "1", "-t", "1h"});
  EXPECT_EQ(ran.status, 65) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("lookout: model " + text + ": is not a TorchScript archive"));
}

TEST(Bench, WhatWasMeasuredBeforeAFailureIsPrinted) {
  const TempDir directory;
  const std::string good = directory / "good.pt";
  write_archive(good, kMeanOfChannels, small_metadata(), kThreeLabels);
  const std::string failing = directory / "failing.pt";
  write_archive(failing, kFailsOnPictures, small_metadata(), kThreeLabels);
  const std::string report = directory / "r.md";
  const ProgramResult ran = run_lookout({"bench", "--model", good, "--model", failing, "--threads",
                                         "1", "--frames", "5", "--report", report});
  EXPECT_EQ(ran.status, 65) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("not today"));
  EXPECT_THAT(ran.out, HasSubstr("interrupted: 1 of 2 combinations\n"));
  EXPECT_THAT(read_file(report), HasSubstr("interrupted: 1 of 2 combinations"));
}

TEST(Bench, FailsAsARunWould) {
  const auto expect_failure = [](const std::vector<std::string>& arguments, int status,
                                 const std::string& named) {
    const ProgramResult ran = run_lookout(arguments);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.out, "");
    const auto start = ran.err.rfind("lookout: ");
    ASSERT_NE(start, std::string::npos) << ran.err;
    const std::string sentence = ran.err.substr(start);
    EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << sentence;
    EXPECT_THAT(sentence, HasSubstr(named));
  };
  const TempDir directory;
  const std::string damaged = directory.write("damaged.pt", "nothing");
  // In a process of its own; the last one in that of the program.
  expect_failure({"bench", "--model", damaged, "--threads", "1,2"}, 65, damaged);
  expect_failure({"bench", "--model", "/no/such.pt"}, 66, "no such model: /no/such.pt");
  expect_failure({"bench", "--report", "/no/such/report.md"}, 74, "/no/such/report.md");
  expect_failure({"bench", "test://all?frames=10&fps=1000", "--threads", "1"}, 66,
                 "no frame came after the warm-up");
}

TEST(Bench, ASignalEndsItWithWhatWasMeasured) {
  const TempDir directory;
  const std::string report = directory.write("report.md", "an earlier one");
  Program program(
      {"bench", "--threads", "1,2", "-t", "1h", "--format", "json", "--report", report});
  ASSERT_TRUE(program.wait_for("2 combinations to measure"));
  ASSERT_EQ(kill(program.pid(), SIGINT), 0);
  const ProgramResult ended = program.finish();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  const json found = json::parse(ended.out);
  EXPECT_TRUE(found["results"].empty());
  EXPECT_EQ(found["complete"], false);
  EXPECT_EQ(read_file(report), "an earlier one") << "which nothing has not replaced";
}

// Another file has the name of the model before the measurement ends, or none has.
TEST(Bench, NamesTheModelThatItMeasured) {
  const TempDir directory;
  const std::string file = directory / "m.pt";
  for (const bool replaced : {true, false}) {
    write_archive(file, kMeanOfChannels, small_metadata(), kThreeLabels);
    const std::string hash = ModelArchive(file).sha256();
    Program program({"bench", "test://all?fps=100", "--model", file, "--threads", "1", "--frames",
                     "50", "--format", "json"});
    ASSERT_TRUE(program.wait_for("model: "));
    if (replaced) {
      std::filesystem::rename(directory.write("other.pt", "another model"), file);
    } else {
      std::filesystem::remove(file);
    }
    const ProgramResult ended = program.finish();
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out)["results"][0]["model"]["sha256"], hash);
  }
}

TEST(Bench, ASignalBeforeTheFirstFrameEndsItWithNothing) {
  // The warm-up takes longer than a minute.
  Program program({"bench", "test://all?fps=0.1", "--threads", "1", "--format", "json"});
  ASSERT_TRUE(program.wait_for("model: selftest"));
  ASSERT_EQ(kill(program.pid(), SIGTERM), 0);
  const ProgramResult ended = program.finish();
  EXPECT_EQ(ended.status, 128 + SIGTERM) << ended.err;
  EXPECT_TRUE(json::parse(ended.out)["results"].empty());
}

TEST(Bench, AReaderThatIsSlowGetsTheWholeOfItAfterASignal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string spaces(static_cast<std::size_t>(fcntl(ends[1], F_SETPIPE_SZ, 1)), ' ');
  ASSERT_EQ(write(ends[1], spaces.data(), spaces.size()), static_cast<ssize_t>(spaces.size()));
  Program::Options options;
  options.stdout_fd = ends[1];
  Program program({"bench", "--threads", "1,2", "-t", "1h", "--format", "json"}, options);
  close(ends[1]);
  ASSERT_TRUE(program.wait_for("2 combinations to measure"));
  ASSERT_EQ(kill(program.pid(), SIGINT), 0);
  // Time for it to give up: nothing depends on it when it does not.
  pollfd end{static_cast<int>(syscall(SYS_pidfd_open, program.pid(), 0)), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 1000), 0) << "it ended with its output unread";
  close(end.fd);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = read(ends[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  EXPECT_EQ(program.finish().status, 128 + SIGINT);
  EXPECT_TRUE(json::parse(text)["results"].empty()) << text;
}

}  // namespace
}  // namespace lookout
