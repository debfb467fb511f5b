// Takes from the process of the decoder what it does not need.
#pragma once

#include <cstdint>

namespace lookout {

// Sanitizers need more than the decoder: with them memory and descriptors are not limited, and
// calls that are not allowed fail.
#ifdef LOOKOUT_SANITIZED
inline constexpr bool kStrictSandbox = false;
#else
inline constexpr bool kStrictSandbox = true;
#endif

enum class Sandbox {
  // For pictures. Of the system calls that it does not need, those fail that libraries try
  // (EACCES); any other one ends the process with SIGSYS.
  kPictures,
  // For streams: besides, threads, and sockets that are handed to it, which it can neither make nor
  // connect nor bind, and from which it sends only to where they are connected. FFmpeg and its
  // libraries try many things: any other call fails (EACCES).
  kStreams,
};

// For a process with one thread, and for good: no dump of memory, no new file, no more than
// `memory` bytes besides those that are mapped now, no file of more than `file` bytes, the end when
// the thread ends that started it, and a filter that leaves the system calls for memory, its own
// descriptors and its end.
//
// Returns 0, or the errno with which the kernel refused the filter. Limits hold even then.
int enter_sandbox(std::int64_t memory, std::int64_t file, Sandbox sandbox = Sandbox::kPictures);

}  // namespace lookout
