// The counts of an evaluation, and its report as text and JSON.
#include "app/eval/eval_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/report/report.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kLabels{
    "tench, Tinca tinca", "goldfish", "crane", "crane", "Siamese cat", "1", "n07745940 strawberry"};

std::vector<Prediction> predictions(const std::vector<std::size_t>& indices) {
  std::vector<Prediction> top;
  top.reserve(indices.size());
  for (const std::size_t index : indices) top.push_back({index, "", 0.1F});
  return top;
}

TEST(EvalCounts, TopOneTopFiveAndConfusions) {
  EvalCounts counts;
  counts.record("a", 1, predictions({1, 2, 3, 4, 5}));
  counts.record("b", 1, predictions({2, 3, 4, 5, 1}));
  counts.record("c", 1, predictions({2, 3, 4, 5, 6, 1}));
  counts.record("d", 0, predictions({4}));
  EXPECT_EQ(counts.pictures().size(), 4U);
  EXPECT_EQ(counts.top1(), 1U);
  EXPECT_EQ(counts.top5(), 2U) << "a sixth place does not count";
  const auto confusions = counts.confusions();
  ASSERT_EQ(confusions.size(), 2U);
  EXPECT_EQ(confusions[0].expected, 1U);
  EXPECT_EQ(confusions[0].predicted, 2U);
  EXPECT_EQ(confusions[0].count, 2U);
  EXPECT_EQ(confusions[1].expected, 0U);
}

TEST(EvalResult, Text) {
  EvalResult report;
  report.model = "fish";
  report.file = "m.pt";
  report.source = "pictures, 4 pictures";
  report.labels = kLabels;
  report.counts.record("a", 1, predictions({1, 0}));
  report.counts.record("b", 1, predictions({0, 1}));
  report.counts.record("c", 1, predictions({4, 0}));
  report.counts.record("d", 1, predictions({0, 2}));
  report.stats.skipped = 2;
  report.stats.classified_fps = 20;
  EXPECT_EQ(to_text(make_report(report)),
            "fish (m.pt) on pictures, 4 pictures\n"
            "2 of 6 pictures could not be read and are not counted.\n"
            "mean over classes 25.00 %, 1 class, top-1, 95 % interval 4.6 to 69.9 %\n"
            "top-1 accuracy    25.00 %, 1 of 4, 95 % interval 4.6 to 69.9 %\n"
            "top-5 accuracy    50.00 %, 2 of 4\n"
            "calibration error 15.0 %, ECE: score against accuracy\n"
            "inference         0.0 ms, median; 20.0 pictures a second\n"
            "\nMost frequent confusions\n"
            "class       taken for             pictures\n"
            "1 goldfish  0 tench, Tinca tinca         2\n"
            "1 goldfish  4 Siamese cat                1\n"
            "\nWorst classes\n"
            "            right\n"
            "class           %  right  pictures\n"
            "1 goldfish   25.0      1         4\n"
            "\nLatency: Milliseconds of each stage\n"
            "stage       p50  p95  p99  max\n"
            "decode      0.0  0.0  0.0  0.0\n"
            "preprocess  0.0  0.0  0.0  0.0\n"
            "inference   0.0  0.0  0.0  0.0\n"
            "total       0.0  0.0  0.0  0.0\n");
}

TEST(EvalResult, APartOfTheSetDoesNotLookLikeAllOfIt) {
  EvalResult report;
  report.labels = kLabels;
  report.counts.record("a", 1, predictions({1, 0}));
  report.stats.skipped = 1;
  EXPECT_EQ(to_text(make_report(report)).find("Interrupted"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(to_json(make_report(report)))["complete"], true);
  report.missing = 3;
  EXPECT_THAT(to_text(make_report(report)),
              AllOf(HasSubstr("\nInterrupted after 2 of 5 pictures.\n"),
                    HasSubstr("\ntop-1 accuracy    100.00 %, 1 of 1, ")));
  EXPECT_EQ(nlohmann::json::parse(to_json(make_report(report)))["complete"], false);
}

TEST(EvalResult, JsonHasMillisecondsToTheMicrosecond) {
  EvalResult report;
  report.labels = kLabels;
  report.stats.inference.p99 = std::chrono::nanoseconds(1'234'567);
  const auto json = nlohmann::json::parse(to_json(make_report(report)));
  EXPECT_EQ(json["latency_ms"]["inference"]["p99"], 1.235);
}

// Of class 0 two pictures, of 1 three and of 4 one; 2 and 3 are not in the set.
EvalResult three_classes() {
  EvalResult report;
  report.labels = kLabels;
  report.counts.record("a", 1, {{1, "", 0.95F}, {0, "", 0.05F}});
  report.counts.record("b", 1, {{1, "", 0.85F}, {0, "", 0.15F}});
  report.counts.record("c", 1, {{3, "", 0.55F}, {1, "", 0.45F}});
  report.counts.record("d", 0, {{1, "", 1}});
  report.counts.record("e", 0, {{1, "", 0.91F}});
  report.counts.record("f", 4, {{4, "", 0.09F}});
  return report;
}

TEST(EvalCounts, ClassesOfTheSet) {
  const auto classes = three_classes().counts.classes();
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].index, 0U);
  EXPECT_EQ(classes[0].pictures, 2U);
  EXPECT_EQ(classes[0].top1, 0U);
  EXPECT_EQ(classes[0].predicted, 0U);
  EXPECT_EQ(classes[1].index, 1U);
  EXPECT_EQ(classes[1].pictures, 3U);
  EXPECT_EQ(classes[1].top1, 2U);
  EXPECT_EQ(classes[1].top5, 3U);
  EXPECT_EQ(classes[1].predicted, 4U);
  EXPECT_EQ(classes[2].index, 4U);
  EXPECT_NEAR(*mean_class_percent(classes), (0 + 200.0 / 3 + 100) / 3, 1e-9);
  EXPECT_EQ(mean_class_percent({}), std::nullopt);
}

