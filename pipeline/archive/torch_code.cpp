#include "pipeline/archive/torch_code.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pipeline/archive/zip_reader.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxCode = 64 << 20;  // bytes; that of a large network takes one
constexpr std::size_t kMaxCodeFiles = 10'000;

// The file of the class of the object that a pickle begins with: "code/__torch__/model.py" of the
// opcode "c__torch__.model\nNet\n".
std::string file_of_root(std::string_view pickle) {
  const std::string_view start = "c__torch__";
  const auto found = pickle.find(start);
  if (found == std::string_view::npos) return {};
  std::string name(pickle.substr(found + 1, pickle.find('\n', found) - found - 1));
  std::replace(name.begin(), name.end(), '.', '/');
  return "code/" + name + ".py";
}

}  // namespace

bool is_code_file(std::string_view name) {
  return starts_with(name, "code/") && ends_with(name, ".py");
}

std::vector<TorchCodeFile> read_torch_code(const ModelArchive& archive) {
  read_contents(archive);
  std::vector<TorchCodeFile> files;
  std::string pickle;  // the beginning of data.pkl, which holds the network
  std::size_t size = 0;
  const auto refuse = [&archive] {
    refuse_model(archive.path(), "has more code than the 64 MB in 10000 files that are read");
  };
  const auto begin = [&](const ZipReader::Member& member) -> ZipReader::TakePiece {
    // Without the folder that all members are in.
    const std::string name = member.name.substr(member.name.find('/') + 1);
    if (name == "data.pkl") {
      return [&pickle](std::string_view piece) {
        if (pickle.empty()) pickle = piece;
      };
    }
    if (!is_code_file(name)) return {};
    if (files.size() == kMaxCodeFiles) refuse();
    files.push_back({name, {}});
    return [&](std::string_view piece) {
      size += piece.size();
      if (size > kMaxCode) refuse();
      files.back().text += piece;
    };
  };
  ZipReader(archive.bytes()).read(begin);
  const auto root =
      std::find_if(files.begin(), files.end(),
                   [name = file_of_root(pickle)](const auto& file) { return file.name == name; });
  if (root != files.end()) std::rotate(files.begin(), root, std::next(root));
  return files;
}

}  // namespace lookout
