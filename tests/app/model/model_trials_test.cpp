#include "app/model/model_trials.h"

#include <gmock/gmock.h>

#include <fstream>
#include <future>

#include "pipeline/core/error.h"
#include "pipeline/core/result.h"
#include "pipeline/core/sha256.h"
#include "pipeline/results/statistics.h"
#include "tests/support/captured_log.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kOld = "PK, the old model";
const std::string kNew = "PK, the new model";

class ModelTrialsTest : public testing::Test {
 protected:
  ModelTrialsTest() {
    options_.file = store_.file();
    store_.keep(sha256(kOld), kOld);
    install(kNew, 2);
  }

  void install(const std::string& bytes, std::int64_t at) {
    store_.keep(sha256(bytes), bytes);
    store_.put_in_place(
        {{sha256(bytes), "new", {"a"}, false, at}, {sha256(kOld), "old", {"a"}, false, 1}});
  }

  // The path that is loaded.
  static LoadedModel load_any(const ModelOptions& options) { return {options.file, "", {}}; }
  LoadedModel load(ModelTrials& trials) const { return trials.load(options_, load_any); }

  // A process that loads the model and crashes: nothing of it is destroyed in order.
  void crash() const {
    std::string notes;
    {
      ModelTrials trials(state_.path(), [this] { return now_; });
      load(trials);
      notes = read_file(state_ / "models.json");
    }
    state_.write("models.json", notes);
  }

  // A run in which the model proves itself. Returns the notes before its end.
  std::string prove() {
    ModelTrials trials(state_.path(), [this] { return now_; });
    load(trials);
    trials.answered(sha256(kNew));
    const auto first = read_trial(state_.path(), store_.file(), store_.installed().front());
    EXPECT_TRUE(first && first->answered && !first->proved);
    now_ += ModelTrials::kProof;
    trials.answered(sha256(kNew));
    EXPECT_FALSE(trials.is_waiting());
    return read_file(state_ / "models.json");
  }

  Clock::time_point now_{};
  const TempDir state_;
  const TempDir models_;
  const ModelStore store_{models_ / "gate.pt"};
  ModelOptions options_;
};

TEST_F(ModelTrialsTest, TheOneBeforeRunsAfterTwoCrashes) {
  crash();
  {
    ModelTrials second(state_.path());
    EXPECT_EQ(load(second).path, store_.file()) << "it has another try";
  }
  crash();
  const CapturedLog log;
  ModelTrials third(state_.path());
  const LoadedModel loaded = load(third);
  EXPECT_EQ(loaded.path, store_.kept(sha256(kOld)));
  EXPECT_EQ(loaded.sha256, sha256(kOld));
  EXPECT_EQ(loaded.instead_of, sha256(kNew));
  EXPECT_THAT(log.text(), HasSubstr("the program ended 2 times with it; old ("));
  const auto trial = read_trial(state_.path(), store_.file(), store_.installed().front());
  ASSERT_TRUE(trial);
  EXPECT_TRUE(trial->failed);
  EXPECT_FALSE(third.is_waiting());
}

TEST_F(ModelTrialsTest, RunsThatEndInOrderAreNoAttempts) {
  for (int i = 0; i < 5; ++i) {
    ModelTrials trials(state_.path());
    EXPECT_EQ(load(trials).path, store_.file());
    EXPECT_EQ(load(trials).path, store_.file()) << "of another watch";
  }
}

TEST_F(ModelTrialsTest, AModelThatProvedItselfMayCrashNowAndThen) {
  prove();
  for (int i = 0; i < 4; ++i) {
    crash();
    now_ += ModelTrials::kCrashWindow + std::chrono::seconds(1);
  }
  ModelTrials trials(state_.path(), [this] { return now_; });
  EXPECT_EQ(load(trials).path, store_.file());
}

TEST_F(ModelTrialsTest, AModelThatProvedItselfGoesBackAfterTwoCrashesWithinMinutes) {
  prove();
  crash();
  now_ += std::chrono::seconds(20);
  crash();
  now_ += std::chrono::seconds(20);
  {
    const CapturedLog log;
    ModelTrials trials(state_.path(), [this] { return now_; });
    const LoadedModel loaded = load(trials);
    EXPECT_EQ(loaded.path, store_.kept(sha256(kOld)));
    EXPECT_EQ(loaded.instead_of, sha256(kNew));
    EXPECT_THAT(log.text(),
                HasSubstr("the program ended 2 times within 10 minutes with it; old ("));
  }
  now_ += std::chrono::hours(24);
  ModelTrials later(state_.path(), [this] { return now_; });
  EXPECT_EQ(load(later).path, store_.kept(sha256(kOld))) << "until one is installed";
  install(kNew, 3);
  EXPECT_EQ(load(later).path, store_.file());
}

