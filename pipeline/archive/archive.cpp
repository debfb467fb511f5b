#include "pipeline/archive/archive.h"
#include "pipeline/archive/metadata.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "pipeline/archive/foreign_format.h"
#include "pipeline/archive/foreign_spec.h"
#include "pipeline/archive/torch_code.h"
#include "pipeline/archive/zip_reader.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/open_file.h"
#include "pipeline/core/sha256.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMembers = 100'000;
constexpr std::uint64_t kMaxUnpacked = 2 * ModelArchive::kMaxBytes;

[[noreturn]] void refuse_as_damaged(const fs::path& archive, const std::string& why) {
  refuse_model(archive, "is not a TorchScript archive, or a damaged one (the file " + why +
                            "); create it again with models/export.py");
}

[[noreturn]] void refuse_onnx(const fs::path& file, const std::string& why) {
  refuse_model(file, "is no ONNX model that can be used (" + why + ")");
}

[[noreturn]] void fail_to_read(const fs::path& path) {
  const int reason = errno;
  if (reason == ENOENT || reason == ENOTDIR) {
    throw Error(ErrorKind::kNoInput, "no such model: " + path.string());
  }
  throw Error(
      reason == EACCES ? ErrorKind::kPermission : ErrorKind::kNoInput,
      "model " + path.string() + " cannot be read: " + std::generic_category().message(reason));
}

// Returns how many bytes were read, fewer than `size` when the file became shorter.
std::size_t read_whole(int fd, char* to, std::size_t size, const fs::path& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(fd, to + done, size - done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail_to_read(path);
    }
  }
  return done;
}

// Collects what read_contents() returns.
class Contents {
 public:
  explicit Contents(const ModelArchive& archive) : archive_(archive) {}

  ZipReader::TakePiece begin(const ZipReader::Member& member) {
    unpacked_ += std::min(member.bytes, kMaxUnpacked);
    if (unpacked_ > kMaxUnpacked || contents_.members.size() >= kMaxMembers) {
      refuse_model(archive_.path(), "has too many members, or unpacks to more than 4 GB");
    }
    const auto slash = member.name.find('/');
    if (contents_.members.empty()) folder_ = member.name.substr(0, slash);
    const bool inside = slash != std::string::npos && member.name.substr(0, slash) == folder_;
    std::string name = inside ? member.name.substr(slash + 1) : "../" + member.name;
    std::string* text = text_called(name);
    contents_.members.push_back({name, member.bytes});
    const bool is_new = names_.insert(name).second;
    if (name == "data.pkl") return keep_pickle();
    if (text == nullptr) return is_code_file(name) ? scan_code() : ZipReader::TakePiece();
    if (!is_new) refuse_as_damaged(archive_.path(), "holds " + name + " twice");
    return [this, text, name = std::move(name)](std::string_view piece) {
      if (text->size() + piece.size() > ArchiveContents::kMaxText) {
        refuse_model(archive_.path(), name + " is longer than 1 MB, which no such text is");
      }
      text->append(piece);
    };
  }

  ArchiveContents finish() {
    if (names_.count("constants.pkl") == 0) refuse_foreign();
    // What LibTorch itself asks for.
    for (const char* needed : {"data.pkl", "constants.pkl"}) {
      if (names_.count(needed) == 0) {
        refuse_as_damaged(archive_.path(), std::string("has no ") + needed);
      }
    }
    code_.finish();
    return std::move(contents_);
  }

 private:
  ZipReader::TakePiece scan_code() {
    code_.finish();  // the member before
    return [this](std::string_view piece) { code_.take(piece); };
  }

  // Tells by its beginning what torch.save() wrote.
  ZipReader::TakePiece keep_pickle() {
    return [this](std::string_view piece) {
      pickle_ += piece.substr(0, ArchiveContents::kMaxText - pickle_.size());
    };
  }

  void refuse_foreign() const {
    std::vector<std::string> names;
    for (const ArchiveMember& member : contents_.members) names.push_back(member.name);
    const std::string foreign = foreign_zip_format(names, pickle_);
    if (!foreign.empty()) refuse_model(archive_.path(), foreign);
  }

