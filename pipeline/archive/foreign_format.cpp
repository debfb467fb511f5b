#include "pipeline/archive/foreign_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <system_error>
#include <utility>

#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::size_t kMaxSearched = 1 << 20;  // bytes in which a word is looked for

constexpr const char* kWeights =
    "holds weights alone, as torch.save() writes them; models/export.py --arch NETWORK --weights "
    "FILE makes a model of them";
constexpr const char* kSavedModel =
    "is TensorFlow's SavedModel, which lookout does not run; python3 -m tf2onnx.convert "
    "--saved-model FOLDER --output model.onnx makes an ONNX model of it";
constexpr const char* kCoreMl =
    "is a CoreML model, which runs on Apple's systems only; export the network that it was made "
    "from as ONNX";
constexpr const char* kKeras =
    "is a Keras model, which lookout does not run; model.export(\"model.onnx\", format=\"onnx\") "
    "of Keras makes an ONNX model of it";

bool mentions(std::string_view text, std::string_view word) {
  return text.substr(0, kMaxSearched).find(word) != std::string_view::npos;
}

// ---- Pickles

// What torch.save() wrote, by the names in its pickle.
std::string saved_by_torch(std::string_view pickle) {
  if (mentions(pickle, "ultralytics.")) {
    return "is a checkpoint of Ultralytics; yolo export model=FILE format=onnx makes a model of it";
  }
  if (mentions(pickle, "_modules")) {
    return "holds a whole module of Python, as torch.save() writes it; load it in Python, and "
           "save it with torch.jit.script(model.eval()).save(\"model.pt\")";
  }
  return kWeights;
}

std::string pickle_format(std::string_view bytes) {
  // The magic number of torch.save() before torch 1.6 (torch/serialization.py).
  using namespace std::string_view_literals;
  constexpr auto kLegacy = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
  if (starts_with(bytes, kLegacy)) return saved_by_torch(bytes);
  const bool pickled = bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  if (!pickled) return {};
  return "is an object of Python (a pickle); load it in Python, and save its network with "
         "torch.jit.script(model.eval()).save(\"model.pt\")";
}

// ---- Protobuf

// The first field of a message, if it has this number and holds a message or a text.
std::optional<std::string_view> first_field(std::string_view bytes, protozero::pbf_tag_type tag) {
  pbf_reader message(bytes.data(), bytes.size());
  if (!message.next(tag, pbf_wire_type::length_delimited)) return std::nullopt;
  const auto view = message.get_view();
  return std::string_view(view.data(), view.size());
}

// TensorFlow's SavedModel and CoreML's Model begin as ONNX does: with a version, before a message
// where ONNX has the producer's name. That of SavedModel begins with MetaInfoDef, which has the
// version of TensorFlow (tensorflow/core/protobuf/saved_model.proto and meta_graph.proto); that of
// CoreML with the description of an input (mlmodel/format/Model.proto).
std::string versioned_format(std::string_view bytes) {
  constexpr protozero::pbf_tag_type kTensorFlowVersion = 5;
  const auto message = first_field(bytes, 2);
  if (!message || message->empty() || message->front() != '\x0a') return {};
  const auto first = first_field(*message, 1);
  if (!first) return {};
  const auto version = first_field(*first, kTensorFlowVersion);
  const bool tensorflow =
      version && !version->empty() && std::isdigit(static_cast<unsigned char>(version->front()));
  return tensorflow ? kSavedModel : kCoreMl;
}

// GraphDef of TensorFlow: nodes, each with a name and an operator.
std::string graph_format(std::string_view bytes) {
  const auto node = first_field(bytes, 1);
  if (!node || node->empty() || node->front() != '\x0a') return {};
  const auto type = first_field(*node, 2);
  if (!type || (*type != "Const" && !starts_with(*type, "Placeholder"))) return {};
  return "is a frozen graph of TensorFlow, which lookout does not run; python3 -m tf2onnx.convert "
         "--graphdef FILE --output model.onnx --inputs NAME --outputs NAME makes an ONNX model of "
         "it";
}

std::string protobuf_format(std::string_view bytes) {
  try {
    if (starts_with(bytes, "\x08")) return versioned_format(bytes);
    if (starts_with(bytes, "\x0a")) return graph_format(bytes);
  } catch (const protozero::exception&) {
    // Something else begins so.
  }
  return {};
}

// ---- Others

std::string hdf5_format(std::string_view bytes) {
  if (!starts_with(bytes, "\x89HDF\r\n\x1a\n")) return {};
  const bool keras = bytes.find("keras_version") != std::string_view::npos;
  return keras
             ? kKeras
             : "is an HDF5 file, as older versions of Keras write their models; load it in Keras, "
               "and model.export(\"model.onnx\", format=\"onnx\") makes an ONNX model of it";
}