// The process that it proved itself in may be the first that it ends.
TEST_F(ModelTrialsTest, TheEndOfTheRunThatItProvedItselfInCounts) {
  const std::string notes = prove();
  state_.write("models.json", notes);
  now_ += std::chrono::hours(1);
  crash();
  ModelTrials trials(state_.path(), [this] { return now_; });
  EXPECT_EQ(load(trials).path, store_.kept(sha256(kOld)));
}

TEST_F(ModelTrialsTest, StopsAndStartsOfTheMachineAreNoCrashesOfAProvedModel) {
  prove();
  crash();
  for (int i = 0; i < 3; ++i) {
    ModelTrials stopped(state_.path(), [this] { return now_; });
    EXPECT_EQ(load(stopped).path, store_.file());
  }
  for (int i = 0; i < 3; ++i) {
    crash();
    const std::string notes = read_file(state_ / "models.json");
    const auto boot = notes.find("\"boot\": \"") + std::string("\"boot\": \"").size();
    state_.write("models.json", notes.substr(0, boot) + "before " + notes.substr(boot));
    now_ += std::chrono::seconds(20);
  }
  ModelTrials trials(state_.path(), [this] { return now_; });
  EXPECT_EQ(load(trials).path, store_.file());
}

// Which of several it was nobody knows: the last installed is the likeliest.
TEST_F(ModelTrialsTest, ACrashCountsForTheModelThatWasInstalledLast) {
  const ModelStore newer(models_ / "lamp.pt");
  for (const std::string& bytes : {kOld, kNew}) newer.keep(sha256(bytes), bytes);
  newer.put_in_place(
      {{sha256(kNew), "new", {"a"}, false, 9}, {sha256(kOld), "old", {"a"}, false, 8}});
  ModelOptions lamp;
  lamp.file = newer.file();
  const auto run = [&](const std::function<void(const LoadedModel&, const LoadedModel&)>& check) {
    std::string notes;
    {
      ModelTrials trials(state_.path(), [this] { return now_; });
      const LoadedModel gate = load(trials);
      check(gate, trials.load(lamp, load_any));
      trials.answered(sha256(kNew));
      now_ += ModelTrials::kProof;
      trials.answered(sha256(kNew));
      notes = read_file(state_ / "models.json");
    }
    state_.write("models.json", notes);  // it crashed
  };
  run([](const auto&, const auto&) {});
  run([](const auto&, const auto&) {});
  run([&](const LoadedModel& gate, const LoadedModel& other) {
    EXPECT_EQ(gate.path, store_.file());
    EXPECT_EQ(other.path, newer.kept(sha256(kOld)));
  });
}

TEST_F(ModelTrialsTest, TheSameModelInstalledAgainIsTriedAgain) {
  crash();
  crash();
  install(kNew, 3);
  ModelTrials trials(state_.path());
  EXPECT_EQ(load(trials).path, store_.file());
}

TEST_F(ModelTrialsTest, WhatCannotBeLoadedIsReplacedAtOnce) {
  ModelTrials trials(state_.path());
  const CapturedLog log;
  const LoadedModel loaded = trials.load(options_, [this](const ModelOptions& model) {
    if (model.file == store_.file()) throw Error(ErrorKind::kBadData, "it has no labels");
    return load_any(model);
  });
  EXPECT_EQ(loaded.path, store_.kept(sha256(kOld)));
  EXPECT_THAT(log.text(), HasSubstr("it has no labels"));
  const auto trial = read_trial(state_.path(), store_.file(), store_.installed().front());
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->error, "it has no labels");
}

// A process has one engine. That the model before would do says nothing of the new one.
TEST_F(ModelTrialsTest, AModelOfAnotherEngineIsForTheNextStart) {
  const auto load_old_alone = [this](const ModelOptions& model) {
    if (model.file == store_.file()) throw OtherEngine(Engine::kOnnxRuntime, Engine::kTorch);
    return load_any(model);
  };
  {
    ModelTrials trials(state_.path());
    EXPECT_THROW(trials.load(options_, load_old_alone, ModelTrials::When::kReload), OtherEngine);
    EXPECT_FALSE(trials.is_waiting());
  }
  const auto trial = read_trial(state_.path(), store_.file(), store_.installed().front());
  ASSERT_TRUE(trial);
  EXPECT_FALSE(trial->failed);
  EXPECT_EQ(trial->error, "");
  EXPECT_EQ(trial->attempts, 0);
  {
    ModelTrials beside_others(state_.path());
    EXPECT_EQ(beside_others.load(options_, load_old_alone).path, store_.kept(sha256(kOld)))
        << "a start has no other way";
  }
  ModelTrials alone(state_.path());
  EXPECT_EQ(load(alone).path, store_.file());
  EXPECT_FALSE(read_trial(state_.path(), store_.file(), store_.installed().front())->failed);
}

TEST_F(ModelTrialsTest, FilesThatWereNotInstalledAreLoadedAsTheyAre) {
  models_.write("gate.pt", "PK, copied here");
  ModelTrials trials(state_.path());
  const LoadedModel loaded = load(trials);
  EXPECT_EQ(loaded.path, store_.file());
  EXPECT_FALSE(trials.is_waiting());
  EXPECT_EQ(read_file(state_ / "models.json"), "");
}