  // Where the text goes that is called so; null: nowhere.
  std::string* text_called(const std::string& name) {
    const auto texts = std::array{std::pair{"extra/metadata.json", &contents_.metadata},
                                  std::pair{"extra/labels.txt", &contents_.labels},
                                  std::pair{"extra/class_ids.txt", &contents_.class_ids},
                                  std::pair{"extra/producer_info.json", &contents_.producer_info},
                                  std::pair{"extra/config.txt", &contents_.config}};
    const auto found = std::find_if(texts.begin(), texts.end(),
                                    [&name](const auto& text) { return text.first == name; });
    return found == texts.end() ? nullptr : found->second;
  }

  const ModelArchive& archive_;
  ArchiveContents contents_;
  TorchCodeScanner code_{contents_.custom_operators};
  std::set<std::string> names_;
  std::string pickle_;  // how data.pkl begins
  std::string folder_;
  std::uint64_t unpacked_ = 0;
};

ArchiveContents read_torch_contents(const ModelArchive& archive) {
  if (!starts_with(archive.bytes(), row_of(Engine::kTorch).first_bytes)) {
    const std::string foreign = foreign_format(archive.bytes());
    refuse_model(archive.path(), foreign.empty()
                                     ? "is not a TorchScript archive, nor an ONNX model; create "
                                       "one with models/export.py"
                                     : foreign);
  }
  Contents contents(archive);
  const std::string damage = ZipReader(archive.bytes()).read([&contents](const auto& member) {
    return contents.begin(member);
  });
  if (!damage.empty()) refuse_as_damaged(archive.path(), damage);
  return contents.finish();
}

ArchiveContents read_onnx_contents(const ModelArchive& archive) {
  ArchiveContents contents;
  try {
    contents.onnx = read_onnx(archive.bytes());
  } catch (const std::runtime_error& error) {
    const std::string foreign = foreign_format(archive.bytes());
    if (!foreign.empty()) refuse_model(archive.path(), foreign);
    refuse_onnx(archive.path(), error.what());
  }
  contents.custom_operators = contents.onnx->custom_operators;
  const auto take = [&](const char* key, std::string& text) {
    const auto found = contents.onnx->texts.find(key);
    if (found == contents.onnx->texts.end()) return;
    if (found->second.size() > ArchiveContents::kMaxText) {
      refuse_onnx(archive.path(), found->first + " is longer than 1 MB, which no such text is");
    }
    text = found->second;
  };
  take("lookout.metadata", contents.metadata);
  take("lookout.labels", contents.labels);
  take("lookout.class_ids", contents.class_ids);
  take("lookout.producer_info", contents.producer_info);
  return contents;
}

// What an archive without metadata.json is taken for.
ModelSpec assumed_spec(const ModelArchive& archive) {
  ModelSpec spec;
  spec.name = archive.path().stem().string();
  spec.quantization = "unknown";
  spec.weights = "unknown";
  spec.assumed = {true, true, true};
  return spec;
}

[[noreturn]] void refuse_without_labels(const ArchiveContents& contents, const ModelSpec& spec) {
  const EngineRow& row = row_of(contents.engine);
  if (!contents.metadata.empty()) {
    throw std::runtime_error(fmt::format("has no {}: give --labels FILE", row.labels));
  }
  if (assumption_text(spec).empty()) throw std::runtime_error("has no labels: give --labels FILE");
  throw std::runtime_error(
      fmt::format("has no {}: give --labels FILE to use it with ImageNet's values, or create it "
                  "with models/export.py",
                  row.metadata));
}

// Where `spec` has none yet.
void take_labels(const ArchiveContents& contents, const ForeignTexts& foreign, bool needed,
                 ModelSpec& spec) {
  if (!spec.labels.empty()) return;
  if (!contents.labels.empty()) {
    spec.labels = parse_labels(contents.labels);
    return;
  }
  try {
    spec.labels = foreign_labels(foreign);
  } catch (const std::runtime_error&) {
    if (needed) throw;
  }
  if (needed && spec.labels.empty()) refuse_without_labels(contents, spec);
}

