#include "platform/teach/taught_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "pipeline/core/sha256.h"
#include "pipeline/training/head_file.h"
#include "tests/support/heads.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

class TaughtModelsOnDisk : public testing::Test {
 protected:
  // As a training does. Returns the model's SHA-256.
  std::string train(const std::string& watch = "gate") {
    HeadFile head = small_head(4);
    head.model.head.biases[0] = static_cast<float>(++trained_);
    const std::string bytes = write_head(head);
    const fs::path file = store_.next_head(watch);
    std::ofstream(file, std::ios::binary) << bytes;
    TaughtReport report;
    report.model.sha256 = sha256(bytes);
    report.model.classes = {"open", "closed"};
    report.title = "The gate";
    report.roi = {0.25, 0.5, 0.5, 0.25};
    store_.keep(watch, file, report);
    return report.model.sha256;
  }
  std::string used() const {
    const auto models = store_.models("gate");
    return models.used ? models.used->sha256 : "";
  }
  std::vector<std::string> kept_models() const {
    std::vector<std::string> kept;
    for (const TaughtModel& model : store_.models("gate").kept) kept.push_back(model.sha256);
    return kept;
  }
  std::string previous() const {
    const auto models = store_.models("gate");
    return models.previous ? models.previous->sha256 : "";
  }

  TempDir folder_;
  TaughtModelStore store_{folder_.path() / "models"};
  int trained_ = 0;
};

TEST_F(TaughtModelsOnDisk, BeginWithNone) {
  const TaughtModels models = store_.models("gate");
  EXPECT_FALSE(models.used || models.previous || models.trained);
  EXPECT_THAT(store_.in_use(), IsEmpty());
  store_.retire("gate");
  EXPECT_THROW(store_.use("gate", "0"), TeachError);
  EXPECT_THROW(store_.models("../gate"), TeachError);
}

TEST_F(TaughtModelsOnDisk, AreUsedAndPutBack) {
  const std::string first = train();
  EXPECT_EQ(store_.models("gate").trained->sha256, first);
  EXPECT_EQ(used(), "") << "nobody said so";
  store_.use("gate", first);
  const std::string second = train();
  EXPECT_EQ(used(), first);
  store_.use("gate", second);
  EXPECT_EQ(used(), second);
  EXPECT_EQ(previous(), first);
  store_.use("gate", first);
  EXPECT_EQ(used(), first);
  EXPECT_EQ(previous(), second);
}

TEST_F(TaughtModelsOnDisk, TheRunGetsWhatIsInUse) {
  store_.use("gate", train());
  train("lamp");
  const auto runs = store_.in_use();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].watch, "gate");
  EXPECT_EQ(runs[0].title, "The gate");
  EXPECT_EQ(runs[0].roi, cv::Rect2d(0.25, 0.5, 0.5, 0.25));
  EXPECT_EQ(runs[0].problem, "");
  EXPECT_EQ(sha256(read_file(runs[0].head)), used());
}

TEST_F(TaughtModelsOnDisk, AWatchThatComesBackUsesWhatItUsed) {
  const std::string first = train();
  const std::string second = train();
  store_.use("gate", first);
  store_.use("gate", second);
  store_.retire("gate");
  store_.retire("gate");
  EXPECT_THAT(store_.in_use(), IsEmpty());
  for (std::size_t i = 0; i < TaughtModelStore::kKept; ++i) train();
  EXPECT_TRUE(store_.restore("gate"));
  EXPECT_FALSE(store_.restore("gate")) << "the run has it already";
  EXPECT_EQ(used(), second);
  EXPECT_EQ(previous(), first);
  EXPECT_EQ(store_.in_use()[0].problem, "");
  EXPECT_FALSE(store_.restore("lamp")) << "it used none";
  EXPECT_THAT(store_.in_use(), SizeIs(1));
}

TEST_F(TaughtModelsOnDisk, ANewWatchHasNoModelOfAFormerOne) {
  store_.use("gate", train());
  store_.use("lamp", train("lamp"));
  store_.retire("gate");
  store_.begin("gate");
  const TaughtModels models = store_.models("gate");
  EXPECT_FALSE(models.used || models.previous || models.trained);
  store_.restore("gate");
  EXPECT_EQ(used(), "");
  store_.begin("yard");
  EXPECT_THAT(store_.in_use(), SizeIs(1)) << "others keep theirs";
}

