#include "app/dataset/class_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "app/dataset/eval_set.h"
#include "app/train/train_pictures.h"
#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ClassFolders : public testing::Test {
 protected:
  // A file whose content is its name, so that no two are the same picture.
  void put(const std::string& path) const {
    fs::create_directories((folder_.path() / path).parent_path());
    folder_.write(path, path);
  }
  // As many pictures as a class needs.
  void put_class(const std::string& path) const {
    for (std::size_t i = 0; i < kMinPictures; ++i) put(path + "/" + std::to_string(i) + ".jpg");
  }
  void put_classes(const std::string& part) const {
    for (const char* name : {"/ants", "/bees"}) put_class(part + name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const ClassFolder& folder : read_class_folders(root_)) found.push_back(folder.name);
    return found;
  }
  EvalSet eval_set() const { return read_eval_set(root_, "", {"ants", "bees"}); }
  TrainFolder train_folder() const { return read_train_pictures(root_, ""); }
  static std::vector<std::size_t> labels_of(const TrainPictures& set) {
    std::vector<std::size_t> labels;
    for (const TrainPicture& picture : set.pictures) labels.push_back(picture.label);
    return labels;
  }

  const TempDir folder_;
  const std::string root_ = folder_.path().string();
};

TEST_F(ClassFolders, SystemFoldersAreLeftOutAtAnyLevelAndToldOnce) {
  put_classes(".");
  for (const char* name :
       {"@eaDir", "$RECYCLE.BIN", "#recycle", "__MACOSX", "lost+found", ".Trash-1000",
        "System Volume Information", "ants/@eaDir", "ants/more/@EADIR/1.jpg",
        "bees/.ipynb_checkpoints", "bees/__MACOSX", "bees/@Recycle"}) {
    put_class(name);
  }
  const CapturedLog log;
  EXPECT_THAT(names(), ElementsAre("ants", "bees"));
  const std::string told = log.text();
  EXPECT_THAT(told,
              EndsWith("folder " + root_ +
                       ": 8 system folders are left out: #recycle, $RECYCLE.BIN, @EADIR, @Recycle, "
                       "@eaDir, System Volume Information, __MACOSX, lost+found\n"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  EXPECT_THAT(eval_set().pictures, SizeIs(2 * kMinPictures));
  EXPECT_THAT(train_folder().train.pictures, SizeIs(2 * kMinPictures));
}

TEST_F(ClassFolders, EmptyFoldersAreLeftOutByTrainAndEval) {
  put_classes(".");
  fs::create_directories(folder_.path() / "wasps/old");
  put("notes/readme.txt");
  const CapturedLog log;
  EXPECT_EQ(train_folder().train.labels, (std::vector<std::string>{"ants", "bees"}));
  EXPECT_THAT(log.text(),
              HasSubstr("no pictures in folder " + folder_ / "wasps" + "; the class is left out"));
  EXPECT_THAT(eval_set().pictures, SizeIs(2 * kMinPictures));
}

TEST_F(ClassFolders, NamesThatLookAlikeAreTold) {
  const auto told = [](const std::vector<std::string>& names) {
    const CapturedLog log;
    warn_of_names_that_look_alike(names);
    return log.text();
  };
  EXPECT_EQ(told({"cat", "dog", "Katze"}), "");
  EXPECT_THAT(told({"Cat", "cat"}), HasSubstr("the classes 'Cat' and 'cat' look alike"));
  EXPECT_THAT(told({"Cafe\u0301", "Caf\u00e9"}), HasSubstr("how characters are encoded"));
  EXPECT_THAT(told({"cat", "cat "}), HasSubstr("look alike"));
  EXPECT_THAT(told({"cat", "ca\u200bt"}), HasSubstr("look alike"));  // zero width space
  EXPECT_THAT(told({"cat", "\uff43at"}), HasSubstr("look alike"));   // full width
  put_class("Cat");
  put_class("cat");
  const CapturedLog log;
  EXPECT_THAT(train_folder().train.labels, ElementsAre("Cat", "cat"));
  EXPECT_THAT(log.text(), HasSubstr("look alike"));
}

struct Names {
  const char* train;
  const char* val;
  const char* test;
};

class SplitNames : public ClassFolders, public testing::WithParamInterface<Names> {};

TEST_P(SplitNames, AreUsedAsWhatTheyAre) {
  const Names names = GetParam();
  for (const std::string part : {names.train, names.val, names.test}) put_classes(part);
  put_class("__MACOSX");
  const CapturedLog log;
  const TrainFolder read = train_folder();
  EXPECT_THAT(read.train.labels, ElementsAre("ants", "bees"));
  EXPECT_EQ(read.train.folder, folder_ / names.train);
  EXPECT_THAT(read.train.pictures, SizeIs(2 * kMinPictures));
  EXPECT_EQ(read.val.folder, folder_ / names.val);
  EXPECT_EQ(labels_of(read.val), labels_of(read.train));
  EXPECT_THAT(log.text(), HasSubstr("split: training with " + folder_ / names.train +
                                    ", measuring on " + folder_ / names.val + ", leaving " +
                                    folder_ / names.test + " for lookout eval"));
  EXPECT_EQ(eval_set().folder, folder_ / names.test);
  EXPECT_THAT(log.text(), HasSubstr("split: measuring on " + folder_ / names.test));
}

INSTANTIATE_TEST_SUITE_P(ClassFolders, SplitNames,
                         testing::Values(Names{"train", "val", "test"},
                                         Names{"Training", "VALID", "Testing"},
                                         Names{"TRAIN", "Validation", "test"},
                                         Names{"training_set", "eval", "test_set"}));

TEST_F(ClassFolders, EvalTakesTheValidationPartWithoutATestPart) {
  put_classes("train");
  put_classes("valid");
  fs::create_directories(folder_.path() / "test/ants");
  const CapturedLog log;
  EXPECT_EQ(eval_set().folder, folder_ / "valid");
}

TEST_F(ClassFolders, PartsWithoutClassesAreLeftOut) {
  put_classes("train");
  put("test/unlabelled.jpg");
  const CapturedLog log;
  EXPECT_THAT(train_folder().val.pictures, SizeIs(0));
  EXPECT_THAT(log.text(), HasSubstr(folder_ / "test" + " has no folders of classes"));
  expect_error(ErrorKind::kNoInput,
               HasSubstr("no part to test or validate with; name " + folder_ / "train"),
               [this] { eval_set(); });
}

TEST_F(ClassFolders, ASplitThatIsUnclearIsRefused) {
  put_classes("val");
  put_classes("test");
  expect_error(ErrorKind::kNoInput, HasSubstr("none to train with"), [this] { train_folder(); });
  put_classes("train");
  put_classes("valid");
  expect_error(ErrorKind::kBadData,
               HasSubstr(folder_ / "val" + " and " + folder_ / "valid" + " are the same part"),
               [this] { train_folder(); });
  fs::remove_all(folder_.path() / "valid");
  put("wasps/1.jpg");
  expect_error(ErrorKind::kBadData,
               HasSubstr("holds test, train, val of a split set, and wasps beside"),
               [this] { eval_set(); });
}

TEST_F(ClassFolders, ClassesBesideAPartOfThemAreRefused) {
  put_classes("train");
  put_classes(".");
  expect_error(ErrorKind::kBadData, HasSubstr("holds train of a split set, and ants beside"),
               [this] { train_folder(); });
}

TEST_F(ClassFolders, PartsWhosePicturesHaveNoClassAreRefused) {
  put_class("train");
  put_class("val");
  expect_error(ErrorKind::kBadData,
               HasSubstr("holds train, val of a split set, whose pictures are"),
               [this] { train_folder(); });
}

TEST_F(ClassFolders, AClassMayHaveTheNameOfAPart) {
  put_class("train/steam");
  put_class("car");
  put_class("bus/test");
  const CapturedLog log;
  EXPECT_THAT(train_folder().train.labels, ElementsAre("bus", "car", "train"));
  EXPECT_THAT(log.text(), Not(HasSubstr("split")));
}

TEST_F(ClassFolders, APictureOfTheTrainingIsNotMeasured) {
  put_classes("train");
  put_classes("val");
  fs::copy_file(folder_ / "train/ants/1.jpg", folder_ / "val/ants/again.jpg");
  const CapturedLog log;
  const TrainFolder read = train_folder();
  EXPECT_EQ(read.val.duplicates, 1U);
  EXPECT_THAT(read.val.pictures, SizeIs(2 * kMinPictures));
  fs::copy_file(folder_ / "train/ants/1.jpg", folder_ / "val/bees/wrong.jpg");
  expect_error(ErrorKind::kBadData, HasSubstr("the same picture is in two classes"),
               [this] { train_folder(); });
}

}  // namespace
}  // namespace lookout
