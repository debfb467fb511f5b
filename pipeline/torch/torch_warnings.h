// What LibTorch and the code of an archive warn of. Included by pipeline/torch/*.cpp only.
#pragma once

namespace lookout {

// From now on the warnings of the calling thread go into the log, each once, instead of to stderr.
void log_torch_warnings();

}  // namespace lookout
