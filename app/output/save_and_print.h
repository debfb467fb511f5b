// Writes the report of a long sub-command to stdout and to a file. It survives the loss of one of
// them.
#pragma once

#include <optional>
#include <string>

#include "platform/system/atomic_file.h"

namespace lookout {

// Saves `content` if there is a `file`, and gives `text` to `print`. Does each even if the other
// fails; then throws Error(kOutput) or Error(kPermission).
void save_and_print(const std::optional<AtomicFile>& file, const std::string& content,
                    const std::string& text, const WritePart& print);

}  // namespace lookout
