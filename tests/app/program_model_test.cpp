// `lookout model`, and what a run does with a model that was installed.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Divides by 0, which TorchScript does not check: x86 ends the process, unless a sanitizer is told.
const char* const kCrashes = "return x.mean([2, 3]) + 5 % (x.size(0) - 1)";
#if defined(__x86_64__) && !defined(LOOKOUT_SANITIZED)
constexpr bool kDivisionEndsProcess = true;
#else
constexpr bool kDivisionEndsProcess = false;
#endif

class ProgramModelTest : public testing::Test {
 protected:
  ProgramModelTest() {
    // The service's user reads the models.
    chmod(directory_.path().c_str(), 0755);
    std::filesystem::create_directory(directory_ / "state");
    write("gate.pt", kMeanOfChannels);
    config_ = directory_.write("lookout.toml", "[model]\nfile = \"" + file_ + "\"\n");
  }

  std::string write(const std::string& name, const std::string& body) const {
    write_archive(directory_ / name, body, small_metadata(), kThreeLabels);
    return directory_ / name;
  }

  ProgramResult model(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "model");
    arguments.insert(arguments.end(), {"--config", config_});
    Program::Options options;
    options.environment = {"STATE_DIRECTORY=" + (directory_ / "state")};
    return run_lookout(arguments, options);
  }

  // A run that is ended by `signal` after its first result. Returns its log.
  std::string run_until(int signal) const {
    Program::Options options;
    options.environment = {"STATE_DIRECTORY=" + (directory_ / "state")};
    Program program({"test://red?fps=20", "--config", config_}, options);
    EXPECT_TRUE(program.wait_for(" ms)")) << program.err();
    kill(program.pid(), signal);
    return program.finish().err;
  }

  Json listed() const {
    return Json::parse(model({"list", "--format", "json"}).out)["files"][0]["models"];
  }

  const TempDir directory_;
  const std::string file_ = directory_ / "gate.pt";
  std::string config_;
};

TEST_F(ProgramModelTest, InstallsGoesBackAndLists) {
  const std::string old_bytes = read_file(file_);
  const std::string other = write("other.pt", "return x.mean([2, 3]) * 2");
  const ProgramResult installed = model({"install", other});
  ASSERT_EQ(installed.status, 0) << installed.err;
  EXPECT_THAT(
      installed.out,
      AllOf(HasSubstr("an archive, which is a program, is in " + file_),
            HasSubstr("red, green, blue\nThe next run takes it; lookout model back puts ")));
  EXPECT_EQ(read_file(file_), read_file(other));
  const Json models = listed();
  ASSERT_EQ(models.size(), 2);
  EXPECT_EQ(models[0]["use"], "in use");
  EXPECT_EQ(models[0]["labels"], Json::parse(R"(["red", "green", "blue"])"));
  EXPECT_EQ(models[1]["use"], "kept");
  EXPECT_THAT(model({"install", other}).out, HasSubstr("already; nothing was changed"));

  const ProgramResult back = model({"back"});
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(read_file(file_), old_bytes);
  ASSERT_EQ(model({"back", models[0]["sha256"].get<std::string>().substr(0, 12)}).status, 0);
  EXPECT_EQ(read_file(file_), read_file(other));
  EXPECT_THAT(model({"list"}).out, HasSubstr("  in use  "));
}

// As a crash, a watchdog or the kernel for want of memory end it.
TEST_F(ProgramModelTest, AModelThatEndsTheProgramTwiceMakesRoomForTheOneBefore) {
  ASSERT_EQ(model({"install", write("other.pt", "return x.mean([2, 3]) * 2")}).status, 0);
  const auto not_used = HasSubstr("is not used: the program ended 2 times with it");
  EXPECT_THAT(run_until(SIGKILL), Not(not_used));
  EXPECT_THAT(run_until(SIGTERM), Not(not_used)) << "an end in order does not count";
  EXPECT_THAT(run_until(SIGKILL), Not(not_used));
  EXPECT_THAT(run_until(SIGKILL), not_used);
  EXPECT_THAT(run_until(SIGTERM), not_used) << "until it is installed again";
  EXPECT_EQ(listed()[0]["use"], "failed");
}

TEST_F(ProgramModelTest, WhatIsRefusedChangesNothing) {
  const std::string bytes = read_file(file_);
  const auto refused = [&](const std::vector<std::string>& arguments, int status,
                           const std::string& why) {
    const ProgramResult result = model(arguments);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_EQ(read_file(file_), bytes);
    EXPECT_FALSE(std::filesystem::exists(file_ + ".kept")) << why;
  };
  const std::string crashes = write("crashes.pt", kCrashes);
  if (kDivisionEndsProcess) {
    refused({"install", crashes}, 65, "model " + crashes + " ends with Floating point exception");
  }
  refused({"install", directory_.write("text.pt", "hello")}, 65, "text.pt");
  refused({"install", directory_ / "none.pt"}, 66, "none.pt");
  refused({"install", crashes, "--watch", "gate"}, 64,
          "there is no watch gate: the configuration has none, so leave --watch out");
  refused({"back"}, 66, "no model before this one is kept");
  refused({"install", crashes, "--set", "watch.gate.model=" + crashes, "--set",
           "watch.lamp.labels=" + crashes},
          64, "the watches have several models: say --watch gate|lamp");
  refused({"install", crashes, "--set", "model.file="}, 78, "names no model file");
  directory_.write("gate.metadata.json", "{}");
  refused({"install", crashes}, 78, "describes the model that is in");
  std::filesystem::remove(directory_ / "gate.metadata.json");
  const std::string bare = directory_ / "bare.pt";
  write_archive(bare, kMeanOfChannels, "", kThreeLabels);
  const std::string beside =
      directory_.write("bare.metadata.json", R"({"input": {"channel_order": "BGR"}})");
  refused({"install", bare}, 78, beside + " describes " + bare + " and would not go with it");
}

TEST_F(ProgramModelTest, OthersThanTheOwnerAreToldToUseSudo) {
  if (geteuid() != 0) GTEST_SKIP() << "root alone can become another user";
  Program::Options options;
  options.user = 65534;  // nobody
  const ProgramResult result =
      run_lookout({"model", "install", file_, "--config", config_}, options);
  EXPECT_EQ(result.status, 77);
  EXPECT_THAT(result.err, HasSubstr("Permission denied: run it with sudo"));
}

}  // namespace
}  // namespace lookout
