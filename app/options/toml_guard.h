// Stands before the TOML library, for inputs that it cannot handle. tests/tools/toml_test.py
// compares the outcome with Python's tomllib.
#pragma once

#include <string>

namespace lookout {

// Returns `text` in a form that toml++ 3.3 reads as TOML 1.0 means it. Only escapes differ: lines
// stay the same, and so do columns, except for some after a character outside ASCII.
//
// toml++ 3.3 must not see a character outside ASCII where it looks for blanks: it runs into
// undefined behaviour, or takes the character for a blank. Outside of strings and comments TOML
// has no such character. In a string they may follow a line's last backslash, and are escaped here.
//
// Throws TomlError for a text that is not UTF-8, has such a character in a wrong place, or is
// larger or more deeply nested than any configuration.
std::string guard_toml(const std::string& text);

}  // namespace lookout
