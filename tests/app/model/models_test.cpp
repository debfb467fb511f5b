#include "app/model/models.h"

#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;

TEST(Models, LabelsThatCannotBeUsedAreRefusedByName) {
  const TempDir directory;
  const std::string empty = directory.write("empty.txt", "");
  expect_error(ErrorKind::kBadData, HasSubstr(empty), [&empty] { read_labels(empty); });
  for (const std::string& path : {directory / "none.txt", directory.path().string()}) {
    expect_error(ErrorKind::kNoInput, HasSubstr(path), [&path] { read_labels(path); });
  }
}

TEST(Models, ArchiveAndLabelsAreOptional) {
  EXPECT_EQ(model_path("a/b.pt"), "a/b.pt");
  EXPECT_EQ(model_path("").parent_path().filename(), "lookout");
  EXPECT_FALSE(read_labels(""));
}

}  // namespace
}  // namespace lookout
