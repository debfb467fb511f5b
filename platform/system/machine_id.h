// Which machine this is.
#pragma once

#include <string>

namespace lookout {

// 12 hexadecimal digits that stay the same on this machine and tell nothing about it: made of
// /etc/machine-id for lookout alone, or, where there is none, of the host's name.
std::string machine_id();

// The host's name, with its domain where it has one; empty when it has none.
std::string full_host_name();

// The same without its domain.
std::string host_name();

}  // namespace lookout
