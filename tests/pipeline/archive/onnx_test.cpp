// ONNX files without an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;

class OnnxFiles : public testing::Test {
 protected:
  ModelArchive write(const std::string& bytes) {
    directory_.write("model.onnx", bytes);
    return ModelArchive(directory_ / "model.onnx");
  }

  ModelSpec spec_of(const OnnxFile& file) {
    const ModelArchive archive = write(file.bytes());
    return read_spec(archive, read_contents(archive), labels_);
  }

  void expect_refused(const std::string& bytes, const testing::Matcher<std::string>& sentence) {
    const ModelArchive archive = write(bytes);
    try {
      read_spec(archive, read_contents(archive), labels_);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(archive.path().string()), sentence));
    }
  }
  void expect_refused(const OnnxFile& file, const testing::Matcher<std::string>& sentence) {
    expect_refused(file.bytes(), sentence);
  }

  TempDir directory_;
  std::optional<std::vector<std::string>> labels_;
};

TEST_F(OnnxFiles, AreRecognisedByTheirContentWhateverTheyAreCalled) {
  directory_.write("model.pt", OnnxFile::sums_of_planes().bytes());
  EXPECT_EQ(ModelArchive(directory_ / "model.pt").engine(), Engine::kOnnxRuntime);
  EXPECT_EQ(write("PK").engine(), Engine::kTorch);
  EXPECT_EQ(write("").engine(), Engine::kTorch);
}

TEST_F(OnnxFiles, TellWhatIsInThem) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.after = {"Softmax"};
  const ModelArchive archive = write(file.bytes());
  const ArchiveContents contents = read_contents(archive);
  const OnnxContents& onnx = contents.onnx.value();
  EXPECT_EQ(onnx.opset, 13);
  EXPECT_EQ(onnx.producer, "test");
  EXPECT_EQ(onnx.activations, "float32");
  EXPECT_EQ(onnx.parameters, 12U * 3 + 3);
  EXPECT_EQ(onnx.weight_bytes, 4 * onnx.parameters);
  EXPECT_THAT(onnx.operators, ElementsAre(Pair("Flatten", 1), Pair("Gemm", 1), Pair("Softmax", 1)));
  ASSERT_EQ(onnx.inputs.size(), 1U);
  EXPECT_EQ(onnx.inputs[0].name, "image");
  EXPECT_EQ(onnx.inputs[0].type, "float");
  EXPECT_THAT(onnx.inputs[0].dims, ElementsAre(-1, 3, 2, 2));
  ASSERT_EQ(onnx.outputs.size(), 1U);
  EXPECT_EQ(onnx.outputs[0].name, "logits");
  EXPECT_EQ(contents.metadata, onnx_metadata(2, 2));
}

TEST_F(OnnxFiles, AreDescribedByTheirMetadata) {
  const ModelSpec spec = spec_of(OnnxFile::sums_of_planes().described());
  EXPECT_EQ(spec.name, "small");
  EXPECT_THAT(spec.labels, ElementsAre("red", "green", "blue"));
  EXPECT_EQ(spec.input.width, 2);
  EXPECT_EQ(spec.input.layout, TensorLayout::kPlanar);
}

TEST_F(OnnxFiles, WithoutMetadataHaveTheSizeOfTheirInput) {
  labels_ = {{"a", "b", "c"}};
  OnnxFile file = OnnxFile::sums_of_planes();
  file.input = {1, 20, 30, 3};
  const ModelSpec spec = spec_of(file);
  EXPECT_EQ(spec.name, "model");
  EXPECT_EQ(spec.input.height, 20);
  EXPECT_EQ(spec.input.width, 30);
  EXPECT_EQ(spec.input.layout, TensorLayout::kChannelsLast);
  EXPECT_FLOAT_EQ(spec.input.mean[0], 0.485F);
  file.input = {-1, 3, -1, -1};
  EXPECT_EQ(spec_of(file).input.width, 224);
}

TEST_F(OnnxFiles, WithoutMetadataNeedLabels) {
  expect_refused(OnnxFile::sums_of_planes(),
                 HasSubstr("has no lookout.metadata: give --labels FILE"));
  OnnxFile file = OnnxFile::sums_of_planes();
  file.texts = {{"lookout.metadata", onnx_metadata(2, 2)}};
  expect_refused(file, HasSubstr("has no lookout.labels"));
}

TEST_F(OnnxFiles, OfUltralyticsDescribeThemselves) {
  OnnxFile file = OnnxFile::sums_of_planes();
  file.input = {1, 3, 64, 32};
  file.texts = {{"task", "classify"},
                {"imgsz", "[64, 32]"},
                {"version", "8.3.1"},
                {"description", "Ultralytics YOLOv8n-cls model"},
                {"names", R"({0: 'tench', 1: "jack-o'-lantern", 2: 'it\'s "it"'})"}};
  const ModelSpec spec = spec_of(file);
  EXPECT_THAT(spec.labels, ElementsAre("tench", "jack-o'-lantern", "it's \"it\""));
  EXPECT_EQ(spec.input.height, 64);
  EXPECT_EQ(spec.input.width, 32);
  EXPECT_THAT(spec.input.mean, ElementsAre(0, 0, 0));
  EXPECT_THAT(spec.input.std, ElementsAre(1, 1, 1));
  EXPECT_EQ(spec.output, ModelOutput::kProbabilities);
  EXPECT_EQ(spec.weights, "Ultralytics YOLOv8n-cls model");
  EXPECT_EQ(spec.producer.at("ultralytics"), "8.3.1");
  labels_ = {{"a", "b", "c"}};
  EXPECT_THAT(spec_of(file).labels, ElementsAre("a", "b", "c"));
}

