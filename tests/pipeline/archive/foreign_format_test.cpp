#include "pipeline/archive/foreign_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

// A field of a protobuf message that holds a text or a message.
std::string field(int tag, const std::string& content) {
  return std::string{static_cast<char>(tag << 3 | 2), static_cast<char>(content.size())} + content;
}

const std::string kLegacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

TEST(ForeignFormat, FilesAreNamedByTheirContent) {
  const std::string keras =
      field(4, "serve") + field(5, "2.15.0") + field(6, "v2.15.0-rc1");  // MetaInfoDef
  const std::string description = field(1, "image") + field(2, "a picture");
  const std::vector<std::pair<std::string, std::string>> files{
      {"\x1c\0\0\0TFL3"s + std::string(40, '\0'), "TensorFlow Lite model"},
      {"\x18\0\0\0TFL3"s, "tf2onnx.convert --tflite"},
      {"\x20\0\0\0ORTM"s + std::string(40, '\0'), "ONNX Runtime's own format"},
      {"\x89HDF\r\n\x1a\n"s + std::string(100, '\0') + "keras_version", "Keras model"},
      {"\x89HDF\r\n\x1a\n"s + std::string(100, '\0'), "HDF5 file"},
      {kLegacyMagic + "ccollections\nOrderedDict\n", "--weights FILE makes a model"},
      {kLegacyMagic + "c__main__\nNet\nX\x08\0\0\0_modules"s, "torch.jit.script(model.eval())"},
      {"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x07sklearn"s, "an object of Python (a pickle)"},
      {"\x08\x01"s + field(2, field(1, keras)), "TensorFlow's SavedModel"},
      {"\x08\x05"s + field(2, field(1, description)), "CoreML model"},
      {field(1, field(1, "input") + field(2, "Placeholder")), "frozen graph of TensorFlow"},
      {field(1, field(1, "weights") + field(2, "Const")), "--graphdef FILE"},
      {"\x3a\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}  1234"s,
       "safetensors"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:12ab\n", "git lfs pull"},
      {"\n <!DOCTYPE html><html>", "a web page"},
      {"<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\"><layers><layer id=\"0\"/>",
       "OpenVINO model"},
      {"7767517\n75 83\nInput data 0 1 data", "NCNN model"},
      {"{\"format\":\"layers-model\",\"modelTopology\":{}}", "TensorFlow.js model"},
      {"\x1f\x8b\x08\0\0\0"s, "unpack it first"},
      {std::string(257, '\0') + "ustar\0"s, "unpack it first"},
      {"\x1c\0\0\0ET12"s, "ExecuTorch model"},
      {"ftrt\x01\x02", "TensorRT engine"},
      {"RKNN\0\0"s, "RKNN model"},
      {"\x01HEF\0"s, "Hailo model"},
      {"", "is empty"}};
  for (const auto& [bytes, named] : files) {
    EXPECT_THAT(foreign_format(bytes), HasSubstr(named));
  }
}

TEST(ForeignFormat, NothingIsNamedThatIsUnknownOrRuns) {
  for (const std::string& bytes :
       {"a text"s, "PK\x03\x04"s, "\x08\x07\x12\x07pytorch"s, "\x0a\x05hello"s, "\x80"s, "{}"s,
        "\x08\x01\x12\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "<?xml version=\"1.0\"?><svg/>"s,
        "\x02\0\0\0\0\0\0\0{}"s, std::string(1 << 16, '\x0a')}) {
    EXPECT_EQ(foreign_format(bytes), "");
  }
}

TEST(ForeignFormat, ZipFilesAreNamedByTheirMembers) {
  const std::vector<std::tuple<std::vector<std::string>, std::string, std::string>> files{
      {{"MAR-INF/MANIFEST.json", "model.pt", "handler.py"}, "", "archive of TorchServe"},
      {{"metadata.json", "config.json", "model.weights.h5"}, "", "Keras model"},
      {{"m.mlpackage/Data/com.apple.CoreML/model.mlmodel"}, "", "CoreML model"},
      {{"version", "serialized_exported_program.json", "serialized_state_dict.pt"},
       "",
       "saved by torch.export"},
      {{"archive/archive_format", "archive/models/model.json"}, "", "saved by torch.export"},
      {{"p/.data/extern_modules", "p/model/model.pkl"}, "", "made by torch.package"},
      {{"data.pkl", "data/0", "version"},
       "\x80\x02"
       "ccollections\nOrderedDict\n",
       "weights alone"},
      {{"data.pkl", "version"}, "\x80\x02}q\x00(X\x05epoch", "weights alone"},
      {{"data.pkl", "version"},
       "\x80\x02"
       "c__main__\nNet\nq\x01_modules",
       "a whole module"},
      {{"data.pkl", "version"},
       "\x80\x02"
       "cultralytics.nn.tasks\nClassificationModel\n_modules",
       "yolo export"}};
  for (const auto& [members, pickle, named] : files) {
    EXPECT_THAT(foreign_zip_format(members, pickle), HasSubstr(named));
  }
  EXPECT_EQ(foreign_zip_format({"word/document.xml"}, ""), "");
  EXPECT_EQ(foreign_zip_format({"data.pkl", "code/__torch__.py"}, "\x80\x02"), "")
      << "a TorchScript archive that lacks something";
}

TEST(ForeignFormat, AFolderIsNamedByWhatIsInIt) {
  const TempDir folder;
  EXPECT_EQ(foreign_folder_format(folder.path()), "");
  folder.write("model.ncnn.param", "7767517\n75 83\n");
  EXPECT_THAT(foreign_folder_format(folder.path()), HasSubstr("model.ncnn.param in it is an NCNN"));
  folder.write("saved_model.pb", "");
  EXPECT_THAT(foreign_folder_format(folder.path()), HasSubstr("--saved-model FOLDER"));
  EXPECT_EQ(foreign_folder_format("/no/such/folder"), "");
}

// Whatever the file is called, and though it begins as an ONNX file does.
TEST(ForeignFormat, AModelThatDoesNotRunIsRefusedByItsName) {
  const TempDir folder;
  const std::string saved_model = "\x08\x01"s + field(2, field(1, field(5, "2.15.0")));
  for (const auto& [content, named] : {std::pair{"\x1c\0\0\0TFL3"s, "TensorFlow Lite"},
                                       std::pair{saved_model, "TensorFlow's SavedModel"}}) {
    const std::string file = folder.write("model.onnx", content);
    try {
      read_contents(ModelArchive(file));
      ADD_FAILURE() << "accepted " << named;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_THAT(error.what(), HasSubstr("model " + file + ": is"));
      EXPECT_THAT(error.what(), HasSubstr(named));
    }
  }
}

}  // namespace
}  // namespace lookout
