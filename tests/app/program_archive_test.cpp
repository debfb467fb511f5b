// What an archive may do to the program that loads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "paths.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class ProgramWithArchive : public testing::Test {
 protected:
  // Writes an archive and returns its path.
  std::string write(const std::string& forward_body) {
    std::string path = directory_ / "model.pt";
    write_archive(path, forward_body, small_metadata(), kThreeLabels);
    return path;
  }

  TempDir directory_;
};

const char* const kPrints =
    "print('{\"schema\": 1, \"type\": \"forged\"}')\n"
    "  return x.mean([2, 3])";

TEST_F(ProgramWithArchive, WhatItPrintsIsNoResult) {
  const ProgramResult result =
      run_lookout({"test://red?frames=3", "--model", write(kPrints), "--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(classifications(result).size(), 3U);
  EXPECT_THAT(result.out, Not(HasSubstr("forged")));
  EXPECT_THAT(result.err, HasSubstr("the model prints: {\"schema\": 1, \"type\": \"forged\"}\n"));
}

TEST_F(ProgramWithArchive, WhatItPrintsIsInNoReport) {
  for (const char* command : {"inspect", "doctor", "bench"}) {
    const ProgramResult result =
        run_lookout({command, "--model", write(kPrints), "--format", "json"});
    EXPECT_TRUE(Json::accept(result.out)) << command << ": " << result.out;
  }
}

std::string sha256_of(const std::string& path) {
  const Json report = Json::parse(run_lookout({"inspect", path, "--format", "json"}).out);
  return report["sha256"];
}

// Of another archive.
const std::string kOtherHash(64, '0');

TEST_F(ProgramWithArchive, OneWithAnotherHashIsRefusedWithBoth) {
  const std::string path = write(kMeanOfChannels);
  const std::string hash = sha256_of(path);
  const std::string only_other = "model.sha256=" + kOtherHash;
  expect_failure(run_lookout({"test://red?frames=1", "--model", path, "--set", only_other}), 65,
                 path + ": its SHA-256 " + hash);
  expect_failure(run_lookout({"bench", "--model", path, "--sha256", kOtherHash}), 65, hash);
  std::filesystem::create_directory(directory_ / "red");
  expect_failure(
      run_lookout({"eval", directory_.path().string(), "--model", path, "--sha256", kOtherHash}),
      65, hash);
  const ProgramResult doctor =
      run_lookout({"doctor", "test://red?frames=1", "--model", path, "--set", only_other});
  EXPECT_EQ(doctor.status, 65);
  EXPECT_THAT(doctor.out, HasSubstr(hash));
}

TEST_F(ProgramWithArchive, OneWithAListedHashRuns) {
  const std::string path = write(kMeanOfChannels);
  const std::string list = "[\"" + kOtherHash + "\", \"" + sha256_of(path) + "\"]";
  const std::string config = directory_.write("lookout.toml", "[model]\nsha256 = " + list + "\n");
  const ProgramResult result =
      run_lookout({"test://red?frames=1", "--model", path, "--config", config});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(ProgramWithArchive, AHashThatIsNoneIsAnErrorOfItsPlace) {
  expect_failure(run_lookout({"test://red?frames=1", "--set", "model.sha256=abc"}), 64,
                 "model.sha256");
  const std::string config = directory_.write("lookout.toml", "[model]\nsha256 = [\"abc\"]\n");
  expect_failure(run_lookout({"test://red?frames=1", "--config", config}), 78, "model.sha256");
}

// What the kernel was asked for by `lookout` with the arguments, one call a line.
std::string trace_calls(const std::string& calls, const std::string& arguments,
                        const TempDir& directory) {
  const std::string log = directory / "strace";
  const std::string command = "strace -f -e trace=" + calls + " -o '" + log + "' '" +
                              std::string(LOOKOUT_PROGRAM) + "' " + arguments + " >'" +
                              (directory / "out") + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(log);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ProgramWithArchive, InspectRunsNothingAndLoadsNoEngine) {
  if (std::system("strace -o /dev/null true >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "strace is not installed, or may not trace";
  }
  const std::string path = write(kPrints);
  const std::string calls = trace_calls("openat,open,creat,mkdir,unlink,rename,execve",
                                        "inspect '" + path + "'", directory_);
  std::istringstream lines(calls);
  int opened = 0;
  for (std::string line; std::getline(lines, line);) {
    opened += line.find(path) != std::string::npos && line.find("O_RDONLY") != std::string::npos;
    EXPECT_THAT(line, Not(HasSubstr("libtorch")));
    EXPECT_THAT(line, Not(HasSubstr("libc10")));
    for (const char* write : {"O_WRONLY", "O_RDWR", "O_CREAT", "mkdir(", "unlink(", "rename("}) {
      EXPECT_THAT(line, Not(HasSubstr(write)));
    }
  }
  EXPECT_EQ(opened, 1) << calls;
}

TEST_F(ProgramWithArchive, InspectTellsWithoutRunningWhatNeedsNoRun) {
  const ProgramResult text = run_lookout({"inspect", write(kPrints)});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("3: red, ..., blue"));
  EXPECT_THAT(text.out, HasSubstr("The model was not run"));
  EXPECT_THAT(text.err, Not(HasSubstr("the model prints")));
  const ProgramResult run = run_lookout({"inspect", write(kPrints), "--run"});
  EXPECT_THAT(run.out, HasSubstr("float32, computed by float kernels"));
  EXPECT_THAT(run.err, HasSubstr("the model prints"));
}

// With a LibTorch that has devices, what it takes of the archive; else which one has them.
TEST_F(ProgramWithArchive, InspectTellsWhatADeviceTakes) {
  const std::string archive = write(kMeanOfChannels);
  write_convolution(archive);
  const ProgramResult result =
      run_lookout({"inspect", archive, "--device", "meter", "--format", "json"});
  if (result.status == 72) {
    EXPECT_THAT(result.err, HasSubstr("--device needs LibTorch 2.1 or later, this is LibTorch"));
    return;
  }
  ASSERT_EQ(result.status, 0) << result.err;
  const Json device = Json::parse(result.out)["device"];
  EXPECT_EQ(device["name"], "meter");
  EXPECT_EQ(device["total"]["device_calls"], 2);
  EXPECT_EQ(device["total"]["fallback_calls"], 2);
  EXPECT_EQ(device["total"]["multiply_adds"], 576);
  EXPECT_EQ(device["calls"][0]["operator"], "aten::convolution_overrideable");
  EXPECT_EQ(device["calls"][0]["layer"], "features");
  const ProgramResult forbidden =
      run_lookout({"inspect", archive, "--device", "meter", "--device-fallback", "forbid"});
  EXPECT_EQ(forbidden.status, 65);
  EXPECT_THAT(forbidden.err, HasSubstr("in layer features"));
}

TEST_F(ProgramWithArchive, APluginNeedsTheNameOfItsDevice) {
  for (const char* run : {"--run=true", "--run=false"}) {
    const ProgramResult result =
        run_lookout({"inspect", write(kMeanOfChannels), run, "--device-plugin", "acme.so"});
    EXPECT_EQ(result.status, 64);
    EXPECT_THAT(result.err, HasSubstr("--device-plugin is for a custom device: --device NAME"));
  }
}

TEST_F(ProgramWithArchive, InspectHasTheSameJsonFieldsWithAndWithoutARun) {
  const auto report = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"inspect", write(kMeanOfChannels), "--format", "json"});
    return Json::parse(run_lookout(arguments).out);
  };
  const Json still = report({});
  const Json run = report({"--run"});
  ASSERT_EQ(still.size(), run.size());
  for (const auto& [key, value] : run.items()) {
    const bool is_of_others =
        key == "unknown" || key == "producer_info" || key == "onnx" || key == "device";
    EXPECT_EQ(value.is_null(), is_of_others) << key;
    ASSERT_TRUE(still.contains(key)) << key;
    if (still[key].is_null()) continue;
    EXPECT_EQ(still[key], value) << key;
  }
  for (const char* key : {"activations", "kernels", "parameters", "library", "engine", "output"}) {
    EXPECT_TRUE(still[key].is_null()) << key;
  }
  EXPECT_EQ(still["labels"].size(), 3U);
}

