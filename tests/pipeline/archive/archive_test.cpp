#include "pipeline/archive/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <minizip/zip.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "pipeline/core/error.h"
#include "pipeline/core/sha256.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const char* const kMetadata = R"({"name": "small", "input": {"width": 8, "height": 8,
  "mean": [0, 0, 0], "std": [1, 1, 1], "channel_order": "RGB"}, "quantization": "none",
  "producer": {}, "weights": "none", "trained": true})";

class Archive : public testing::Test {
 protected:
  using Members = std::map<std::string, std::string>;

  // What every archive has, and `members`.
  static Members with(const Members& members) {
    Members all{{"m/data.pkl", "x"}, {"m/constants.pkl", "x"}};
    all.insert(members.begin(), members.end());
    return all;
  }

  // Writes a ZIP file whose members are compressed, and returns its path.
  std::string zip(const Members& members) {
    std::string path = directory_ / "model.pt";
    void* file = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
    for (const auto& [name, content] : members) {
      zipOpenNewFileInZip64(file, name.c_str(), nullptr, nullptr, 0, nullptr, 0, nullptr,
                            Z_DEFLATED, Z_BEST_SPEED, 1);
      zipWriteInFileInZip(file, content.data(), static_cast<unsigned>(content.size()));
      zipCloseFileInZip(file);
    }
    zipClose(file, nullptr);
    return path;
  }

  template <typename Use>
  static void expect_refused(ErrorKind kind, const testing::Matcher<std::string>& sentence,
                             const Use& use) {
    try {
      use();
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_THAT(error.what(), sentence);
    }
  }

  TempDir directory_;
};

TEST_F(Archive, ItsTextsAndMembersAreReadWithoutLibTorch) {
  const ModelArchive archive(zip(with({{"m/extra/metadata.json", kMetadata},
                                       {"m/extra/labels.txt", "a\nb\n"},
                                       {"m/data/0", std::string(1000, 'w')}})));
  const ArchiveContents& contents = read_contents(archive);
  EXPECT_EQ(&read_contents(archive), &contents) << "they are read once";
  EXPECT_EQ(contents.members.size(), 5U);
  EXPECT_EQ(contents.members[2].name, "data/0");
  EXPECT_EQ(contents.members[2].bytes, 1000U);
  const ModelSpec spec = read_spec(archive, contents, {});
  EXPECT_EQ(spec.name, "small");
  EXPECT_EQ(spec.labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_spec(archive, contents, {{"c"}}).labels, std::vector<std::string>{"c"});
}

// LibTorch reads the folder of the first member.
TEST_F(Archive, WhatIsOutsideOfItsFolderIsNotItsText) {
  const ModelArchive archive(zip({{"a/constants.pkl", "x"},
                                  {"a/data.pkl", "x"},
                                  {"a/extra/labels.txt", "a\nb\n"},
                                  {"extra/labels.txt", "c\nd\n"}}));
  const ArchiveContents contents = read_contents(archive);
  EXPECT_EQ(contents.labels, "a\nb\n");
  EXPECT_EQ(contents.members.back().name, "../extra/labels.txt");
}

TEST_F(Archive, ATextThatUnpacksToMoreThanAMegabyteIsRefused) {
  for (const char* name : {"m/extra/metadata.json", "m/extra/labels.txt"}) {
    const ModelArchive archive(
        zip(with({{name, std::string(ArchiveContents::kMaxText + 1, ' ')}})));
    expect_refused(ErrorKind::kBadData,
                   AllOf(HasSubstr(archive.path().string()), HasSubstr("longer than 1 MB")),
                   [&archive] { read_contents(archive); });
  }
  const ModelArchive archive(zip(with({{"m/extra/notes", std::string(3 << 20, ' ')}})));
  EXPECT_EQ(read_contents(archive).members.size(), 3U);
}

