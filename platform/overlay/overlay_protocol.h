// The memory that lookout shares with lookout-overlay, the process of its overlay window. Both
// programs come from one build.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>

#include "platform/overlay/overlay_layout.h"

namespace lookout {

inline const char* const kOverlayProgram = "lookout-overlay";

// The memory's descriptor in the window's process.
inline constexpr int kOverlayMemory = 3;

// Pixels, in each direction: a larger picture is scaled down before it is copied.
inline constexpr int kOverlayMaxSide = 640;

struct OverlayShared {
  // lookout's process. The window ends when this is no longer its parent.
  std::atomic<pid_t> owner{0};

  // true: lookout may write the picture and its texts; false: the window may read them.
  std::atomic<bool> ready{false};
  // A character of the texts that no font has, UTF-8 that ends with a zero; empty: none so far.
  // Written by the window.
  std::array<char, 5> missing{};
  int width = 1;  // of the picture, pixels
  int height = 1;
  View view;
  OverlayContent content;
  std::array<unsigned char, 3UL * kOverlayMaxSide * kOverlayMaxSide> bgr;  // no padding
};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "others do not work between processes");

// Exit statuses of the window's process; any other one is an error.
inline constexpr int kOverlayQuit = 10;    // the user wants everything to end
inline constexpr int kOverlayClosed = 11;  // the user closed the window, or lookout is gone

}  // namespace lookout
