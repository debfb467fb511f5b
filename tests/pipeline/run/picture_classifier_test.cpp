#include "pipeline/run/picture_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "pipeline/run/plan.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

// A white picture whose right half is of this grey.
cv::Mat half_of(int value) {
  cv::Mat picture(16, 32, CV_8UC3, cv::Scalar::all(255));
  picture.colRange(16, 32).setTo(cv::Scalar::all(value));
  return picture;
}

// Two regions, "whole" and "right", with a model each, whose labels have its name. The watch "gate"
// looks at the first one, "lamp" and "sure" at the second.
class PictureClassifierTest : public testing::Test {
 protected:
  PictureClassifierTest() {
    Plan plan;
    plan.regions = {region("whole", {0, 0, 1, 1}), region("right", {0.5, 0, 0.5, 1})};
    plan.regions[1].view.rotation = 180;
    plan.regions[1].view.hflip = true;
    StateOptions slow;
    slow.smoothing = slow.min_duration = std::chrono::hours(1);
    StateOptions sure;
    sure.enter_threshold = 0.99F;
    plan.watches = {watch("gate", 0, {}), watch("lamp", 1, slow), watch("sure", 1, sure)};
    plan.top_k = 2;
    plan_ = std::make_shared<const Plan>(std::move(plan));
  }

  PipelineRegion region(const std::string& name, const cv::Rect2d& roi) {
    PipelineRegion region;
    region.classifiers.push_back(std::make_shared<Lent>(classifier_));
    ModelInfo info = model_info(classifier_.spec());
    info.name = name;
    for (std::string& label : info.labels) label.insert(0, name + " ");
    region.model = std::make_shared<ModelInfo>(std::move(info));
    region.view.roi = roi;
    return region;
  }

  static PipelineWatch watch(const std::string& name, std::size_t region,
                             const StateOptions& state) {
    return {std::make_shared<WatchInfo>(WatchInfo{name, {}}), region, state};
  }

  Result classify(const cv::Mat& picture, const std::string& name) const {
    PictureClassifier classifier(plan_, 0);
    ClassifiedFrame classified;
    classified.frame.bgr = picture;
    classifier.classify(name, classified);
    return classified.result;
  }

  FakeClassifier classifier_;
  PlanPtr plan_;
};

TEST_F(PictureClassifierTest, AWatchLooksAtItsRegionWithItsModel) {
  const Result result = classify(half_of(40), "lamp");
  EXPECT_EQ(result.top.front().label, "right value 40");
  EXPECT_EQ(result.top.size(), 2U);
  EXPECT_EQ(result.model->name, "right");
  EXPECT_EQ(result.watch, plan_->watches[1].info);
  EXPECT_EQ(classify(half_of(40), "gate").top.front().label, "whole value 255");
}

TEST_F(PictureClassifierTest, TheStateIsThatOfASceneWhichLasts) {
  EXPECT_EQ(classify(half_of(40), "lamp").state.name(), "right value 40");
  EXPECT_EQ(classify(half_of(40), "sure").state.name(), "unknown") << "no score is high enough";
}

TEST_F(PictureClassifierTest, WithoutAWatchTheFirstModelSeesAll) {
  const Result result = classify(half_of(40), "");
  EXPECT_EQ(result.top.front().label, "whole value 255");
  EXPECT_FALSE(result.watch);
  EXPECT_EQ(result.state.kind, SceneState::Kind::kNone);
}

TEST_F(PictureClassifierTest, ANameThatNoWatchHasIsRefusedWithThoseThatThereAre) {
  try {
    classify(half_of(40), "Gate");
    FAIL();
  } catch (const NoSuchWatch& error) {
    EXPECT_STREQ(error.what(), "there is no watch 'Gate': the watches are gate, lamp, sure");
  }
  EXPECT_EQ(no_watch_text({{nullptr, nullptr}}, "a\nb"),
            "there is no watch 'a\\nb': nothing that is watched has a name");
  EXPECT_EQ(no_watch_text({{nullptr, nullptr}}, std::string(100'000, 'x')).size(), 120U);
}

}  // namespace
}  // namespace lookout