TEST(EvalCounts, TheWorstClassesAreThoseWithErrors) {
  const auto worst = worst_classes(three_classes().counts.classes());
  ASSERT_EQ(worst.size(), 2U);
  EXPECT_EQ(worst[0].index, 0U);
  EXPECT_EQ(worst[1].index, 1U);
  const auto equal = worst_classes({{7, 2, 1, 1, 0}, {8, 4, 2, 2, 0}});
  EXPECT_EQ(equal[0].index, 8U) << "more pictures say more";
}

TEST(EvalCounts, TheMatrixHasEveryClassThatOccurs) {
  const ConfusionMatrix matrix = three_classes().counts.matrix();
  EXPECT_THAT(matrix.classes, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(matrix.counts, ElementsAre(ElementsAre(0, 2, 0, 0), ElementsAre(0, 2, 1, 0),
                                         ElementsAre(0, 0, 0, 0), ElementsAre(0, 0, 0, 1)));
}

TEST(EvalCounts, ScoresAreComparedWithTheAccuracy) {
  const Calibration calibration = three_classes().counts.calibration();
  ASSERT_EQ(calibration.bins.size(), 10U);
  const CalibrationBin& last = calibration.bins[9];
  EXPECT_EQ(last.from, 0.9);
  EXPECT_EQ(last.to, 1);
  EXPECT_EQ(last.pictures, 3U) << "1 belongs to it";
  EXPECT_NEAR(last.mean_score, (0.95 + 1 + 0.91) / 3, 1e-6);
  EXPECT_NEAR(last.accuracy, 1.0 / 3, 1e-9);
  EXPECT_EQ(calibration.bins[0].pictures, 1U);
  EXPECT_EQ(calibration.bins[1].pictures, 0U);
  // 3 of 6 pictures are 0.62 off, and one each 0.15, 0.55 and 0.91.
  EXPECT_NEAR(*calibration.error, (2.86 - 1 + 0.15 + 0.55 + 0.91) / 6, 1e-6);
  EXPECT_EQ(EvalCounts().calibration().error, std::nullopt);
}

TEST(EvalResult, JsonHasClassesMatrixScoresAndCalibration) {
  const EvalResult classes = three_classes();
  const auto json = nlohmann::json::parse(to_json(make_report(classes)));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["classes"][1],
            nlohmann::json::parse(R"({"index":1,"label":"goldfish","pictures":3,"top1":2,)"
                                  R"("top5":3,"predicted":4,"top1_percent":66.66666666666667,)"
                                  R"("top5_percent":100.0,"precision_percent":50.0})"));
  EXPECT_TRUE(json["classes"][0]["precision_percent"].is_null()) << "it was never predicted";
  EXPECT_EQ(json["confusion_matrix"]["classes"], nlohmann::json::parse("[0,1,3,4]"));
  EXPECT_EQ(json["confusion_matrix"]["labels"][3], "Siamese cat");
  EXPECT_EQ(json["confusion_matrix"]["counts"][0], nlohmann::json::parse("[0,2,0,0]"));
  EXPECT_EQ(json["results"][2]["scores"], nlohmann::json::parse("[0.55,0.45]"));
  EXPECT_EQ(json["calibration"]["ece"], 0.5783);
  EXPECT_EQ(json["calibration"]["bins"][9]["pictures"], 3);
  EXPECT_TRUE(json["calibration"]["bins"][1]["accuracy"].is_null());
}

TEST(EvalResult, TheTablesFitTheTerminal) {
  EvalResult report;
  const std::string name = "köttbullar with mashed potatoes and lingonberries";
  report.labels = {name, name + " and cream"};
  report.counts.record("a", 0, predictions({1, 0}));
  const std::string wide = to_text(make_report(report));
  EXPECT_THAT(wide, HasSubstr("\n0 " + name + "  1 " + name + " and cream         1\n"));
  const std::string narrow = to_text(make_report(report), 60);
  EXPECT_THAT(narrow,
              HasSubstr("\n0 köttbullar with mashe…  1 köttbullar with mashe…         1\n"));
  EXPECT_THAT(narrow,
              HasSubstr("\n0 köttbullar with mashed potatoes a…    0.0      0         1\n"));
}

}  // namespace
}  // namespace lookout
