// What a sub-command found in a long time goes to stdout and to a file: it is not lost with one of
// the two.
#pragma once

#include <optional>
#include <string>

#include "platform/system/atomic_file.h"

namespace lookout {

// Saves `content`, if there is a `file`, and gives `text` to `print`, either way also when the
// other fails. Throws Error(kOutput) or Error(kPermission) then.
void save_and_print(const std::optional<AtomicFile>& file, const std::string& content,
                    const std::string& text, const WritePart& print);

}  // namespace lookout
