// Operators that an archive needs and LibTorch does not have, from libraries. Included by
// pipeline/torch/*.cpp only.
#pragma once

#include <string>
#include <vector>

namespace lookout {

// Loads the libraries, whose static initialisers register their operators; they stay loaded. Call
// it before load_network(). They are tried in another process first: LibTorch throws from a static
// initialiser when an operator exists already, which ends a process. Throws what
// check_operator_library() and load_operator_library() throw, and Error(kBadData) with LibTorch's
// sentence, or when the library ends the other process.
void load_torch_operators(const std::vector<std::string>& libraries);

// The operator or class ("acme::scores") that LibTorch's message about an archive does not know.
// Empty: the message is about something else.
std::string missing_operator(const std::string& message);

}  // namespace lookout