ModelSpec spec_of(const ModelArchive& archive, const ArchiveContents& contents,
                  const std::optional<std::vector<std::string>>& labels,
                  const StatedModel& stated) {
  const bool described = !contents.metadata.empty();
  ModelSpec spec = described ? parse_metadata(contents.metadata) : assumed_spec(archive);
  if (labels) spec.labels = *labels;
  ForeignTexts foreign;
  if (!described) {
    foreign = foreign_texts(contents);
    take_foreign(foreign, spec);
    take_beside(archive.path(), spec);
  }
  apply(stated, spec);
  if (contents.onnx) take_input(*contents.onnx, described && !stated.size, spec);
  check_foreign_size(foreign, spec);
  take_labels(contents, foreign, !labels.has_value(), spec);
  if (spec.unknown && *spec.unknown >= spec.labels.size()) {
    throw std::runtime_error("metadata.json has an \"unknown\" that is none of the " +
                             std::to_string(spec.labels.size()) + " labels");
  }
  if (!contents.class_ids.empty()) {
    spec.class_ids = parse_class_ids(contents.class_ids, spec.labels.size());
  }
  return spec;
}

}  // namespace

void refuse_model(const fs::path& archive, const std::string& what) {
  throw Error(ErrorKind::kBadData, "model " + archive.string() + ": " + what);
}

ModelArchive::ModelArchive(fs::path path) : path_(std::move(path)), bytes_(nullptr, Unmap{0}) {
  const OpenFile file(path_.string());
  if (file.fd() < 0 && errno == EACCES) {
    std::error_code unseen;
    if (!fs::exists(path_, unseen) && unseen) {
      throw Error(ErrorKind::kPermission, "no permission to reach model " + path_.string());
    }
    errno = EACCES;
  }
  struct stat status {};
  if (file.fd() < 0 || fstat(file.fd(), &status) != 0) fail_to_read(path_);
  if (!S_ISREG(status.st_mode)) {
    const std::string foreign = S_ISDIR(status.st_mode) ? foreign_folder_format(path_) : "";
    refuse_model(path_, foreign.empty() ? "is not a file" : foreign);
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) refuse_model(path_, "is larger than 2 GB");
  if (size == 0) return;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    refuse_model(path_, "there is not enough memory for its " + std::to_string(size) + " bytes");
  }
  bytes_ = {static_cast<char*>(memory), Unmap{size}};
  size_ = read_whole(file.fd(), bytes_.get(), size, path_);
  mprotect(memory, size, PROT_READ);
}

void ModelArchive::Unmap::operator()(char* bytes) const { munmap(bytes, size); }

const std::string& ModelArchive::sha256() const {
  if (sha256_.empty()) sha256_ = lookout::sha256(bytes());
  return sha256_;
}

void ModelArchive::require_sha256(const std::vector<std::string>& accepted) const {
  if (accepted.empty()) return;
  const std::string& actual = sha256();
  const bool listed = std::any_of(accepted.begin(), accepted.end(), [&](const std::string& one) {
    return lower_case(one) == actual;
  });
  if (listed) return;
  refuse_model(path_,
               "its SHA-256 " + actual +
                   " is not accepted by model.sha256; add it if you trust this archive, which runs "
                   "with your rights");
}

Engine ModelArchive::engine() const {
  const auto* const row =
      std::find_if(kEngines.begin(), kEngines.end(),
                   [this](const EngineRow& one) { return starts_with(bytes(), one.first_bytes); });
  return row == kEngines.end() ? kEngines.front().engine : row->engine;
}

namespace {

ArchiveContents contents_of(const ModelArchive& archive) {
  ArchiveContents contents;
  switch (archive.engine()) {
    case Engine::kTorch:
      contents = read_torch_contents(archive);
      break;
    case Engine::kOnnxRuntime:
      contents = read_onnx_contents(archive);
      break;
  }
  contents.engine = archive.engine();
  return contents;
}

}  // namespace

const ArchiveContents& read_contents(const ModelArchive& archive) {
  if (!archive.contents_) {
    archive.contents_ = std::make_unique<ArchiveContents>(contents_of(archive));
  }
  return *archive.contents_;
}

ModelSpec read_spec(const ModelArchive& archive, const ArchiveContents& contents,
                    const std::optional<std::vector<std::string>>& labels,
                    const StatedModel& stated) {
  try {
    return spec_of(archive, contents, labels, stated);
  } catch (const std::runtime_error& error) {
    refuse_model(archive.path(), error.what());
  }
}

}  // namespace lookout
