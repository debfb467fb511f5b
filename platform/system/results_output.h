// stdout is for results alone: what a library or the code in an archive prints is none.
#pragma once

namespace lookout {

// Keeps stdout for results_fd(), and makes descriptor 1 another stderr. Call it once, at the start.
void keep_stdout_for_results();

// The descriptor to write results to, which other programs do not inherit. It is stdout itself
// until keep_stdout_for_results() is called.
int results_fd();

}  // namespace lookout
