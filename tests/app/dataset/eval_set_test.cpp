#include "app/dataset/eval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kModelLabels{
    "tench, Tinca tinca", "goldfish", "crane", "crane", "Siamese cat", "1", "n07745940 strawberry"};

void expect_refused(ErrorKind kind, const std::string& named, const std::function<void()>& action) {
  expect_error(kind, HasSubstr(named), action);
}

class EvalSetTest : public testing::Test {
 protected:
  void put(const std::string& path) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    folder_.write(path, "");
  }
  EvalSet read(const std::string& csv = "") const {
    return read_eval_set(folder_.path().string(), csv, kModelLabels);
  }
  auto is_picture(const std::string& file, std::size_t label) const {
    return testing::AllOf(testing::Field(&LabelledPicture::file, folder_ / file),
                          testing::Field(&LabelledPicture::label, label));
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
  EXPECT_THAT(set.pictures, ElementsAre(is_picture("4/a.jpg", 4), is_picture("goldfish/b9.png", 1),
                                        is_picture("goldfish/b10.jpg", 1)));
}

TEST_F(EvalSetTest, FoldersThatAreNone) {
  expect_refused(ErrorKind::kNoInput, "has no folder for each class, such as ", [this] { read(); });
  expect_refused(ErrorKind::kNoInput, "/no/such",
                 [] { read_eval_set("/no/such", "", kModelLabels); });
  expect_refused(ErrorKind::kNoInput, "Not a directory",
                 [this] { read_eval_set(folder_.write("file", ""), "", kModelLabels); });
  put("dog/a.jpg");
  expect_refused(ErrorKind::kBadData, folder_ / "dog" + ": 'dog'", [this] { read(); });
}

TEST_F(EvalSetTest, AnEmptyClassIsLeftOut) {
  put("tench/notes.txt");
  const CapturedLog log;
  expect_refused(ErrorKind::kNoInput, "there are no pictures in the folders of",
                 [this] { read(); });
  put("goldfish/a.jpg");
  EXPECT_THAT(read().pictures, ElementsAre(is_picture("goldfish/a.jpg", 1)));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("no pictures in folder " + folder_ / "tench"),
                                HasSubstr("; the class is left out")));
}

TEST_F(EvalSetTest, AllUnknownFoldersAreTold) {
  for (const char* path : {"dog/a.jpg", "Gold fish/a.jpg", "crane/a.jpg", "4/a.jpg"}) put(path);
  const CapturedLog log;
  expect_refused(ErrorKind::kBadData,
                 "3 problems, nothing was measured; the first: folder " + folder_ / "Gold fish",
                 [this] { read(); });
  EXPECT_THAT(log.text(), HasSubstr("Gold fish: 'Gold fish' is none of the model's 7 labels, nor "
                                    "the index of one; did you mean goldfish?"));
  EXPECT_THAT(log.text(), HasSubstr("crane: 'crane' means more than one label"));
  EXPECT_THAT(log.text(), HasSubstr("dog: 'dog' is none of"));
}

TEST_F(EvalSetTest, AFileOfLabels) {
  for (const char* path : {"a,1.jpg", "b.jpg", "c.jpg"}) put(path);
  const std::string csv =
      folder_.write("l.csv", "file,label\nb.jpg,goldfish\n\"a,1.jpg\",\"tench, Tinca tinca\"\n" +
                                 folder_ / "c.jpg" + ",4\n");
  const EvalSet set = read(csv);
  EXPECT_THAT(set.pictures, ElementsAre(is_picture("b.jpg", 1), is_picture("a,1.jpg", 0),
                                        is_picture("c.jpg", 4)));
}

TEST_F(EvalSetTest, FilesOfLabelsThatAreNone) {
  put("a.jpg");
  put("b.jpg");
  const auto refused = [this](const std::string& text, ErrorKind kind, const std::string& named) {
    const std::string csv = folder_.write("l.csv", text);
    expect_refused(kind, named, [&] { read(csv); });
  };
  refused("a.jpg,goldfish\nb.jpg,dog\n", ErrorKind::kBadData, "l.csv, line 2: 'dog'");
  refused("a.jpg\n", ErrorKind::kBadData, "l.csv, line 1: expected file,label");
  refused("a.jpg,tench, Tinca tinca\n", ErrorKind::kBadData, "line 1: expected file,label");
  refused("a.jpg,\"goldfish\n", ErrorKind::kBadData, "l.csv, line 1: a quote is not closed");
  refused("a.jpg,1\na.jpg,1\n", ErrorKind::kBadData, "line 2: a.jpg comes twice");
  refused("file,label\n", ErrorKind::kNoInput, "names no pictures");
  refused("a.jpg,1\nz.jpg,1\n", ErrorKind::kNoInput,
          "line 2: picture " + folder_ / "z.jpg" + " cannot be read: No such file");
  expect_refused(ErrorKind::kNoInput, "/no/such.csv", [this] { read("/no/such.csv"); });
  expect_refused(ErrorKind::kNoInput, "cannot be read", [this] { read(folder_.path().string()); });
}

TEST_F(EvalSetTest, AWrongHeaderIsToldAsOne) {
  put("a.jpg");
  const auto refused = [this](const std::string& header) {
    const std::string csv = folder_.write("l.csv", header + "\na.jpg,goldfish\n");
    expect_refused(ErrorKind::kBadData,
                   "line 1: the header is " + header + "; expected file,label, or no header",
                   [&] { read(csv); });
  };
  refused("image,class");
  refused("path,class,split");
  refused("picture");
}

TEST_F(EvalSetTest, AllProblemsOfAFileAreTold) {
  put("a.jpg");
  const std::string csv =
      folder_.write("l.csv", "picture,class\na.jpg,goldfish\nz.jpg,dog\na.jpg, GOLDFISH \nb\n");
  const CapturedLog log;
  expect_refused(ErrorKind::kBadData,
                 "l.csv: 5 problems, nothing was measured; the first: ", [&] { read(csv); });
  EXPECT_THAT(log.text(), HasSubstr("line 1: the header is picture,class"));
  EXPECT_THAT(log.text(), HasSubstr("line 3: 'dog' is none of"));
  EXPECT_THAT(log.text(), HasSubstr("line 3: picture " + folder_ / "z.jpg"));
  EXPECT_THAT(log.text(), HasSubstr("line 4: a.jpg comes twice"));
  EXPECT_THAT(log.text(), HasSubstr("line 5: expected file,label"));
}

TEST_F(EvalSetTest, ManyProblemsAreCounted) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += std::to_string(i) + ".jpg,goldfish\n";
  const std::string csv = folder_.write("l.csv", text);
  const CapturedLog log;
  expect_refused(ErrorKind::kNoInput, "25 problems", [&] { read(csv); });
  EXPECT_THAT(log.text(), HasSubstr("and 5 more"));
  EXPECT_THAT(log.text(), Not(HasSubstr("line 21")));
}

}  // namespace
}  // namespace lookout
