// The process that trains is a shell here: what it may do to whoever waits for it.
#include "platform/teach/taught_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "pipeline/core/sha256.h"
#include "platform/teach/taught_previewer.h"
#include "tests/support/heads.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using State = TeachJob::State;

const TaughtWatch kLamp{"lamp", "", {0, 0, 1, 1}, {"on", "off"}, 1};

std::vector<TaughtPicture> pictures_of_lamp(int of_each) {
  std::vector<TaughtPicture> pictures;
  for (int i = 0; i < 2 * of_each; ++i) {
    TaughtPicture picture;
    picture.number = i + 1;
    picture.hold = i + 1;
    picture.label = i % 2 == 0 ? "on" : "off";
    pictures.push_back(picture);
  }
  return pictures;
}

class TrainerWithShell : public testing::Test {
 protected:
  // The process runs this.
  TaughtTrainer& with(const std::string& script,
                      std::chrono::milliseconds patience = TaughtTrainerOptions().patience) {
    TaughtTrainerOptions options{
        folder_.path(), {"/bin/sh", "-c", script}, "", [this] { ++reloads_; }};
    options.patience = patience;
    options.now = [this] { return TimeLeft::Clock::time_point(now_.load()); };
    trainer_ = std::make_unique<TaughtTrainer>(std::move(options));
    return *trainer_;
  }
  void start(int of_each = 5, const TaughtWatch& watch = kLamp) {
    trainer_->start(watch, pictures_of_lamp(of_each),
                    [](std::int64_t number) { return std::to_string(number); });
  }
  // Ends when `is_so` is true of the job.
  template <typename Condition>
  TeachJob wait_for(Condition is_so) {
    for (;;) {
      const TeachJob job = trainer_->job().value();
      if (is_so(job)) return job;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  TeachJob end() {
    return wait_for([](const TeachJob& job) { return job.state != State::kRunning; });
  }

  // Makes a model, and tells of it.
  std::string script_of_model() {
    const std::string head = write_head(small_head(4));
    sha256_ = sha256(head);
    TaughtReport report;
    report.model.sha256 = sha256_;
    report.roi = kLamp.roi;
    const std::string made = folder_.write("made", head);
    const std::string line =
        folder_.write("line", to_text(TrainingNews{1, "model", report}) + "\n");
    return "cp " + made + " " + (folder_ / "models/lamp/0001.head") + "; cat " + line + "; ";
  }

  TempDir folder_;
  std::string sha256_;
  int reloads_ = 0;
  std::atomic<std::chrono::seconds> now_{};
  std::unique_ptr<TaughtTrainer> trainer_;
};

TEST_F(TrainerWithShell, ItIsToldWhatToTrain) {
  with("cat >" + (folder_ / "order"));
  EXPECT_FALSE(trainer_->job());
  start();
  EXPECT_EQ(end().state, State::kFailed) << "there is no model";
  const auto order = parse_order(read_file(folder_ / "order"));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->watch.classes, kLamp.classes);
  EXPECT_EQ(order->pictures.size(), 10U);
  EXPECT_EQ(order->pictures[3].picture.label, "off");
  EXPECT_EQ(order->pictures[3].file, "4");
  EXPECT_EQ(order->output, folder_.path() / "models/lamp/0001.head");
  EXPECT_EQ(order->name, "lamp-0001");
  EXPECT_EQ(order->in_use, "");
  EXPECT_EQ(order->parent, getpid());
}

TEST_F(TrainerWithShell, TellsHowFarItIsAndEndsWhenItIsCancelled) {
  with(R"(echo '{"done":0.5,"step":"folds"}'; exec sleep 1000)");
  start();
  const TeachJob job = wait_for([](const TeachJob& now) { return now.done == 0.5F; });
  EXPECT_EQ(job.state, State::kRunning);
  EXPECT_EQ(job.step, "folds");
  EXPECT_EQ(job.watch, "lamp");
  try {
    start();
    ADD_FAILURE() << "two at a time";
  } catch (const TeachError& error) {
    EXPECT_EQ(error.problem(), TeachProblem::kTraining);
  }
  trainer_->cancel();
  EXPECT_EQ(trainer_->job()->state, State::kCancelled);
  start();
  EXPECT_EQ(trainer_->job()->state, State::kRunning) << "the next one may begin at once";
}

TEST_F(TrainerWithShell, TellsHowLongItStillTakes) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  with("exec cat " + pipe);
  start();
  EXPECT_FALSE(trainer_->job()->left);
  std::ofstream lines(pipe);
  const auto tell = [&](double done, std::chrono::seconds at) {
    now_ = at;
    lines << to_text(TrainingNews{static_cast<float>(done), "folds"}) << std::endl;
    return wait_for([done](const TeachJob& job) {
      return job.step == "folds" && job.done == static_cast<float>(done);
    });
  };
  EXPECT_FALSE(tell(0, std::chrono::seconds(5)).left) << "nothing is done";
  EXPECT_EQ(tell(0.25, std::chrono::seconds(15)).left, std::chrono::seconds(30));
  now_ = std::chrono::seconds(20);
  EXPECT_EQ(trainer_->job()->left, std::chrono::seconds(25));
  trainer_->cancel();
  EXPECT_FALSE(trainer_->job()->left);
  with("exec sleep 1000");
  start();
  EXPECT_FALSE(trainer_->job()->left) << "of the one before";
}