TEST_F(OnnxFiles, OfUltralyticsWithNamesThatCannotBeReadAreRefused) {
  OnnxFile file = OnnxFile::sums_of_planes();
  for (const char* names :
       {"", "{", "{0: 'a'", "{1: 'a'}", "{0: 'a' 1: 'b'}", "{0: a}", R"({0: 'a\)", R"({0: '\xg0'})",
        R"({0: '\U00110000'})", "{0: 'a', 2: 'b'}", "{0: ''}", "{0: None}", "[]", "names"}) {
    file.texts = {{"task", "classify"}, {"names", names}};
    expect_refused(file, AllOf(HasSubstr("its \"names\" "), EndsWith("; give --labels FILE")));
  }
  labels_ = {{"a", "b", "c"}};
  EXPECT_THAT(spec_of(file).labels, ElementsAre("a", "b", "c"));
}

TEST_F(OnnxFiles, OfUltralyticsHaveTheSizeOfTheirGraph) {
  OnnxFile file = OnnxFile::sums_of_planes();
  labels_ = {{"a", "b", "c"}};
  const char* const unreadable[] = {"[]",         "[224, 0]", "[224, 9999]",
                                    "['a', 'b']", "[",        "[1, 2, 3]"};
  for (const char* size : unreadable) {
    file.texts = {{"task", "classify"}, {"names", "{0: 'a'}"}, {"imgsz", size}};
    EXPECT_EQ(spec_of(file).input.width, 2) << size;
  }
  file.input = {-1, 3, -1, -1};
  for (const char* size : unreadable) {
    file.texts = {{"task", "classify"}, {"names", "{0: 'a'}"}, {"imgsz", size}};
    expect_refused(file, HasSubstr("its \"imgsz\" is not like [224, 224]; give --input-size"));
  }
  for (const char* size : {"64", "[64, 64]", "(64, 64)", "[64]", "(64,)"}) {
    file.texts = {{"task", "classify"}, {"names", "{0: 'a'}"}, {"imgsz", size}};
    EXPECT_EQ(spec_of(file).input.width, 64) << size;
    EXPECT_EQ(spec_of(file).input.height, 64) << size;
  }
}

TEST_F(OnnxFiles, OfOtherTasksAreRefusedWithTheirTask) {
  OnnxFile file = OnnxFile::sums_of_planes();
  for (const char* task : {"detect", "segment", "pose", "obb"}) {
    file.texts = {{"task", task}, {"names", "{0: 'a'}"}};
    const std::string sentence =
        std::string("is an Ultralytics model for ") + task + "; lookout runs classifiers";
    labels_.reset();
    expect_refused(file, EndsWith(sentence));
    labels_ = {{"a", "b", "c"}};
    expect_refused(file, EndsWith(sentence));
  }
  file.texts = {{"task", "semantic"}, {"author", "Ultralytics"}};
  expect_refused(file, HasSubstr("an Ultralytics model for semantic"));
  file.texts = {{"task", "image-classification"}};  // another program's
  EXPECT_EQ(spec_of(file).labels.size(), 3U);
}

TEST_F(OnnxFiles, WithAnotherSizeThanTheirMetadataAreRefused) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.input = {1, 3, 2, 5};
  expect_refused(file, EndsWith("its metadata says that the width is 2, but its input has 5"));
}

TEST_F(OnnxFiles, ThatTakeNoPictureAreRefused) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{},
                                                 {1, 3, 2},
                                                 {2, 3, 2, 2},
                                                 {1, 4, 2, 2},
                                                 {1, 3, 0, 2},
                                                 {1, 3, 9999, 2}}) {
    file.input = shape;
    expect_refused(file, HasSubstr("but a classifier takes floats [1, 3, height, width]"));
  }
  file.input = {1, 3, 2, 2};
  file.input_type = 7;
  expect_refused(file, HasSubstr("its input is int64 [1, 3, 2, 2], but"));
  file.input_type = 1;
  file.second_input = true;
  expect_refused(file, HasSubstr("it takes 2 inputs, but a classifier takes one"));
}

TEST_F(OnnxFiles, WithWeightsInOtherFilesAreRefused) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.external = "model.onnx.data";
  expect_refused(file, HasSubstr("its weights are in another file (external data)"));
}

TEST_F(OnnxFiles, ThatAreDamagedAreRefused) {
  const std::string whole = OnnxFile::sums_of_planes().described().bytes();
  expect_refused("\x08", HasSubstr("is no ONNX model that can be used (it is damaged or cut"));
  expect_refused("\x08\x08", HasSubstr("is no ONNX model that can be used (it has no graph)"));
  expect_refused(whole.substr(0, whole.size() / 2), HasSubstr("is no ONNX model that can be used"));
  // Every file that differs in one bit is read, or refused with a sentence.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      if (damaged[0] != '\x08') continue;
      const ModelArchive archive = write(damaged);
      try {
        read_spec(archive, read_contents(archive), labels_);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      }
    }
  }
}

}  // namespace
}  // namespace lookout
