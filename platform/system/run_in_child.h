// Runs a function in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace lookout {

// Calls `work` in a child process and returns the text that it returned: the libraries that it
// loads stay out of this process, and it may crash. It is killed when the calling thread ends. Call
// it before this process starts threads that `work` needs. Throws the Error that `work` throws, as
// one of the same kind, and Error(kInternal) when it throws something else or the child crashes:
// "`what` ends with Illegal instruction (signal 4)".
std::string run_in_child(const std::string& what, const std::function<std::string()>& work);

}  // namespace lookout