// As when the library was lost, and the run could not load the model.
TEST_F(TaughtModelsOnDisk, ANewWatchTakesNoModelThatIsInUse) {
  const auto refused = [this] {
    try {
      store_.begin("gate");
      return false;
    } catch (const TeachError& error) {
      EXPECT_EQ(error.about(), "gate");
      return error.problem() == TeachProblem::kWatchExists;
    }
  };
  const std::string first = train();
  store_.use("gate", first);
  EXPECT_TRUE(refused());
  EXPECT_EQ(used(), first);
  EXPECT_EQ(store_.in_use()[0].problem, "");
  std::ofstream(folder_.path() / "models/gate/current") << "{";
  EXPECT_TRUE(refused()) << "nobody knows what is in use";
  EXPECT_TRUE(store_.models("gate").trained);
}

// As it was written before retire() kept what was in use.
TEST_F(TaughtModelsOnDisk, AnOlderChoiceIsRead) {
  const std::string sha256 = train();
  store_.use("gate", sha256);
  std::ofstream(folder_.path() / "models/gate/current")
      << R"({"used":{"number":1,"sha256":")" << sha256 << R"("},"previous":null})";
  EXPECT_EQ(used(), sha256);
}

TEST_F(TaughtModelsOnDisk, TheRunGetsTheTitleThatTheWatchHasNow) {
  EXPECT_FALSE(store_.rename("gate", "Gate")) << "there is nothing to rename";
  const std::string first = train();
  EXPECT_FALSE(store_.rename("gate", "Front gate")) << "none is in use";
  store_.use("gate", first);
  EXPECT_EQ(store_.in_use()[0].title, "Front gate");
  EXPECT_TRUE(store_.rename("gate", ""));
  EXPECT_FALSE(store_.rename("gate", ""));
  store_.retire("gate");
  store_.restore("gate");
  EXPECT_EQ(store_.in_use()[0].title, "");
  EXPECT_EQ(store_.in_use()[0].roi, cv::Rect2d(0.25, 0.5, 0.5, 0.25));
}

TEST_F(TaughtModelsOnDisk, ATitleThatTheRunHasAlreadyChangesNothing) {
  store_.use("gate", train());
  EXPECT_FALSE(store_.rename("gate", "The gate")) << "as of the training";
  EXPECT_TRUE(store_.rename("gate", "Front gate"));
  EXPECT_EQ(store_.in_use()[0].title, "Front gate");
}

TEST_F(TaughtModelsOnDisk, ADamagedOneIsTold) {
  const std::string first = train();
  store_.use("gate", first);
  const fs::path head = store_.used_head("gate");
  fs::resize_file(head, fs::file_size(head) - 1);
  ASSERT_THAT(store_.in_use(), SizeIs(1));
  EXPECT_THAT(store_.in_use()[0].problem, HasSubstr("damaged"));
  store_.use("gate", train());
  EXPECT_EQ(store_.in_use()[0].problem, "");
  EXPECT_THROW(store_.use("gate", first), TeachError);
  std::ofstream(head.parent_path() / "current") << "{";
  EXPECT_THAT(store_.in_use()[0].problem, HasSubstr("damaged"));
}

TEST_F(TaughtModelsOnDisk, OldOnesGoButForThoseInUse) {
  const std::string first = train();
  const std::string second = train();
  store_.use("gate", first);
  store_.use("gate", second);
  std::string last;
  for (std::size_t i = 0; i < 2 * TaughtModelStore::kKept; ++i) last = train();
  const fs::directory_iterator files(folder_.path() / "models/gate");
  EXPECT_EQ(std::distance(begin(files), end(files)), 2 * (TaughtModelStore::kKept + 2) + 1);
  EXPECT_EQ(used(), second);
  EXPECT_EQ(previous(), first);
  EXPECT_EQ(store_.models("gate").trained->sha256, last);
  const auto kept = kept_models();
  ASSERT_THAT(kept, SizeIs(TaughtModelStore::kKept + 2));
  EXPECT_EQ(kept.front(), last);
  EXPECT_EQ(kept[TaughtModelStore::kKept], second);
  EXPECT_EQ(kept.back(), first);
  store_.use("gate", first);
}

