// What trains for a page, with pictures as a library has them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "paths.h"
#include "pipeline/training/head_file.h"
#include "tests/app/train/taught_lamp.h"
#include "tests/support/program.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrainTaught : public TaughtLamp {};

TEST_F(TrainTaught, TheModelKnowsItsClasses) {
  draw(10);
  const TaughtModel model = train();
  EXPECT_THAT(model.classes, ElementsAre("on", "off")) << "in the order of the watch";
  EXPECT_TRUE(model.can_tell);
  EXPECT_EQ(model.all.pictures, 20U);
  EXPECT_GE(model.all.right, 18U);
  EXPECT_EQ(model.day.pictures + model.night.pictures, 20U);
  EXPECT_EQ(model.night.pictures, 4U);
  ASSERT_TRUE(model.interval);
  EXPECT_GT(model.interval->high, model.interval->low);
  EXPECT_FALSE(model.comparison);
  EXPECT_EQ(model.newest, 20);
  const HeadFile head = newest_head();
  EXPECT_EQ(head.model.labels, "off\non\nunknown\n");
  EXPECT_EQ(spec_of(head).name, "lamp-0001");
}

TEST_F(TrainTaught, TheSamePicturesGiveTheModelOfLookoutTrain) {
  draw(8);
  train();
  const std::string output = folder_ / "same.head";
  const std::string base = LOOKOUT_SELFTEST;
  const ProgramResult ran = run_lookout(
      {"train", classes_folder(), "-o", output, "--model", base, "--roi", "0.1,0.2,0.8,0.7"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const TrainedModel one = read_head(read_file(output)).model;
  const TrainedModel other = newest_head().model;
  EXPECT_EQ(one.labels, other.labels);
  EXPECT_EQ(one.classes, other.classes);
  EXPECT_EQ(one.head.weights, other.head.weights);
  EXPECT_EQ(one.detector.examples.values(), other.detector.examples.values());
  EXPECT_EQ(one.detector.threshold, other.detector.threshold);
}

TEST_F(TrainTaught, EmbeddingsAreComputedOnce) {
  draw(6);
  train();
  const HeadFile first = newest_head();
  for (const TaughtPicture& picture : pictures_) std::filesystem::remove(file(picture.number));
  train();
  const HeadFile second = newest_head();
  EXPECT_EQ(first.model.head.weights, second.model.head.weights);
  EXPECT_EQ(first.model.detector.threshold, second.model.detector.threshold);
  watch_.roi.width /= 2;
  start();
  const TeachJob job = end();
  EXPECT_EQ(job.state, TeachJob::State::kFailed) << "of another region there are none";
  EXPECT_THAT(job.failure.sentence, HasSubstr("has 0 pictures"));
  EXPECT_EQ(job.failure.code, "too_few");
}

TEST_F(TrainTaught, IsComparedWithTheModelInUse) {
  draw(12);
  const std::vector<TaughtPicture> all = pictures_;
  pictures_.resize(12);
  trainer_->use("lamp", train().sha256);
  EXPECT_FALSE(train().comparison) << "it has learned from all";
  pictures_ = all;
  const TaughtModel second = train();
  ASSERT_TRUE(second.comparison);
  EXPECT_EQ(second.comparison->trained.pictures, 12U);
  EXPECT_EQ(second.comparison->in_use.pictures, 12U);
  EXPECT_FALSE(trainer_->models("lamp").previous);
}

TEST_F(TrainTaught, WithoutABaseItSaysWhereOneIs) {
  make_trainer("");
  draw(5);
  start();
  const TeachJob job = end();
  EXPECT_EQ(job.state, TeachJob::State::kFailed);
  EXPECT_THAT(job.failure.sentence, HasSubstr("install the package lookout-base"));
  EXPECT_EQ(job.failure.code, "no_base");
  EXPECT_FALSE(trainer_->models("lamp").trained);
}

TEST_F(TrainTaught, EndsWhenItIsCancelledAndLeavesAllAsItWas) {
  draw(20);
  start();
  trainer_->cancel();
  EXPECT_EQ(trainer_->job()->state, TeachJob::State::kCancelled);
  trainer_.reset();
  make_trainer(LOOKOUT_SELFTEST);
  EXPECT_FALSE(trainer_->models("lamp").trained);
  EXPECT_EQ(train().all.pictures, 40U);
}

class PreviewTaught : public TaughtLamp {
 protected:
  cv::Mat picture(std::int64_t number) const { return cv::imread(file(number)); }
};

constexpr auto kKnowsAll = [](const TeachLook& look) {
  return look.missing == 0 || !look.failure.sentence.empty();
};

TEST_F(PreviewTaught, TellsWhichClassThePictureLooksLike) {
  draw(6);
  for (const std::int64_t number : {5, 8}) {
    const TeachLook look = look_until(picture(number), [&](const TeachLook& now) {
      return kKnowsAll(now) && (!now.preview || now.preview->label == pictures_[number - 1].label);
    });
    EXPECT_EQ(look.failure.sentence, "");
    ASSERT_TRUE(look.preview);
    EXPECT_GT(look.preview->lead, 0);
  }
}

TEST_F(PreviewTaught, TellsNothingOfFewerPicturesThanATrainingNeeds) {
  draw(4);
  const TeachLook look = look_until(picture(1), kKnowsAll);
  EXPECT_EQ(look.failure.sentence, "");
  EXPECT_FALSE(look.preview);
}

TEST_F(PreviewTaught, ATrainingAfterwardsComputesNoEmbeddings) {
  draw(6);
  look_until(picture(1), kKnowsAll);
  for (const TaughtPicture& picture : pictures_) std::filesystem::remove(file(picture.number));
  EXPECT_EQ(train().all.pictures, 12U);
}

TEST_F(PreviewTaught, KnowsAnotherRegionAnew) {
  draw(6);
  look_until(picture(1), kKnowsAll);
  watch_.roi = {0.2, 0.2, 0.6, 0.6};
  look_until(picture(1), [](const TeachLook& look) { return look.missing > 0; });
  EXPECT_TRUE(look_until(picture(1), kKnowsAll).preview);
}

TEST_F(PreviewTaught, WithoutABaseItSaysWhereOneIs) {
  make_trainer("");
  draw(5);
  EXPECT_THAT(look_until(picture(1), kKnowsAll).failure.sentence,
              HasSubstr("install the package lookout-base"));
}

TEST(TaughtCommands, AreNotForPeople) {
  const ProgramResult ran = run_lookout({"--help"});
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("-taught")));
  const ProgramResult wrong = run_lookout({"train-taught"});
  EXPECT_EQ(wrong.status, 64);
  EXPECT_THAT(wrong.out, HasSubstr("no command for people"));
}

}  // namespace
}  // namespace lookout
