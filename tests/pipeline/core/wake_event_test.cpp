#include "pipeline/core/wake_event.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <thread>

namespace lookout {
namespace {

const WakeEvent* woken_by_signal = nullptr;

bool is_woken(const WakeEvent& event) {
  pollfd readable{event.fd(), POLLIN, 0};
  return poll(&readable, 1, 0) > 0;
}

TEST(WakeEvent, AWakeIsKeptForTheNextWait) {
  const WakeEvent event;
  event.wake();
  event.wake();
  wait_for(&event, std::chrono::minutes(1));
  EXPECT_FALSE(is_woken(event)) << "one wait takes all of them";
}

TEST(WakeEvent, EndsAWaitOfAnotherThread) {
  const WakeEvent event;
  std::thread waiting([&event] { event.wait(std::chrono::hours(1)); });
  event.wake();
  waiting.join();
}

TEST(WakeEvent, IsWokenByASignalHandlerThatLeavesErrno) {
  const WakeEvent event;
  woken_by_signal = &event;
  const auto before = std::signal(SIGUSR2, [](int /*signal*/) { woken_by_signal->wake(); });
  errno = ENOENT;
  std::raise(SIGUSR2);
  EXPECT_EQ(errno, ENOENT);
  std::signal(SIGUSR2, before);
  EXPECT_TRUE(is_woken(event));
}

TEST(WakeEvent, WithoutAnEventTheThreadSleeps) { wait_for(nullptr, std::chrono::milliseconds(1)); }

}  // namespace
}  // namespace lookout
