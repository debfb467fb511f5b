// Writes the report of a long sub-command to stdout and to a file. It survives the loss of one of
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/system/atomic_file.h"

namespace lookout {

struct SavedReport {
  const std::optional<AtomicFile>& file;  // nothing: it is not saved
  std::string content;
};

// Saves each of `reports`, and gives `text` to `print`. Does each even if another fails; then
// throws the first failure, Error(kOutput) or Error(kPermission).
void save_and_print(const std::vector<SavedReport>& reports, const std::string& text,
                    const WritePart& print);

}  // namespace lookout
