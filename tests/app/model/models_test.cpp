#include "app/model/models.h"

#include <cstdlib>

#include "pipeline/core/sha256.h"
#include "tests/support/heads.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
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

// Files that are read and not run.
class Heads : public testing::Test {
 protected:
  void TearDown() override { unsetenv("STATE_DIRECTORY"); }

  static HeadFile head_of(const std::string& base) {
    HeadFile head = small_head(4);
    head.base = {"small", sha256(base), base.size()};
    return head;
  }

  NamedModel read(const std::vector<std::string>& hashes = {}) const {
    ModelOptions options;
    options.file = directory_ / "gate.head";
    options.base = named_;
    options.sha256 = hashes;
    return read_archive(options);
  }

  void expect_refused(ErrorKind kind, const std::string& why,
                      const std::vector<std::string>& hashes = {}) const {
    expect_error(kind, AllOf(HasSubstr("gate.head"), HasSubstr(why)), [&] { read(hashes); });
  }

  const std::string base_ = "PK, the bytes of a base";
  std::string named_;  // as the base
  TempDir directory_;
};

TEST_F(Heads, AreReadWithTheirBaseAmongTheInstalledModels) {
  const ModelArchive installed(model_path(""));
  const std::string bytes = write_head(head_of(std::string(installed.bytes())));
  const std::string file = directory_.write("gate.head", bytes);
  const NamedModel model = read();
  EXPECT_EQ(model.path, file);
  EXPECT_EQ(model.sha256(), sha256(bytes));
  EXPECT_EQ(model.bytes, bytes.size());
  EXPECT_EQ(model.archive.sha256(), installed.sha256());
  ASSERT_NE(model.head, nullptr);
  EXPECT_EQ(read_spec(model, std::nullopt, {}).labels.front(), "open");
}

// It would run, and whoever made the head can have made it.
TEST_F(Heads, DoNotRunABaseBesideThem) {
  directory_.write("gate.head", write_head(head_of(base_)));
  const std::string base = directory_.write("base.pt", base_);
  expect_refused(ErrorKind::kNoInput, "its base small is " + base +
                                          ", which is not taken by itself, since a base runs: if "
                                          "you trust it, name it with model.base");
  named_ = base;
  EXPECT_EQ(read().archive.path(), base);
}

TEST_F(Heads, TakeTheBaseThatIsNamed) {
  directory_.write("gate.head", write_head(head_of(base_)));
  const TempDir elsewhere;
  named_ = elsewhere.write("any.name", base_);
  EXPECT_EQ(read().archive.path(), named_);
}

TEST_F(Heads, OfAServiceKeepTheirBase) {
  const TempDir state;
  setenv("STATE_DIRECTORY", state.path().c_str(), 1);
  const ModelArchive installed(model_path(""));
  directory_.write("gate.head", write_head(head_of(std::string(installed.bytes()))));
  read();
  const std::string kept =
      state / ("models/" + installed.sha256() + installed.path().extension().string());
  EXPECT_EQ(read_file(kept), installed.bytes()) << "an upgrade may bring another one";

  directory_.write("gate.head", write_head(head_of(base_)));
  const std::string older = state.write("models/older.pt", base_);
  EXPECT_EQ(read().archive.path(), older) << "of a version that is no longer installed";
}

TEST_F(Heads, NeedTheirBase) {
  directory_.write("gate.head", write_head(head_of(base_)));
  expect_refused(ErrorKind::kNoInput,
                 "its base small, the file with the SHA-256 " + sha256(base_) +
                     ", is not in /usr/share/lookout, /usr/local/share/lookout, "
                     "/var/lib/lookout/models: put it there");
  named_ = directory_.write("other.pt", "PK, another");
  expect_refused(ErrorKind::kBadData, "is not its base small");
  named_ = directory_ / "none.pt";
  expect_error(ErrorKind::kNoInput, HasSubstr("no such model: " + named_), [this] { read(); });
}

TEST_F(Heads, AreRefusedWhenTheyAreDamaged) {
  named_ = directory_.write("base.pt", base_);
  std::string bytes = write_head(head_of(base_));
  directory_.write("gate.head", bytes.substr(0, bytes.size() - 1));
  expect_refused(ErrorKind::kBadData, "is a head that is cut or damaged");
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  directory_.write("gate.head", bytes);
  expect_refused(ErrorKind::kBadData, "is a head that is cut or damaged");
  directory_.write("gate.head", "lookout-head 1\n" + std::string(kMaxHeadBytes, ' '));
  expect_refused(ErrorKind::kBadData, "none is larger than 16 MB");
}

TEST_F(Heads, ComputeOnTheCpu) {
  directory_.write("gate.head", write_head(head_of(base_)));
  named_ = directory_.write("base.pt", base_);
  ModelOptions options;
  options.device.name = "meter";
  expect_error(ErrorKind::kUnsupported, HasSubstr("--device meter takes no head"),
               [&] { load_models(read(), options, {}); });
}

// The base is what runs: its hash is enough, and that of the head names it.
TEST_F(Heads, AreAcceptedByTheirHashOrTheirBases) {
  const std::string bytes = write_head(head_of(base_));
  directory_.write("gate.head", bytes);
  named_ = directory_.write("base.pt", base_);
  EXPECT_NE(read({sha256(bytes)}).head, nullptr);
  EXPECT_NE(read({sha256(base_)}).head, nullptr);
  expect_error(ErrorKind::kBadData, AllOf(HasSubstr("base.pt"), HasSubstr("model.sha256")),
               [this] { read({sha256("another")}); });
}

}  // namespace
}  // namespace lookout