TEST_F(TrainerWithShell, WhatGoesWrongIsASentence) {
  with(R"(echo '{"done":0.1,"step":"pictures",)"
       R"("failure":{"code":"no_base","sentence":"there is no base"}}')");
  start();
  const TeachFailure told = end().failure;
  EXPECT_EQ(told.sentence, "there is no base");
  EXPECT_EQ(told.code, "no_base");
  with("echo 'it has no memory' >&2; kill -9 $$");
  start();
  TeachJob job = end();
  EXPECT_EQ(job.state, State::kFailed);
  EXPECT_THAT(job.failure.sentence, HasSubstr("Killed (signal 9): it has no memory"));
  EXPECT_EQ(job.failure.code, "ended");
  with("echo nonsense");
  start();
  EXPECT_THAT(end().failure.sentence, HasSubstr("exit status 0"));
  trainer_ = std::make_unique<TaughtTrainer>(
      TaughtTrainerOptions{folder_.path(), {"/nowhere/lookout"}, "", [] {}});
  start();
  // Under an emulator posix_spawn() leaves a child that ends with 127.
  EXPECT_THAT(end().failure.sentence,
              AnyOf(HasSubstr("No such file"), HasSubstr("exit status 127")));
  EXPECT_FALSE(trainer_->models("lamp").trained);
}

TEST_F(TrainerWithShell, OneThatTellsNothingAnyMoreIsEnded) {
  with(R"(echo '{"done":0.5,"step":"folds"}'; exec sleep 1000)", std::chrono::milliseconds(50));
  start();
  const TeachJob job = end();
  EXPECT_EQ(job.state, State::kFailed);
  EXPECT_EQ(job.failure.code, "no_answer");
  start();  // the next one may begin
  EXPECT_EQ(end().state, State::kFailed);
}

TEST_F(TrainerWithShell, TooFewPicturesAreRefused) {
  with("exit 0");
  try {
    start(4);
    ADD_FAILURE();
  } catch (const TeachError& error) {
    EXPECT_EQ(error.problem(), TeachProblem::kTooFewPictures);
  }
  EXPECT_FALSE(trainer_->job());
}

TEST_F(TrainerWithShell, KeepsTheModelAndTheRunIsToldToUseIt) {
  with(script_of_model());
  start();
  EXPECT_EQ(end().state, State::kDone);
  EXPECT_EQ(trainer_->job()->done, 1);
  ASSERT_TRUE(trainer_->models("lamp").trained);
  EXPECT_EQ(reloads_, 0);
  trainer_->use("lamp", sha256_);
  EXPECT_EQ(reloads_, 1);
  EXPECT_EQ(trainer_->models("lamp").used->sha256, sha256_);
  trainer_->retire("lamp");
  EXPECT_EQ(reloads_, 2);
  EXPECT_FALSE(trainer_->models("lamp").used);
  trainer_->restore("lamp");
  EXPECT_EQ(reloads_, 3);
  trainer_->restore("lamp");
  trainer_->rename("lamp", "");
  EXPECT_EQ(reloads_, 3) << "the run has it so already";
  EXPECT_THROW(trainer_->use("lamp", "0"), TeachError);
}