// The length of a JSON object, then the object: https://github.com/huggingface/safetensors
std::string safetensors_format(std::string_view bytes) {
  constexpr std::size_t kLength = 8;
  if (bytes.size() < kLength + 2 || bytes[kLength] != '{') return {};
  std::uint64_t length = 0;
  for (std::size_t i = kLength; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (length > bytes.size() - kLength || !mentions(bytes, "data_offsets")) return {};
  return "holds weights alone (safetensors); load them into their network in Python, and save it "
         "with torch.jit.script(model.eval()).save(\"model.pt\")";
}

// The identifier of a FlatBuffers file stands behind an offset.
std::string flatbuffers_format(std::string_view bytes) {
  if (bytes.size() < 8) return {};
  const std::string_view identifier = bytes.substr(4, 4);
  if (identifier == "TFL3") {
    return "is a TensorFlow Lite model, which lookout does not run; python3 -m tf2onnx.convert "
           "--tflite FILE --output model.onnx makes an ONNX model of it";
  }
  if (starts_with(identifier, "ET1")) {
    return "is an ExecuTorch model, which lookout does not run; save the network with "
           "torch.jit.trace(model.eval(), picture).save(\"model.pt\")";
  }
  if (identifier == "ORTM") {
    return "is in ONNX Runtime's own format; give the ONNX model that it was made from";
  }
  return {};
}

// Formats of accelerators, by their first bytes.
std::string compiled_format(std::string_view bytes) {
  constexpr std::array kFormats{
      std::pair{"ftrt", "TensorRT engine"}, std::pair{"RKNN", "RKNN model"},
      std::pair{"\x01HEF", "Hailo model"}, std::pair{"GGUF", "GGUF model"}};
  for (const auto& [start, name] : kFormats) {
    if (!starts_with(bytes, start)) continue;
    return std::string("is a ") + name +
           ", made for another runtime; export the network that it was made from as ONNX";
  }
  return {};
}

// How text formats begin.
std::string text_format(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 1000);
  const auto start = head.find_first_not_of(" \t\r\n");
  const std::string_view text = start == std::string_view::npos ? "" : head.substr(start);
  if (starts_with(text, "version https://git-lfs.github.com/")) {
    return "is a pointer of Git LFS, not the model; git lfs pull fetches the model";
  }
  if (starts_with(text, "<!DOCTYPE html") || starts_with(text, "<!doctype html") ||
      starts_with(text, "<html")) {
    return "is a web page, not a model; download the file itself";
  }
  if ((starts_with(text, "<?xml") || starts_with(text, "<net")) && mentions(text, "<net ") &&
      mentions(bytes, "<layer")) {
    return "is an OpenVINO model, which lookout does not run; export the network that it was made "
           "from as ONNX";
  }
  if (starts_with(text, "7767517")) {
    return "is an NCNN model, which lookout does not run; export the network that it was made from "
           "as ONNX";
  }
  if (starts_with(text, "{") && mentions(bytes, "\"modelTopology\"")) {
    return "is a TensorFlow.js model, which lookout does not run; export the network that it was "
           "made from as ONNX (of Teachable Machine: as Keras, then with tf2onnx)";
  }
  return {};
}

std::string packed_format(std::string_view bytes) {
  constexpr std::size_t kTarMagic = 257;  // POSIX.1, ustar interchange format
  const bool packed = starts_with(bytes, "\x1f\x8b") || starts_with(bytes, "\x28\xb5\x2f\xfd") ||
                      starts_with(bytes, "\xfd\x37zXZ") || starts_with(bytes, "7z\xbc\xaf");
  const bool tar = bytes.size() > kTarMagic && starts_with(bytes.substr(kTarMagic), "ustar");
  return packed || tar ? "is a packed file; unpack it first" : "";
}

// The beginning of a file; empty: it cannot be read.
std::string head_of(const fs::path& path) {
  std::array<char, 4096> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return {head.data(), static_cast<std::size_t>(file.gcount())};
}

}  // namespace

std::string foreign_format(std::string_view bytes) {
  if (bytes.empty()) return "is empty";
  for (const auto find : {flatbuffers_format, hdf5_format, pickle_format, protobuf_format,
                          safetensors_format, compiled_format, text_format, packed_format}) {
    std::string sentence = find(bytes);
    if (!sentence.empty()) return sentence;
  }
  return {};
}

std::string foreign_zip_format(const std::vector<std::string>& members, std::string_view pickle) {
  const auto has = [&members](const std::string& name) {
    return std::any_of(members.begin(), members.end(), [&](const std::string& member) {
      return member == name || ends_with(member, "/" + name);
    });
  };
  const bool has_code = std::any_of(members.begin(), members.end(), [](const std::string& member) {
    return starts_with(member, "code/") || member.find("/code/") != std::string::npos;
  });
  if (has("MAR-INF/MANIFEST.json")) {
    return "is an archive of TorchServe; unzip it, and give the TorchScript file in it";
  }
  if (has("serialized_exported_program.json") || has("archive_format") ||
      has("models/model.json")) {
    return "was saved by torch.export, which lookout does not run; save the network with "
           "torch.jit.trace(model.eval(), picture).save(\"model.pt\")";
  }
  if (has(".data/extern_modules")) {
    return "was made by torch.package, which needs Python; load it there, and save it with "
           "torch.jit.script(model.eval()).save(\"model.pt\")";
  }
  if (has("model.weights.h5") && has("config.json")) return kKeras;
  if (has("com.apple.CoreML/model.mlmodel")) return kCoreMl;
  if (!has_code && starts_with(pickle, "\x80")) return saved_by_torch(pickle);
  return {};
}

std::string foreign_folder_format(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "saved_model.pb", error)) return kSavedModel;
  if (fs::exists(folder / "Data/com.apple.CoreML", error)) return kCoreMl;
  std::vector<fs::path> files;
  constexpr std::size_t kMaxFiles = 100;
  for (fs::directory_iterator entry(folder, error);
       !error && entry != fs::directory_iterator() && files.size() < kMaxFiles;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string sentence = text_format(head_of(file));
    if (!sentence.empty()) {
      return "is a folder; " + printable(file.filename().string()) + " in it " + sentence;
    }
  }
  return {};
}

}  // namespace lookout