TEST_F(Archive, AZipFileThatIsNoTorchScriptIsRefused) {
  expect_refused(ErrorKind::kBadData, HasSubstr("not a TorchScript archive"), [this] {
    read_contents(ModelArchive(zip({{"word/document.xml", "x"}})));
  });
  expect_refused(ErrorKind::kBadData, HasSubstr("has no constants.pkl"), [this] {
    read_contents(ModelArchive(zip({{"m/data.pkl", "x"}})));
  });
  expect_refused(ErrorKind::kBadData, HasSubstr("is not a TorchScript archive, nor an ONNX model"),
                 [this] { read_contents(ModelArchive(directory_.write("text.pt", "text"))); });
  expect_refused(ErrorKind::kBadData, HasSubstr("is empty"),
                 [this] { read_contents(ModelArchive(directory_.write("empty.pt", ""))); });
}

TEST_F(Archive, ADamagedMemberIsNamedInPrintableCharacters) {
  std::string content;
  for (int i = 0; i < 1000; ++i) content += std::to_string(i * i);
  const std::string name = "m\x1b/extra/metadata.json";
  const std::string path =
      zip({{"m\x1b/constants.pkl", "x"}, {"m\x1b/data.pkl", "x"}, {name, content}});
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto place = bytes.find(name) + name.size() + 1000;  // in its data
  bytes[place] = static_cast<char>(bytes[place] ^ 0x55);
  expect_refused(ErrorKind::kBadData, HasSubstr("holds a damaged m?/extra/metadata.json"),
                 [&] { read_contents(ModelArchive(directory_.write("damaged.pt", bytes))); });
}

TEST_F(Archive, WhatIsNoFileIsRefused) {
  expect_refused(ErrorKind::kNoInput, HasSubstr("no such model"),
                 [] { ModelArchive("/no/such/model.pt"); });
  expect_refused(ErrorKind::kBadData, HasSubstr("is not a file"),
                 [this] { ModelArchive(directory_.path()); });
  const std::string fifo = directory_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_refused(ErrorKind::kBadData, HasSubstr("is not a file"),
                 [&fifo] { ModelArchive archive(fifo); });
  const std::string large = directory_.write("large.pt", "");
  std::filesystem::resize_file(large, ModelArchive::kMaxBytes + 1);
  expect_refused(ErrorKind::kBadData, HasSubstr("larger than 2 GB"),
                 [&large] { ModelArchive archive(large); });
}

TEST_F(Archive, OnlyOneWithAListedHashIsAccepted) {
  const std::string path = directory_.write("model.pt", "abc");
  const ModelArchive archive(path);
  const std::string hash = sha256("abc");
  std::string upper = hash;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  const std::string other(64, '0');
  archive.require_sha256({});
  archive.require_sha256({other, hash});
  archive.require_sha256({upper});
  expect_refused(ErrorKind::kBadData, AllOf(HasSubstr(path), HasSubstr(hash)),
                 [&] { archive.require_sha256({other}); });
}

TEST_F(Archive, WhatWasHashedIsWhatIsReadThoughTheFileChanges) {
  const std::string path = directory_.write("model.pt", "abc");
  const ModelArchive archive(path);
  directory_.write("model.pt", "xyz");
  EXPECT_EQ(archive.bytes(), "abc");
  EXPECT_EQ(archive.sha256(), sha256("abc"));
}

TEST_F(Archive, ClassIdsBelongToTheOutputs) {
  const auto spec = [this](const std::string& ids) {
    const ModelArchive archive(zip(with({{"m/extra/metadata.json", kMetadata},
                                         {"m/extra/labels.txt", "cat\ndog\n"},
                                         {"m/extra/class_ids.txt", ids}})));
    return read_spec(archive, read_contents(archive), std::nullopt);
  };
  EXPECT_EQ(spec("n1\nn2\n").class_ids, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_TRUE(spec("").class_ids.empty());
  expect_refused(ErrorKind::kBadData, AllOf(HasSubstr("class_ids.txt"), HasSubstr("1 lines")),
                 [&] { spec("n1\n"); });
}

}  // namespace
}  // namespace lookout
