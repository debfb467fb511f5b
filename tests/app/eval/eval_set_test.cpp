#include "app/eval/eval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/eval/eval_result.h"
#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kLabels{
    "tench, Tinca tinca", "goldfish", "crane", "crane", "Siamese cat", "1", "n07745940 strawberry"};

std::size_t class_named(const std::string& name) { return class_of(name, kLabels, "folder f"); }

void expect_error(ErrorKind kind, const std::string& named, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(named));
  }
}

TEST(ClassOf, TheLabelItself) {
  EXPECT_EQ(class_named("goldfish"), 1U);
  EXPECT_EQ(class_named("tench, Tinca tinca"), 0U);
  EXPECT_EQ(class_named("1"), 5U) << "a label, although it is an index too";
}

TEST(ClassOf, ItsIndex) {
  EXPECT_EQ(class_named("0"), 0U);
  EXPECT_EQ(class_named("3"), 3U);
  EXPECT_EQ(class_named("004"), 4U);
}

TEST(ClassOf, AsImageNetsFilesAreCalled) {
  EXPECT_EQ(class_named("n01443537_goldfish"), 1U);
  EXPECT_EQ(class_named("n02123597_Siamese_cat"), 4U);
  EXPECT_EQ(class_named("n07745940"), 6U);
  EXPECT_EQ(class_named("tench"), 0U);
}

TEST(ClassOf, WhatIsNoneIsNamed) {
  expect_error(ErrorKind::kBadData, "folder f: 'dog' is none of the model's 7 labels",
               [] { class_named("dog"); });
  for (const char* name : {"7", "-1", "", "gold", "n01443537_gold", "goldfish "}) {
    expect_error(ErrorKind::kBadData, "is none of", [name] { class_named(name); });
  }
}

TEST(ClassOf, WhatIsMoreThanOneIsNamed) {
  expect_error(ErrorKind::kBadData, "'crane' means more than one label, 2 and 3: use the index",
               [] { class_named("crane"); });
  expect_error(ErrorKind::kBadData, "2 and 3", [] { class_named("n02012849_crane"); });
}

class EvalSetTest : public testing::Test {
 protected:
  void put(const std::string& path) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    folder_.write(path, "");
  }
  EvalSet read(const std::string& csv = "") const {
    return read_eval_set(folder_.path().string(), csv, kLabels);
  }

  TempDir folder_;
};

TEST_F(EvalSetTest, AFolderForEachClass) {
  put("goldfish/b10.jpg");
  put("goldfish/b9.png");
  put("goldfish/notes.txt");
  put("4/a.jpg");
  put(".hidden/a.jpg");
  put("loose.jpg");
  const EvalSet set = read();
  EXPECT_THAT(set.pictures, ElementsAre(folder_ / "4/a.jpg", folder_ / "goldfish/b9.png",
                                        folder_ / "goldfish/b10.jpg"));
  EXPECT_EQ(set.classes.at(folder_ / "4/a.jpg"), 4U);
  EXPECT_EQ(set.classes.at(folder_ / "goldfish/b9.png"), 1U);
}

TEST_F(EvalSetTest, FoldersThatAreNone) {
  expect_error(ErrorKind::kNoInput, "has no folders, one for each class", [this] { read(); });
  expect_error(ErrorKind::kNoInput, "/no/such", [] { read_eval_set("/no/such", "", kLabels); });
  expect_error(ErrorKind::kNoInput, "Not a directory",
               [this] { read_eval_set(folder_.write("file", ""), "", kLabels); });
  put("dog/a.jpg");
  expect_error(ErrorKind::kBadData, folder_ / "dog" + ": 'dog'", [this] { read(); });
  put("goldfish/x.txt");
  std::filesystem::remove_all(folder_ / "dog");
  expect_error(ErrorKind::kNoInput, "no pictures in folder", [this] { read(); });
}

TEST_F(EvalSetTest, AFileOfLabels) {
  const std::string csv = folder_.write(
      "l.csv", "file,label\nb.jpg,goldfish\n\"a,1.jpg\",\"tench, Tinca tinca\"\n/abs/c.jpg,4\n");
  const EvalSet set = read(csv);
  EXPECT_THAT(set.pictures, ElementsAre(folder_ / "b.jpg", folder_ / "a,1.jpg", "/abs/c.jpg"));
  EXPECT_EQ(set.classes.at(folder_ / "a,1.jpg"), 0U);
  EXPECT_EQ(set.classes.at("/abs/c.jpg"), 4U);
}

TEST_F(EvalSetTest, FilesOfLabelsThatAreNone) {
  const auto refused = [this](const std::string& text, ErrorKind kind, const std::string& named) {
    const std::string csv = folder_.write("l.csv", text);
    expect_error(kind, named, [&] { read(csv); });
  };
  refused("a.jpg,goldfish\nb.jpg,dog\n", ErrorKind::kBadData, "l.csv, line 2: 'dog'");
  refused("a.jpg\n", ErrorKind::kBadData, "l.csv, line 1: expected file,label");
  refused("a.jpg,tench, Tinca tinca\n", ErrorKind::kBadData, "line 1: expected file,label");
  refused("a.jpg,\"goldfish\n", ErrorKind::kBadData, "l.csv, line 1: a quote is not closed");
  refused("a.jpg,1\na.jpg,1\n", ErrorKind::kBadData, "line 2: a.jpg comes twice");
  refused("file,label\n", ErrorKind::kNoInput, "names no pictures");
  expect_error(ErrorKind::kNoInput, "/no/such.csv", [this] { read("/no/such.csv"); });
  expect_error(ErrorKind::kNoInput, "cannot be read", [this] { read(folder_.path().string()); });
}

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

TEST(EvalReport, Text) {
  EvalReport report;
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
  EXPECT_EQ(to_text(report),
            "fish (m.pt) on pictures, 4 pictures\n"
            "top-1   1 of 4, 25.00 %\n"
            "top-5   2 of 4, 50.00 %\n"
            "skipped 2, which could not be read\n"
            "most frequent confusions:\n"
            "     2  1 goldfish taken for 0 tench, Tinca tinca\n"
            "     1  1 goldfish taken for 4 Siamese cat\n"
            "20.0 pictures a second; ms p50/p95/p99/max: decode 0.0/0.0/0.0/0.0 preprocess "
            "0.0/0.0/0.0/0.0 inference 0.0/0.0/0.0/0.0 total 0.0/0.0/0.0/0.0\n");
}

TEST(EvalReport, APartOfTheSetDoesNotLookLikeAllOfIt) {
  EvalReport report;
  report.labels = kLabels;
  report.counts.record("a", 1, predictions({1, 0}));
  report.stats.skipped = 1;
  EXPECT_EQ(to_text(report).find("interrupted"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["complete"], true);
  report.missing = 3;
  EXPECT_THAT(to_text(report),
              HasSubstr("interrupted after 2 of 5 pictures\ntop-1   1 of 1, 100.00 %\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["complete"], false);
}

TEST(EvalReport, JsonHasMillisecondsToTheMicrosecond) {
  EvalReport report;
  report.labels = kLabels;
  report.stats.inference.p99 = std::chrono::nanoseconds(1'234'567);
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["latency_ms"]["inference"]["p99"], 1.235);
}

}  // namespace
}  // namespace lookout