TEST_F(TrainerWithShell, AModelOfAnotherRectangleIsNotComparedByPicturesOfThisOne) {
  const std::string order = folder_ / "order";
  with("cat >" + order + "; " + script_of_model());
  start();
  ASSERT_EQ(end().state, State::kDone);
  trainer_->use("lamp", sha256_);
  start();
  end();
  EXPECT_EQ(parse_order(read_file(order)).value().in_use, folder_.path() / "models/lamp/0001.head");
  TaughtWatch moved = kLamp;
  moved.roi = {0, 0, 0.5, 1};
  start(5, moved);
  end();
  EXPECT_EQ(parse_order(read_file(order)).value().in_use, "");
}

// Its process has told of its model, and has not ended yet.
TEST_F(TrainerWithShell, OneThatIsCancelledAtItsEndLeavesNoModel) {
  with(script_of_model() + "exec >&-; : >" + (folder_ / "told") + "; while ! [ -e " +
       (folder_ / "may-end") + " ]; do sleep 0.01; done");
  start();
  while (!std::filesystem::exists(folder_ / "told") || trainer_->job()->done < 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  trainer_->cancel();
  folder_.write("may-end", "");
  EXPECT_EQ(trainer_->job()->state, State::kCancelled);
  trainer_.reset();  // waits for its thread
  EXPECT_FALSE(TaughtModelStore(folder_.path() / "models").models("lamp").trained);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "models/lamp/0001.head"));
}

class PreviewerWithShell : public testing::Test {
 protected:
  void with(const std::string& script) { start({"/bin/sh", "-c", script}); }
  void start(const std::vector<std::string>& command) {
    previewer_ = std::make_unique<TaughtPreviewer>(command);
  }
  void look(const std::string& watch = "lamp") {
    TrainingOrder order;
    order.watch.name = watch;
    previewer_->look(order, cv::Mat(2, 3, CV_8UC3, cv::Scalar(1, 2, 3)));
  }
  // The first one after looks from now on.
  TeachLook newest() {
    for (;;) {
      look();
      if (const auto newest = previewer_->newest("lamp")) return *newest;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  TempDir folder_;
  std::unique_ptr<TaughtPreviewer> previewer_;
};

const std::string kAnswer =  // of a shell
    R"(echo '{"label":"on","similarity":0.75,"lead":0.5,"missing":2}')";

TEST_F(PreviewerWithShell, ItsProcessGetsOrdersAndPictures) {
  with("read -r line; [ -e " + (folder_ / "frame") + " ] || { cat <&3 >" + (folder_ / "order") +
       "; cat <&4 >" + (folder_ / "frame") + "; }; " + kAnswer);
  EXPECT_FALSE(previewer_->newest("lamp"));
  const TeachLook look = newest();
  EXPECT_EQ(look.failure.sentence, "");
  ASSERT_TRUE(look.preview);
  EXPECT_EQ(look.preview->label, "on");
  EXPECT_EQ(look.preview->lead, 0.5F);
  EXPECT_EQ(look.missing, 2U);
  EXPECT_FALSE(previewer_->newest("gate")) << "it was not looked at";
  previewer_.reset();
  const auto order = parse_order(read_file(folder_ / "order"));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->frame, cv::Size(3, 2));
  EXPECT_EQ(read_file(folder_ / "frame").substr(0, 6), "\1\2\3\1\2\3");
}

TEST_F(PreviewerWithShell, AProcessThatHasEndedStartsAgain) {
  with("echo begun >>" + (folder_ / "starts") + "; read -r line; " + kAnswer);
  EXPECT_TRUE(newest().preview);
  while (read_file(folder_ / "starts") == "begun\n") look();
  EXPECT_EQ(previewer_->newest("lamp")->failure.sentence, "");
}

TEST_F(PreviewerWithShell, WhatGoesWrongIsASentence) {
  with("read -r line; echo nonsense");
  EXPECT_EQ(newest().failure.sentence, "the preview answers nonsense");
  with("read -r line; echo 'it has no memory' >&2; kill -9 $$");
  EXPECT_THAT(newest().failure.sentence, HasSubstr("Killed (signal 9): it has no memory"));
  start({"/nowhere/lookout"});
  EXPECT_THAT(newest().failure.sentence,
              AnyOf(HasSubstr("No such file"), HasSubstr("exit status 127")));
}

TEST_F(PreviewerWithShell, EndsAProcessThatDoesNotAnswer) {
  with("echo begun >" + (folder_ / "starts") + "; exec sleep 1000");
  look();
  while (!std::filesystem::exists(folder_ / "starts")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  previewer_->stop();
  while (!previewer_->newest("lamp")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(previewer_->newest("lamp")->failure.sentence, "");
  look();
}

}  // namespace
}  // namespace lookout