TEST_F(TaughtModelsOnDisk, EachThatIsKeptCanBeUsedAgain) {
  EXPECT_THAT(kept_models(), IsEmpty());
  std::vector<std::string> trained;
  for (int i = 0; i < 4; ++i) trained.insert(trained.begin(), train());
  EXPECT_EQ(kept_models(), trained);
  for (const std::string& model : trained) {
    store_.use("gate", model);
    EXPECT_EQ(used(), model);
    EXPECT_EQ(kept_models(), trained) << "their order is of the trainings";
  }
}

TEST_F(TaughtModelsOnDisk, ADamagedReportHidesItsModelAlone) {
  const std::string first = train();
  const std::string second = train();
  const std::string third = train();
  store_.use("gate", second);
  std::ofstream(folder_.path() / "models/gate/0002.json") << "{";
  EXPECT_THAT(kept_models(), testing::ElementsAre(third, first));
  EXPECT_EQ(used(), second);
  std::ofstream(folder_.path() / "models/gate/0003.json") << "";
  EXPECT_EQ(store_.models("gate").trained->sha256, first);
  std::ofstream(folder_.path() / "models/gate/current") << "{";
  EXPECT_THAT(kept_models(), testing::ElementsAre(first)) << "whatever is in use";
}

TEST_F(TaughtModelsOnDisk, ThoseOfWatchesThatAreGoneAreRemovedButForThoseInUse) {
  for (const std::string watch : {"gate", "lamp", "door"}) train(watch);
  store_.use("door", store_.models("door").trained->sha256);
  store_.keep_only({"lamp", "yard"});
  EXPECT_FALSE(fs::exists(folder_.path() / "models/gate"));
  EXPECT_TRUE(store_.models("lamp").trained);
  EXPECT_THAT(store_.in_use(), SizeIs(1));
  store_.retire("door");
  store_.keep_only({"lamp"});
  EXPECT_FALSE(fs::exists(folder_.path() / "models/door"));
}

TEST(TaughtReport, IsReadAsItWasWritten) {
  TaughtReport report;
  TaughtModel& model = report.model;
  model.sha256 = "ab";
  model.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'800'000'000'123));
  model.classes = {"Tür auf", "zu"};
  model.can_tell = true;
  model.all = {9, 12};
  model.night = {1, 2};
  model.interval = {0.5, 0.75};
  model.newest = 41;
  model.comparison = Comparison{{9, 11}, {7, 11}};
  model.confusions = {{"zu", "Tür auf", 20}};
  model.mistakes.resize(20, {7, "zu", "Tür auf", 0.5F});
  report.title = "\"";
  report.roi = {0, 0.5, 1, 0.5};
  const auto read = parse_report(to_text(report));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->model.time, model.time);
  EXPECT_EQ(read->model.classes, model.classes);
  EXPECT_EQ(read->model.interval->high, 0.75);
  EXPECT_EQ(read->model.newest, 41);
  EXPECT_EQ(read->model.comparison->trained.right, 9U);
  EXPECT_EQ(read->model.comparison->in_use.right, 7U);
  EXPECT_THAT(read->model.mistakes, SizeIs(12));
  EXPECT_EQ(read->model.mistakes[0].label, "zu");
  ASSERT_THAT(read->model.confusions, SizeIs(1));
  EXPECT_EQ(read->model.confusions[0].label, "zu");
  EXPECT_EQ(read->model.confusions[0].predicted, "Tür auf");
  EXPECT_EQ(read->model.confusions[0].pictures, 20U);
  EXPECT_EQ(read->title, "\"");
  EXPECT_EQ(read->roi, report.roi);
  EXPECT_EQ(read->model.roi, report.roi);
  std::string before = to_text(report);
  before.replace(before.find("\"trained\""), 9, "\"more\"");
  EXPECT_FALSE(parse_report(before).value().model.comparison) << "it was not fair";
  EXPECT_FALSE(parse_report("{}"));
  EXPECT_FALSE(parse_report(""));
}

}  // namespace
}  // namespace lookout
