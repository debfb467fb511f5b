#include "app/install/model_commands.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "app/model/model_trials.h"
#include "app/run/reload_outcome.h"
#include "pipeline/core/error.h"
#include "tests/support/captured_log.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A service whose run is `serve`, called when a moment passes.
class InstallTest : public testing::Test {
 protected:
  InstallTest() {
    chmod(directory_.path().c_str(), 0755);
    write("gate.pt", kMeanOfChannels);
    new_ = write("new.pt", "return x.mean([2, 3]) * 2");
    before_ = read_file(file_);
    options_.model.file = file_;
    command_.file = new_;
    service_.unit = "lookout.service";
    service_.state_folder = state_.path();
    service_.check_reads = [](const auto&) {};
    service_.state = [this] { return active_; };
    service_.reload = [this](bool restart) { reloads_.push_back(restart); };
    service_.pause = [this] {
      now_ += std::chrono::seconds(1);
      serve_();
    };
    service_.now = [this] { return now_; };
  }

  std::string write(const std::string& name, const std::string& body) const {
    write_archive(directory_ / name, body, small_metadata(), kThreeLabels);
    return directory_ / name;
  }

  // A run that loads the model, and calls `use` with its hash.
  void run(const std::function<void(ModelTrials&, const std::string&)>& use) const {
    ModelTrials trials(state_.path(), [this] { return now_; });
    const LoadedModel loaded = trials.load(options_.model, [](const ModelOptions& model) {
      return LoadedModel{model.file, "", {}};
    });
    use(trials, loaded.sha256);
  }

  std::string install() const { return install_model(options_, command_, service_); }
  void expect_back(const std::string& why) const {
    expect_error(ErrorKind::kBadData, AllOf(HasSubstr(why), HasSubstr("is back")),
                 [this] { install(); });
    EXPECT_EQ(read_file(file_), before_);
    EXPECT_EQ(ModelStore(file_).installed().size(), 1U) << "the new one is forgotten";
  }

  const TempDir directory_;
  const TempDir state_;
  const std::string file_ = directory_ / "gate.pt";
  std::string new_;
  std::string before_;
  RunOptions options_;
  ModelCommandOptions command_;
  ServiceControl service_;
  std::string active_ = "active";
  std::vector<bool> reloads_;  // whether each was a restart
  Clock::time_point now_{};
  std::function<void()> serve_ = [] {};
  CapturedLog log_;
};

TEST_F(InstallTest, AModelThatAnswersStays) {
  serve_ = [this] {
    run([](ModelTrials& trials, const std::string& hash) { trials.answered(hash); });
  };
  EXPECT_THAT(install(), HasSubstr("\nlookout.service answers with it; lookout model back puts "));
  EXPECT_EQ(read_file(file_), read_file(new_));
  EXPECT_THAT(reloads_, ElementsAre(false));
}

TEST_F(InstallTest, OneThatGivesNoResultGoesBack) {
  serve_ = [this] { run([](ModelTrials&, const std::string&) {}); };
  expect_back("the service gave no result with it for 30 s");
  EXPECT_THAT(reloads_, ElementsAre(false, true)) << "a process that hangs is ended";
}

// Each watch has a turn, one after the other.
TEST_F(InstallTest, ARateLengthensTheWaitByTheTurnsOfTheOtherWatches) {
  options_.camera.max_rate = 0.1;
  for (const char* name : {"a", "b", "c", "gate"}) {
    options_.watches.emplace_back().name = name;
  }
  serve_ = [this] {
    run([this](ModelTrials& trials, const std::string& hash) {
      if (now_.time_since_epoch() > std::chrono::seconds(40)) trials.answered(hash);
    });
  };
  EXPECT_THAT(install(), HasSubstr("lookout.service answers with it"));
  command_.file = write("third.pt", "return x.mean([2, 3]) * 3");
  serve_ = [] {};
  now_ = {};
  expect_error(ErrorKind::kBadData, HasSubstr("the service gave no result with it for 60 s"),
               [this] { install(); });
}

