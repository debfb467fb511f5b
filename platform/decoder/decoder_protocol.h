// What lookout and lookout-decoder, the process that decodes pictures of strangers, tell each
// other. Both programs come from one build.
//
// lookout sends an order, and the decoder answers it; each is one message of a socket that keeps
// messages apart. Before the first order the decoder sends a report of itself. The file and the
// pixels are in memory that both have descriptors of.
#pragma once

#include <array>
#include <cstdint>

namespace lookout {

inline const char* const kDecoderProgram = "lookout-decoder";

// The decoder's descriptors; it has no others.
inline constexpr int kDecoderSocket = 0;  // SOCK_SEQPACKET
inline constexpr int kDecoderErrors = 2;  // for the messages of the loader and of sanitizers
inline constexpr int kDecoderInput = 3;   // the picture's file
// The pixels, BGR without padding. Its size is the limit of pixels, and is sealed.
inline constexpr int kDecoderOutput = 4;

struct DecoderReport {
  std::int32_t filter_error;  // errno, when the kernel refused the filter of system calls; else 0
};

// The members are those of DecodeLimits.
struct DecodeOrder {
  std::uint64_t number;  // of the order, from 1
  std::uint64_t size;    // of the file, in bytes
  std::int64_t pixels;
  std::int64_t side;
  std::int32_t scans;
  std::int32_t reduce;       // 0 or 1
  std::array<char, 32> key;  // ends with NUL
};

struct DecodeAnswer {
  std::uint64_t number;  // of the order
  std::int32_t problem;  // a DecodeProblem
  std::int32_t width;    // pixels; 0 with a problem
  std::int32_t height;
  std::array<char, 236> message;  // ends with NUL
};

// Larger pictures give their memory back while they are copied.
inline constexpr std::int64_t kDecoderKeptBytes = 4 << 20;
inline constexpr std::int64_t kDecoderSlice = 1 << 20;  // bytes

}  // namespace lookout
