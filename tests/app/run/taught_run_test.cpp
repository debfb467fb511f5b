// A run with what an owner taught.
#include "app/run/taught_run.h"

#include "app/options/taught_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "paths.h"
#include "tests/app/train/taught_lamp.h"
#include "tests/support/program.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class TaughtRunOfLamp : public TaughtLamp {
 protected:
  // Trains a model and says that it is to be used.
  std::string use_new() {
    const std::string sha256 = train().sha256;
    trainer_->use("lamp", sha256);
    return sha256;
  }
  std::vector<std::string> add(RunOptions& options) {
    return add_taught_watches(library(), options, given_);
  }
  Program::Options environment() const {
    Program::Options options;
    options.environment = {"STATE_DIRECTORY=" + folder_.path().string()};
    return options;
  }
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"test://red?fps=25",
                                 "--format",
                                 "json",
                                 "--set",
                                 "http.teach=true",
                                 "--set",
                                 "http.password-file=" + (folder_ / "password")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::map<std::string, std::string> given_;
};

TEST_F(TaughtRunOfLamp, WithoutTaughtWatchesNothingIsAdded) {
  RunOptions options;
  EXPECT_THAT(add(options), IsEmpty());
  EXPECT_THAT(options.watches, IsEmpty());
  EXPECT_THAT(given_, IsEmpty());
}

TEST_F(TaughtRunOfLamp, AWatchIsThatOfItsTraining) {
  draw(5);
  use_new();
  RunOptions options;
  EXPECT_THAT(add(options), IsEmpty());
  ASSERT_THAT(options.watches, SizeIs(1));
  const WatchOptions& watch = options.watches[0];
  EXPECT_EQ(watch.name, "lamp");
  EXPECT_EQ(watch.title, "The lamp");
  EXPECT_EQ(watch.roi, watch_.roi);
  EXPECT_THAT(watch.model, HasSubstr("0001.head"));
  const auto before = given_;
  use_new();
  RunOptions next;
  add(next);
  EXPECT_NE(given_["watch.lamp.model"], before.at("watch.lamp.model")) << "a reload sees it";
  RunOptions without_camera;
  without_camera.camera.source = "none";
  EXPECT_THAT(add(without_camera), IsEmpty());
  EXPECT_THAT(without_camera.watches, SizeIs(1)) << "pictures of clients are classified as it does";
}

TEST_F(TaughtRunOfLamp, TheConfigurationWinsAndADamagedModelIsLeftOut) {
  draw(5);
  use_new();
  RunOptions options;
  options.watches.emplace_back().name = "lamp";
  EXPECT_THAT(add(options), ElementsAre(HasSubstr("has a watch of this name")));
  EXPECT_THAT(options.watches, SizeIs(1));
  std::filesystem::resize_file(library() / "models/lamp/0001.head", 100);
  RunOptions damaged;
  EXPECT_THAT(add(damaged), ElementsAre(HasSubstr("damaged")));
  EXPECT_THAT(damaged.watches, IsEmpty());
}

TEST_F(TaughtRunOfLamp, CommandsKnowItByItsName) {
  draw(5);
  use_new();
  const auto evaluated = [this](const std::string& name) {
    return run_lookout({"eval", classes_folder(), "--watch", name, "--config", ""}, environment());
  };
  const ProgramResult result = evaluated("lamp");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("lamp-0001"));
  const ProgramResult other = evaluated("gate");
  EXPECT_EQ(other.status, 64);
  EXPECT_THAT(other.err, HasSubstr("lamp"));
  std::filesystem::resize_file(library() / "models/lamp/0001.head", 100);
  const ProgramResult damaged = evaluated("lamp");
  EXPECT_EQ(damaged.status, 65);
  EXPECT_THAT(damaged.err, HasSubstr("0001.head is damaged"));
}

TEST_F(TaughtRunOfLamp, DoctorListsItAndSaysWhatIsDamaged) {
  draw(5);
  use_new();
  const auto examined = [this] {
    std::vector<std::string> doctor = arguments();
    doctor.insert(doctor.begin(), "doctor");
    return run_lookout(doctor, environment()).out;
  };
  EXPECT_THAT(examined(), HasSubstr("lamp: "));
  std::filesystem::resize_file(library() / "models/lamp/0001.head", 100);
  EXPECT_THAT(examined(), HasSubstr("0001.head is damaged"));
}

TEST_F(TaughtRunOfLamp, JoinsARunThatGoesOn) {
  draw(5);
  Program program(arguments(), environment());
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  EXPECT_THAT(program.out(), Not(HasSubstr("\"watch\"")));
  use_new();
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("\"watch\":\"lamp\"")) << program.err();
  use_new();
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("lamp-0002")) << program.err();
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(TaughtRunOfLamp, LeavesARunThatGoesOn) {
  draw(5);
  use_new();
  Program program(arguments(), environment());
  ASSERT_TRUE(program.wait_for("\"watch\":\"lamp\"")) << program.err();
  trainer_->retire("lamp");
  kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for("reload: ")) << program.err();
  ASSERT_TRUE(program.wait_for("\"model\":\"selftest\",\"seq\"")) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

TEST_F(TaughtRunOfLamp, IsThereFromTheStartAndADamagedModelEndsNoRun) {
  draw(5);
  use_new();
  const std::vector<std::string> second = arguments({"-t", "1s"});
  const std::vector<std::string> with_workers = arguments({"-t", "1s", "--set", "model.workers=2"});
  for (const auto& started : {second, with_workers}) {
    EXPECT_THAT(run_lookout(started, environment()).out, HasSubstr("\"watch\":\"lamp\""));
  }
  std::filesystem::resize_file(library() / "models/lamp/0001.head", 100);
  const ProgramResult damaged = run_lookout(second, environment());
  EXPECT_EQ(damaged.status, 0) << damaged.err;
  EXPECT_THAT(damaged.err, HasSubstr("the taught watch lamp is left out: "));
  EXPECT_THAT(damaged.out, HasSubstr("\"type\":\"classification\""));
  EXPECT_THAT(damaged.out, Not(HasSubstr("\"watch\"")));
}

}  // namespace
}  // namespace lookout
