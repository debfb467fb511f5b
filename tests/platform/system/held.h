// The threads and descriptors of this process, for tests that leave none.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cstddef>

#include "platform/system/paths_in.h"

namespace lookout {

// What this process holds.
struct Held {
  std::size_t threads = paths_in("/proc/self/task").size();
  std::size_t descriptors = paths_in("/proc/self/fd").size();
};

// The kernel may list a thread for a moment after it was joined, also when `before` was counted.
inline void expect_nothing_left_since(const Held& before) {
  constexpr int kTries = 500;
  constexpr int kPause = 20;  // ms
  Held now;
  for (int i = 0; i < kTries && now.threads > before.threads; ++i) {
    ::poll(nullptr, 0, kPause);
    now = Held();
  }
  EXPECT_LE(now.threads, before.threads);
  EXPECT_EQ(now.descriptors, before.descriptors);
}

}  // namespace lookout
