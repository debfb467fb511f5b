// Reads a model, a TorchScript archive or an ONNX file, without running anything in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/archive/custom_operators.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/archive/onnx_contents.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

struct ArchiveContents;

// Throws Error(kBadData): "model FILE: `what`".
[[noreturn]] void refuse_model(const std::filesystem::path& archive, const std::string& what);

// The bytes of an archive, read once: what is checked is what is loaded, whatever happens to the
// file meanwhile.
class ModelArchive {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;

  // Reads the file and interprets nothing of it. Throws Error(kNoInput), Error(kPermission), or
  // Error(kBadData) for what is no file or too large.
  explicit ModelArchive(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::string_view bytes() const { return {bytes_.get(), size_}; }
  // The engine that runs it, by the first bytes, whatever the file is called.
  Engine engine() const;

  // Hexadecimal, lower case, as of sha256sum(1). Computed by the first call. Not thread-safe.
  const std::string& sha256() const;

  // Throws Error(kBadData) when the SHA-256 is none of `accepted`, which may be in upper case. An
  // empty list accepts every archive.
  void require_sha256(const std::vector<std::string>& accepted) const;

 private:
  std::filesystem::path path_;
  struct Unmap {
    std::size_t size;
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char, Unmap> bytes_;  // pages of its own, which go back to the system at once
  std::size_t size_ = 0;
  mutable std::string sha256_;  // empty: not computed yet
  friend const ArchiveContents& read_contents(const ModelArchive& archive);
  mutable std::unique_ptr<ArchiveContents> contents_;  // null: not read yet
};

struct ArchiveMember {
  std::string name;  // within the one folder that all members are in
  std::uint64_t bytes = 0;
};

struct ArchiveContents {
  static constexpr std::size_t kMaxText = 1 << 20;  // bytes of a text

  Engine engine = Engine::kTorch;      // which runs it
  std::vector<ArchiveMember> members;  // of an archive
  std::optional<OnnxContents> onnx;    // of an ONNX file
  // That the model needs and its engine does not have, as far as the file tells: they come from
  // libraries.
  OperatorNames custom_operators;
  // Its texts: members of an archive; in an ONNX file, metadata_props called lookout.metadata,
  // lookout.labels, lookout.class_ids and lookout.producer_info.
  std::string metadata;   // metadata.json; empty: there is none
  std::string labels;     // labels.txt; empty: there are none
  std::string class_ids;  // class_ids.txt; empty: there are none
  // producer_info.json, which `lookout train` and models/train.py write: what the model was trained
  // with. Empty: none.
  std::string producer_info;
  // config.txt, which Ultralytics' exporter writes into an archive. Empty: none.
  std::string config;
};

// Compares every member of an archive with its checksum: LibTorch does not, so that flipped bits
// would change weights unnoticed or crash it. An ONNX file has no checksum. Throws Error(kBadData)
// when the file is damaged or neither format, or one of its texts is longer than kMaxText. Done by
// the first call for an archive, which keeps the result. Not thread-safe.
const ArchiveContents& read_contents(const ModelArchive& archive);

// The description of the model. What several say is taken from the first of: `stated`; the
// archive's metadata; where that is missing, a file beside the archive, the texts of other
// exporters (foreign_spec.h), and at last ImageNet's values. `labels` replace all others; empty
// ones need not be there. A fixed size in an ONNX file's graph always holds. Throws
// Error(kBadData).
ModelSpec read_spec(const ModelArchive& archive, const ArchiveContents& contents,
                    const std::optional<std::vector<std::string>>& labels,
                    const StatedModel& stated = {});

}  // namespace lookout