TEST_F(InstallTest, OneThatTheServiceRefusesGoesBackAtOnce) {
  serve_ = [this] {
    ModelTrials trials(state_.path());
    trials.load(options_.model, [this](const ModelOptions& model) {
      if (model.file == file_) throw Error(ErrorKind::kBadData, "it takes too much memory");
      return LoadedModel{model.file, "", {}};
    });
  };
  expect_back("it takes too much memory");
  EXPECT_EQ(now_.time_since_epoch(), std::chrono::seconds(1));
}

TEST_F(InstallTest, AReloadThatIsRefusedGoesBackAtOnce) {
  serve_ = [this] {
    ReloadOutcome outcome;
    outcome.begun = now_;
    outcome.error = "configuration lookout.toml:3: there is no key rio";
    write_reload_outcome(state_.path(), outcome);
  };
  expect_back("there is no key rio");
  EXPECT_EQ(now_.time_since_epoch(), std::chrono::seconds(1));
}

// As of a model of another engine, which a process that has one cannot load.
TEST_F(InstallTest, AServiceThatNeedsARestartForItIsRestarted) {
  serve_ = [this] {
    if (reloads_.back()) {
      run([](ModelTrials& trials, const std::string& hash) { trials.answered(hash); });
      return;
    }
    ReloadOutcome outcome;
    outcome.begun = now_;
    outcome.error = "this process uses LibTorch already";
    outcome.needs_restart = true;
    write_reload_outcome(state_.path(), outcome);
  };
  EXPECT_THAT(install(), HasSubstr("\nlookout.service answers with it; "));
  EXPECT_EQ(read_file(file_), read_file(new_));
  EXPECT_THAT(reloads_, ElementsAre(false, true));
}

TEST_F(InstallTest, OneThatARestartDoesNotHelpGoesBack) {
  serve_ = [this] {
    ReloadOutcome outcome;
    outcome.begun = now_;
    outcome.error = "this process uses LibTorch already";
    outcome.needs_restart = true;
    write_reload_outcome(state_.path(), outcome);
  };
  expect_back("the service gave no result with it for 30 s");
  EXPECT_THAT(reloads_, ElementsAre(false, true, true));
}

TEST_F(InstallTest, AStoppedServiceIsNotStarted) {
  active_ = "inactive";
  EXPECT_THAT(install(), HasSubstr("lookout.service is stopped: its start takes it"));
  EXPECT_THAT(reloads_, ElementsAre());
}

TEST_F(InstallTest, AServiceThatFailedIsStarted) {
  active_ = "failed";
  serve_ = [this] {
    run([](ModelTrials& trials, const std::string& hash) { trials.answered(hash); });
  };
  install();
  EXPECT_THAT(reloads_, ElementsAre(true));
}

// As one that ends the process at the first dark picture.
TEST_F(InstallTest, OneThatEndsTheServiceLongAfterItsProofGoesBack) {
  std::string notes;
  const auto crash = [&] {
    run([&](ModelTrials& trials, const std::string& hash) {
      trials.answered(hash);
      now_ += ModelTrials::kProof;
      trials.answered(hash);
      notes = read_file(state_ / "models.json");
    });
    state_.write("models.json", notes);
  };
  serve_ = [this] {
    run([](ModelTrials& trials, const std::string& hash) { trials.answered(hash); });
  };
  install();
  crash();
  now_ += std::chrono::hours(1);
  crash();
  run([](ModelTrials&, const std::string&) {});
  const std::string list = list_models(options_, command_, service_);
  EXPECT_THAT(list, AllOf(HasSubstr("  failed  "), HasSubstr("\n  in use  ")));
  EXPECT_THAT(install(), HasSubstr("answers with it")) << "it may be tried again";
}

TEST_F(InstallTest, FiveModelsAreKept) {
  service_.unit.clear();
  for (int i = 3; i < 10; ++i) {
    command_.file = write("new.pt", "return x.mean([2, 3]) * " + std::to_string(i));
    install();
  }
  EXPECT_EQ(ModelStore(file_).installed().size(), ModelStore::kKept);
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(file_ + ".kept")) {
    files += each.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, ModelStore::kKept + 1) << "and their list";
}

}  // namespace
}  // namespace lookout
