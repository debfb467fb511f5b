#include "app/train/train_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/report/report.h"

namespace lookout {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Pictures with given scores, as a cross-validation leaves them.
class TrainReportTest : public testing::Test {
 protected:
  TrainReportTest() {
    report_.labels = {"cat", "dog", "unknown"};
    report_.file = "pets.pt";
    report_.base = "base";
    report_.source = "pets";
  }

  // `count` pictures of a class that are taken for another with a score.
  void add(std::size_t count, std::size_t expected, std::size_t predicted, float score,
           std::size_t copies = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string file = "pets/" + std::to_string(report_.pictures.size()) + ".jpg";
      report_.pictures.push_back({file, expected, "", {}, 20});
      ValidatedPicture picture;
      picture.scores.assign(3, (1 - score) / 2);
      picture.scores[predicted] = score;
      picture.predicted = predicted;
      report_.validation.pictures.push_back(picture);
      if (i % copies == 0) {
        report_.scenes.sizes.push_back(copies);
        report_.scenes.fixed.push_back(false);
      }
      report_.scenes.scene_of.push_back(report_.scenes.sizes.size() - 1);
    }
  }

  json evaluated() {
    evaluate(report_);
    return json::parse(to_json(make_report(report_)));
  }

  TrainReport report_;
};

TEST_F(TrainReportTest, TheHeadlineIsTheMeanOverTheClasses) {
  add(100, 1, 1, 0.9F);
  add(2, 0, 0, 0.6F);
  add(6, 0, 1, 0.6F);
  const json accuracy = evaluated()["accuracy"];
  EXPECT_EQ(accuracy["mean_class_percent"], 62.5);
  EXPECT_LT(accuracy["mean_class_interval_percent"][0], 55);
  EXPECT_GT(accuracy["mean_class_interval_percent"][1], 72);
  EXPECT_NEAR(accuracy["percent"].get<double>(), 100 * 102.0 / 108, 1e-6);
  EXPECT_THAT(to_text(make_report(report_)),
              HasSubstr("\naccuracy          62.5 %, mean over the classes (95 % interval "));
  EXPECT_THAT(to_text(make_report(report_)), HasSubstr("; 102 of 108, 94.44 % of the pictures\n"));
  EXPECT_THAT(to_html(make_report(report_), ""), HasSubstr("62.5 %"));
  EXPECT_EQ(json::parse(producer_info(report_, ""))["accuracy"], accuracy);
}

TEST_F(TrainReportTest, AThresholdNeedsEnoughPicturesAboveIt) {
  add(2, 0, 0, 0.97F);
  add(40, 0, 0, 0.6F);
  add(40, 0, 1, 0.6F);
  add(5, 1, 1, 0.6F);
  const json report = evaluated();
  EXPECT_TRUE(report["threshold"].is_null());
  EXPECT_THAT(to_text(make_report(report_)), HasSubstr("No threshold for states is suggested"));
}

TEST_F(TrainReportTest, AThresholdSaysHowManyPicturesAreBehindIt) {
  add(116, 1, 1, 0.9F);
  add(1, 0, 1, 0.9F);
  add(9, 0, 1, 0.72F);
  const json threshold = evaluated()["threshold"];
  EXPECT_EQ(threshold["enter_threshold"], 0.75);
  EXPECT_EQ(threshold["pictures_above"], 117);
  EXPECT_NEAR(threshold["right_interval_percent"][0].get<double>(), 95.3, 0.1);
  EXPECT_THAT(to_text(make_report(report_)),
              HasSubstr("enter-threshold=0.75; 99.1 % of the 117 pictures above it are right (95 % "
                        "interval 95.3 to 99.8 %), 7.1 % lie below"));
}

TEST_F(TrainReportTest, NearCopiesAreNotManyPictures) {
  add(60, 0, 0, 0.95F, 10);
  add(60, 1, 1, 0.95F, 10);
  const json report = evaluated();
  EXPECT_TRUE(report["threshold"].is_null()) << "there are 12 different pictures";
  EXPECT_EQ(report["near_copies"], (json{{"pictures", 120}, {"scenes", 12}}));
  EXPECT_LT(report["accuracy"]["interval_percent"][0], 80);
}

TEST_F(TrainReportTest, ThresholdsOfClassesAreToldWhereTheyDiffer) {
  add(40, 0, 0, 0.6F);
  add(40, 1, 1, 0.9F);
  EXPECT_EQ(evaluated()["class_thresholds"], json::object());
  report_.counts = {};
  add(10, 0, 1, 0.72F);
  const json thresholds = evaluated()["class_thresholds"];
  EXPECT_EQ(thresholds["cat"]["enter_threshold"], 0.5);
  EXPECT_EQ(thresholds["dog"]["enter_threshold"], 0.75);
  EXPECT_THAT(to_text(make_report(report_)),
              HasSubstr("For the state dog alone, 0.75 would do: 100.0 % of the 40"));
}

TEST_F(TrainReportTest, TheCalibrationErrorIsThatOfEval) {
  add(3, 0, 0, 0.62F);
  add(1, 0, 1, 0.68F);
  add(2, 1, 1, 0.81F);
  const json report = evaluated();
  const double error = (std::abs(3 * 0.62 + 0.68 - 3) + 2 * (1 - 0.81)) / 6;
  EXPECT_NEAR(report["calibration"]["ece"].get<double>(), error, 1e-4);
  EXPECT_NEAR(*report_.counts.calibration().error, error, 1e-6);
  const std::string text = fmt::format("{:.1f}", 100 * error);
  EXPECT_THAT(to_text(make_report(report_)),
              HasSubstr("\ncalibration error " + text + " %, ECE; "));
  EXPECT_THAT(to_html(make_report(report_), ""), HasSubstr(text + " %"));
}

}  // namespace
}  // namespace lookout
