#include "pipeline/archive/torch_code.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "pipeline/archive/zip_reader.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxCode = 64 << 20;  // bytes; that of a large network takes one
constexpr std::size_t kMaxCodeFiles = 10'000;

// The name without the folder that all members are in.
std::string inner_name(const std::string& name) { return name.substr(name.find('/') + 1); }

bool is_code_file(std::string_view name) {
  constexpr std::string_view kStart = "code/";
  constexpr std::string_view kEnd = ".py";
  return name.size() > kStart.size() + kEnd.size() && name.substr(0, kStart.size()) == kStart &&
         name.substr(name.size() - kEnd.size()) == kEnd;
}

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

class CodeReader {
 public:
  explicit CodeReader(const ModelArchive& archive) : archive_(archive) {}

  ZipReader::TakePiece begin(const ZipReader::Member& member) {
    const std::string name = inner_name(member.name);
    if (name == "data.pkl") {
      return [this](std::string_view piece) {
        if (pickle_.empty()) pickle_ = piece;
      };
    }
    if (!is_code_file(name)) return {};
    if (files_.size() == kMaxCodeFiles) refuse();
    files_.push_back({name, {}});
    return [this](std::string_view piece) {
      size_ += piece.size();
      if (size_ > kMaxCode) refuse();
      files_.back().text += piece;
    };
  }

  std::vector<TorchCodeFile> finish() {
    const auto root = std::find_if(
        files_.begin(), files_.end(),
        [name = file_of_root(pickle_)](const auto& file) { return file.name == name; });
    if (root != files_.end()) std::rotate(files_.begin(), root, std::next(root));
    return std::move(files_);
  }

 private:
  [[noreturn]] void refuse() const {
    refuse_model(archive_.path(), "has more code than the 64 MB in 10000 files that are read");
  }

  const ModelArchive& archive_;
  std::vector<TorchCodeFile> files_;
  std::string pickle_;  // the beginning of data.pkl, which holds the network
  std::size_t size_ = 0;
};

}  // namespace

std::vector<TorchCodeFile> read_torch_code(const ModelArchive& archive) {
  read_contents(archive);
  CodeReader reader(archive);
  ZipReader(archive.bytes()).read([&reader](const auto& member) { return reader.begin(member); });
  return reader.finish();
}

}  // namespace lookout
