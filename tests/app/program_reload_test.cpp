// A configuration that changes while the program runs.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/run/reload_outcome.h"
#include "paths.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr const char* kGate = "[watch.gate]\nroi = [0, 0, 0.5, 1]\n";
constexpr const char* kLamp = "[watch.lamp]\nroi = [0.5, 0, 0.5, 1]\n";

class ProgramReload : public testing::Test {
 protected:
  // Replaces the file as an editor does.
  void write(const std::string& text) { directory_.write("lookout.toml", text); }
  std::vector<std::string> arguments() const {
    return {"test://checkers?fps=25", "--config", directory_ / "lookout.toml", "--format", "json"};
  }

  TempDir directory_;
};

class ProgramReloadOfWorkers : public ProgramReload,
                               public testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(OneAndSeveral, ProgramReloadOfWorkers,
                         testing::Values("", "[model]\nworkers = 3\n"));

TEST_P(ProgramReloadOfWorkers, AWatchComesAndTheOtherKeepsItsState) {
  write(GetParam() + kGate);
  Program program(arguments());
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  write(std::string("[camera]\nname = \"front\"\n[model]\nworkers = 2\n") + kGate + kLamp);
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("\"watch\":\"lamp\"")) << program.err();
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("reload: camera.name and model.workers change with a restart"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("reload: watch.lamp.roi changed"), std::string::npos) << result.err;
  int states_of_gate = 0;
  for (const Json& line : json_lines(result.out)) {
    if (line["type"] == "state" && line["watch"] == "gate") ++states_of_gate;
  }
  EXPECT_EQ(states_of_gate, 1) << "a reload is no change of its state";
}

TEST_F(ProgramReload, WhatIsOfNoWatchIsWrittenOnceWhicheverIsTheFirst) {
  write(kGate);
  Program program(arguments());
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  write(std::string(kLamp) + kGate);
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("\"watch\":\"lamp\"")) << program.err();
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  int summaries = 0;
  for (const Json& line : json_lines(result.out)) {
    if (line["type"] == "summary") ++summaries;
  }
  EXPECT_EQ(summaries, 1);
}

TEST_F(ProgramReload, AWrongFileChangesNothing) {
  write(kGate);
  Program program(arguments());
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  write(std::string(kGate) + "[watch.lamp]\nroi = [0, 0]\n");
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("reload: nothing was changed: ")) << program.err();
  write(std::string(kGate) + "[watch.lamp]\nmodel = \"/nowhere/lamp.pt\"\n");
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("/nowhere/lamp.pt")) << program.err();
  write(std::string(kGate) + kLamp);
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("\"watch\":\"lamp\"")) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

// All of a configuration is judged: what comes with a restart must not keep it from starting.
TEST_F(ProgramReload, WhatTheNextStartWouldRefuseIsRefused) {
  write(kGate);
  Program program(arguments());
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"[history]\nfolder = \"/nowhere/history\"\n", "history.folder /nowhere/history cannot"},
      {"[profile]\ntrace = \"/nowhere/trace.json\"\n", "trace /nowhere/trace.json cannot"},
      {"[model]\noperators = [\"/nowhere/some.so\"]\n", "model.operators /nowhere/some.so cannot"},
      {"[model]\ndevice = \"x\"\ndevice-plugin = \"/nowhere/x.so\"\n",
       "model.device-plugin /nowhere/x.so cannot"},
      {"[gpio]\nline = 1\nchip = \"/dev/null\"\nstates = [\"open\"]\nwatch = \"gate\"\n",
       "gpio.chip /dev/null is no GPIO chip"}};
  for (const auto& [text, why] : wrong) {
    write(text + kGate + kLamp);
    kill(program.pid(), SIGUSR2);
    ASSERT_TRUE(program.wait_for("reload: nothing was changed: " + why)) << program.err();
  }
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

TEST_F(ProgramReload, AModelFileThatWasReplacedIsLoadedOfAService) {
  const std::string model = directory_ / "model.pt";
  std::filesystem::copy(LOOKOUT_SELFTEST, model);
  write("[model]\nfile = \"" + model + "\"\n");
  Program::Options options;
  options.environment = {"NOTIFY_SOCKET=" + (directory_ / "no socket"),
                         "STATE_DIRECTORY=" + directory_.path().string()};
  Program program(arguments(), options);
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  kill(program.pid(), SIGHUP);
  ASSERT_TRUE(program.wait_for("reload: nothing changed")) << program.err();
  std::filesystem::last_write_time(model, std::filesystem::file_time_type::clock::now());
  kill(program.pid(), SIGHUP);
  ASSERT_TRUE(program.wait_for("reload: the model ")) << program.err();
  write("[model]\nfile = \"" + model + "\"\n[camera]\nname = \"x\"\nmax-rate = 0\n");
  kill(program.pid(), SIGHUP);
  ASSERT_TRUE(program.wait_for("reload: nothing was changed: ")) << program.err();
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  const auto outcome = read_reload_outcome(directory_.path());
  ASSERT_TRUE(outcome) << "what lookout reload waits for";
  EXPECT_NE(outcome->error.find("max-rate"), std::string::npos) << outcome->error;
  EXPECT_EQ(outcome->exit_status, 78);
}

}  // namespace
}  // namespace lookout
