// `lookout password`: what owners log in with.
#pragma once

#include <functional>
#include <string>

#include "app/options/options.h"

namespace lookout {

// Where the password comes from.
struct PasswordInput {
  bool is_terminal = false;  // then it is asked for twice
  // One line, after the question was shown to who sits there. Throws Error(kUsage) at the end of
  // the input.
  std::function<std::string(const std::string& question)> read_line;
};

// That of stdin. A terminal does not show what is typed, and shows it again after a signal.
PasswordInput standard_input();

// Writes the password, as its hash, into the file that password_file() names, or removes the file;
// returns the text that tells what was done. Throws Error(kUsage) for a password that is too short
// or typed differently, Error(kConfig) when no file is named, Error(kPermission) and Error(kOutput)
// as of files.
std::string change_password(const RunOptions& options, const PasswordOptions& command,
                            const PasswordInput& input);

}  // namespace lookout
