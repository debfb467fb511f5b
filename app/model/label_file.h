// Files with the names of a model's classes, which people and other programs write.
#pragma once

#include <string>
#include <vector>

namespace lookout {

// Reads one label a line, without blanks around it and empty lines at the end; if each begins with
// its own number, from 0 or 1 ("0 tench", as Teachable Machine writes), without these. Also reads
// JSON and YAML as names_of() does: a text that begins with { or [, or that has a line "names:". A
// list of names without that key is YAML when `extension` is ".yaml" or ".yml". Throws
// Error(kBadData), whose sentence does not name the file.
std::vector<std::string> parse_label_file(const std::string& text, const std::string& extension);

}  // namespace lookout