TEST_F(ModelTrialsTest, WithoutAStateFolderNothingIsNoted) {
  ModelTrials trials("");
  EXPECT_EQ(load(trials).path, store_.file());
  EXPECT_FALSE(trials.is_waiting());
}

TEST_F(ModelTrialsTest, DamagedNotesAndListsStopNoRun) {
  for (const char* text : {"", "{", "[]", R"({"models": 3})", R"({"models": {"a": []}})"}) {
    state_.write("models.json", text);
    ModelTrials trials(state_.path());
    EXPECT_EQ(load(trials).path, store_.file()) << text;
  }
  models_.write("gate.pt.kept/installed.json", "{}");
  const CapturedLog log;
  ModelTrials trials(state_.path());
  EXPECT_EQ(load(trials).path, store_.file());
  EXPECT_THAT(log.text(), HasSubstr("installed.json is damaged: remove it"));
}

// One that loads a model which never returns, or classifies with it.
TEST_F(ModelTrialsTest, AModelThatHangsEndsTheRunAndIsNotTriedAgain) {
  for (const bool while_loading : {true, false}) {
    install(kNew, while_loading ? 3 : 4);
    std::promise<void> ended;
    const CapturedLog log;
    {
      const TrialLimits limits{std::chrono::milliseconds(while_loading ? 1 : 1'000'000),
                               std::chrono::milliseconds(1)};
      ModelTrials trials(state_.path(), Clock::now, limits, [&ended] { ended.set_value(); });
      trials.load(options_, [&](const ModelOptions& model) {
        if (while_loading) ended.get_future().wait();
        return load_any(model);
      });
      if (!while_loading) {
        make_trial_reporter(trials, /*has_source=*/true, /*live=*/true)->poll();
        ended.get_future().wait();
      }
      EXPECT_FALSE(trials.is_waiting());
    }
    EXPECT_THAT(log.text(), HasSubstr("the run ends, and the next one uses the model before"));
    const std::string note = fallback_note(state_.path(), store_.file());
    EXPECT_EQ(note, "") << "not yet";
    ModelTrials next(state_.path());
    const LoadedModel loaded = load(next);
    EXPECT_EQ(loaded.path, store_.kept(sha256(kOld)));
    EXPECT_EQ(loaded.failed.rfind("new (", 0), 0U) << loaded.failed;
    EXPECT_THAT(fallback_note(state_.path(), store_.file()),
                AllOf(HasSubstr("is not used: it did not return: "), HasSubstr("; old (")));
  }
}

// Whatever holds the run up: nothing is gained by its end.
TEST_F(ModelTrialsTest, AModelWithoutOneBeforeIsWaitedFor) {
  store_.put_in_place({{sha256(kNew), "new", {"a"}, false, 3}});
  const TrialLimits limits{std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
  ModelTrials trials(state_.path(), Clock::now, limits, [] { FAIL(); });
  EXPECT_EQ(load(trials).path, store_.file());
  const auto reporter = make_trial_reporter(trials, /*has_source=*/true, /*live=*/true);
  reporter->poll();
  StatsSnapshot last;
  last.final = true;
  reporter->tick(last);
}

// A camera that is away gives no pictures to ask a model about.
TEST_F(ModelTrialsTest, ALoadedModelAnswersWithoutACamera) {
  ModelTrials trials(state_.path());
  load(trials);
  const auto reporter = make_trial_reporter(trials, /*has_source=*/true, /*live=*/true);
  ModelInfo info;
  info.sha256 = sha256(kNew);
  const auto answers = [this] {
    const auto trial = read_trial(state_.path(), store_.file(), store_.installed().front());
    return trial && trial->answered;
  };
  reporter->watching({{nullptr, std::make_shared<ModelInfo>(info)}});
  EXPECT_FALSE(answers());
  CameraStatus away;
  away.online = false;
  reporter->status(away);
  EXPECT_TRUE(answers());
}

TEST_F(ModelTrialsTest, AResultOfItsOwnIsAnAnswer) {
  ModelTrials trials(state_.path());
  load(trials);
  const auto reporter = make_trial_reporter(trials, /*has_source=*/true, /*live=*/true);
  Result result;
  ModelInfo info;
  info.sha256 = sha256(kOld);
  result.model = std::make_shared<ModelInfo>(info);
  const auto answers = [this] {
    const auto trial = read_trial(state_.path(), store_.file(), store_.installed().front());
    return trial && trial->answered;
  };
  reporter->report(result, Frame());
  EXPECT_FALSE(answers()) << "of another model";
  info.sha256 = sha256(kNew);
  result.model = std::make_shared<ModelInfo>(info);
  result.reused = true;
  reporter->report(result, Frame());
  EXPECT_FALSE(answers());
  result.reused = false;
  reporter->report(result, Frame());
  EXPECT_TRUE(answers());
}

}  // namespace
}  // namespace lookout
