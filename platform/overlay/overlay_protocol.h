// Between lookout and the process of its overlay window, lookout-overlay: shared memory for one
// picture with its texts, and a socket of packets. Both come from one build.
#pragma once

#include <array>
#include <type_traits>

#include "pipeline/model/preprocessor.h"
#include "platform/overlay/overlay_layout.h"

namespace lookout {

inline const char* const kOverlayProgram = "lookout-overlay";
// The program's only argument; another one means that it is of another version.
inline const char* const kOverlayVersion = "1";

// Descriptors of the window's process.
inline constexpr int kOverlaySocket = 3;
inline constexpr int kOverlayMemory = 4;

// Pixels, in each direction: more are not shown.
inline constexpr int kOverlayLongestSide = 640;

// lookout writes it while the window is ready, and the window reads it until it is ready again.
struct OverlayShared {
  int width = 0;  // of the picture, pixels
  int height = 0;
  View view;
  OverlayContent content;
  std::array<unsigned char, 3UL * kOverlayLongestSide * kOverlayLongestSide> bgr;  // no padding
};
static_assert(std::is_trivially_copyable_v<OverlayShared>);

// A packet is one of these characters; text may follow.
inline constexpr char kOverlayShow = 'n';  // to the window: show what is in the memory
// To lookout:
inline constexpr char kOverlayReady = 'r';
inline constexpr char kOverlayFrozen = 'f';    // it will be ready when the user says so
inline constexpr char kOverlayQuit = 'q';      // the user wants everything to end
inline constexpr char kOverlayClosed = 'c';    // the user closed the window
inline constexpr char kOverlaySaved = 's';     // the file of a snapshot follows
inline constexpr char kOverlayNotSaved = 'e';  // the file that could not be written follows
inline constexpr int kOverlayLongestPacket = 4096 + 1;

}  // namespace lookout