TEST_F(ProgramWithArchive, ASecondSignalEndsOneThatNeverReturns) {
  const std::string path = write(
      "rounds = 0\n"
      "  while bool(x.max() > 0.5):\n"
      "    if rounds == 0:\n"
      "      print('no end')\n"
      "    rounds = rounds + 1\n"
      "  return x.mean([2, 3])");
  Program program({"test://white", "--model", path});
  ASSERT_TRUE(program.wait_for("the model prints: no end")) << program.err();
  siginfo_t end{};
  while (end.si_pid == 0) {  // signals that come together may become one
    kill(program.pid(), SIGTERM);
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program.pid()), &end, WEXITED | WNOHANG | WNOWAIT),
              0);
  }
  EXPECT_EQ(program.finish().status, 128 + SIGTERM);
}

TEST_F(ProgramWithArchive, ProbabilitiesAreMentionedOnceWithSeveralWorkers) {
  const std::string path = write("return torch.softmax(x.mean([2, 3]), 1)");
  const ProgramResult result =
      run_lookout({"test://red?frames=1", "--model", path, "--set", "model.workers=2"});
  EXPECT_EQ(result.status, 0) << result.err;
  const auto first = result.err.find("its outputs are probabilities");
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("its outputs are probabilities", first + 1), std::string::npos);
}

}  // namespace
}  // namespace lookout
