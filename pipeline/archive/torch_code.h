// The code of a TorchScript archive, as text. Nothing of it runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/archive/archive.h"

namespace lookout {

struct TorchCodeFile {
  std::string name;  // "code/__torch__.py"; of the archive, so that it may hold any bytes
  std::string text;
};

// Whether a member of an archive, by its name within the archive's folder, is one.
bool is_code_file(std::string_view name);

// The archive's files of code: that of the network first, then those of its parts, in the archive's
// order, in which LibTorch writes them when they are used first. Throws Error(kBadData) when the
// archive is damaged, or has more than 64 MB of code.
std::vector<TorchCodeFile> read_torch_code(const ModelArchive& archive);

}  // namespace lookout
