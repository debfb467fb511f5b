// Between lookout and the process of its overlay window, lookout-overlay: shared memory for one
// picture with its texts, and a socket of packets. Both programs come from one build.
#pragma once

#include <array>
#include <type_traits>

#include "platform/overlay/overlay_layout.h"

namespace lookout {

inline const char* const kOverlayProgram = "lookout-overlay";

// Descriptors of the window's process.
inline constexpr int kOverlaySocket = 3;
inline constexpr int kOverlayMemory = 4;

// Pixels, in each direction: a larger picture is scaled down before it is copied.
inline constexpr int kOverlayMaxSide = 640;

// lookout writes it while the window is ready, and the window reads it until it is ready again.
struct OverlayShared {
  int width = 1;  // of the picture, pixels
  int height = 1;
  View view;
  OverlayContent content;
  std::array<unsigned char, 3UL * kOverlayMaxSide * kOverlayMaxSide> bgr;  // no padding
};
static_assert(std::is_trivially_copyable_v<OverlayShared>);

// lookout sends one kind of packet, of any byte: show what is in the memory. The window's packets
// are one of these characters; after the last two a sentence follows.
inline constexpr char kOverlayTaken = 't';           // the memory may be written again
inline constexpr char kOverlayInfo = 'i';            // to be logged
inline constexpr char kOverlayWarning = 'w';         // likewise
inline constexpr int kOverlayMaxPacket = 4096 + 64;  // a path in a sentence

// Exit statuses of the window's process; any other one is an error.
inline constexpr int kOverlayQuit = 10;    // the user wants everything to end
inline constexpr int kOverlayClosed = 11;  // the user closed the window, or lookout is gone

}  // namespace lookout
