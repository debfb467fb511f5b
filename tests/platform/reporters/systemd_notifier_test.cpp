#include "platform/reporters/systemd_notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"
#include "tests/support/fakes.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// systemd's end of NOTIFY_SOCKET.
class SystemdNotifierTest : public testing::Test {
 protected:
  SystemdNotifierTest() {
    const std::string path = directory_ / "notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
  }
  ~SystemdNotifierTest() override {
    close(socket_);
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}) unsetenv(name);
  }

  static void set_watchdog(const std::string& microseconds, pid_t pid) {
    setenv("WATCHDOG_USEC", microseconds.c_str(), 1);
    setenv("WATCHDOG_PID", std::to_string(pid).c_str(), 1);
  }

  // Messages that came since the last call.
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    std::string text(4096, '\0');
    for (;;) {
      const ssize_t bytes = recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
      if (bytes < 0) return all;
      all.push_back(text.substr(0, static_cast<std::size_t>(bytes)));
    }
  }

  static Result result_of(std::string_view label) {
    Result result;
    result.state = {SceneState::Kind::kClass, {0, label, 0.9F}};
    return result;
  }

  TempDir directory_;
  int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST_F(SystemdNotifierTest, IsReadyWithTheFirstResultAndOnce) {
  SystemdNotifier notifier;
  notifier.poll();
  notifier.tick({});
  EXPECT_THAT(messages(), IsEmpty()) << "a model without frames is not ready";
  notifier.report(result_of("goldfish"), {});
  EXPECT_THAT(messages(), ElementsAre("READY=1", "STATUS=0.0 fps: goldfish"));
  notifier.report(result_of("goldfish"), {});
  EXPECT_THAT(messages(), IsEmpty());
}

TEST_F(SystemdNotifierTest, IsReadyWhenTheRestIsTheCameras) {
  set_watchdog("200000", getpid());
  SystemdNotifier notifier;
  notifier.status({false, {}});
  EXPECT_THAT(messages(), ElementsAre("READY=1", "STATUS=waiting for the camera"));
  notifier.poll();
  EXPECT_THAT(messages(), ElementsAre("WATCHDOG=1"));
  notifier.report(result_of("goldfish"), {});
  EXPECT_THAT(messages(), Not(Contains("READY=1")));
}

TEST_F(SystemdNotifierTest, StatusIsSaidAtMostOnceASecondAndNothingIsLost) {
  SystemdNotifier notifier;
  StatsSnapshot stats;
  stats.classified_fps = 29.97;
  notifier.tick(stats);
  const auto start = Clock::now();
  notifier.report(result_of("goldfish"), {});
  EXPECT_THAT(messages(), Contains("STATUS=30.0 fps: goldfish"));
  notifier.status({false, {}});
  notifier.report(result_of("tench"), {});
  notifier.status({true, {}});
  notifier.status({false, {}});
  std::vector<std::string> later;
  while ((later = messages()).empty()) notifier.poll();  // as the frame loop does
  EXPECT_GE(Clock::now() - start, std::chrono::seconds(1));
  EXPECT_THAT(later, ElementsAre("STATUS=camera offline"));
}

TEST_F(SystemdNotifierTest, StatusSaysWhatSlowsTheMachineDown) {
  SystemdNotifier notifier;
  StatsSnapshot stats;
  stats.classified_fps = 12;
  stats.machine.temperature = 84;
  stats.machine.throttled = 4;
  notifier.tick(stats);
  notifier.report(result_of("goldfish"), {});
  EXPECT_THAT(messages(), Contains("STATUS=12.0 fps: goldfish; throttled now, 84.0 °C"));
}

TEST_F(SystemdNotifierTest, TheWatchdogHearsFromBeatsAlone) {
  set_watchdog("200000", getpid());
  SystemdNotifier notifier;
  const auto start = Clock::now();
  notifier.poll();
  EXPECT_THAT(messages(), ElementsAre("WATCHDOG=1"));
  notifier.report(result_of("goldfish"), {});
  notifier.tick({});
  notifier.status({true, {}});
  EXPECT_THAT(messages(), Not(Contains("WATCHDOG=1")));
  std::vector<std::string> next;
  while ((next = messages()).empty()) notifier.poll();
  EXPECT_THAT(next, Contains("WATCHDOG=1"));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(100)) << "half the period";
}

TEST_F(SystemdNotifierTest, AWatchdogOfAnotherProcessIsNotOurs) {
  set_watchdog("200000", getpid() + 1);
  SystemdNotifier notifier;
  notifier.poll();
  EXPECT_THAT(messages(), IsEmpty());
}

TEST_F(SystemdNotifierTest, StoppingIsSaidOnceAtTheEnd) {
  {
    SystemdNotifier notifier;
    StatsSnapshot stats;
    stats.final = true;
    notifier.tick(stats);
    EXPECT_THAT(messages(), ElementsAre("STOPPING=1\nSTATUS=stopping"));
  }
  EXPECT_THAT(messages(), IsEmpty());
  { const SystemdNotifier failed; }
  EXPECT_THAT(messages(), ElementsAre("STOPPING=1\nSTATUS=stopping"));
}

TEST_F(SystemdNotifierTest, IsSilentWithoutSystemd) {
  unsetenv("NOTIFY_SOCKET");
  set_watchdog("200000", getpid());
  {
    SystemdNotifier notifier;
    notifier.report(result_of("goldfish"), {});
    notifier.tick({});
    notifier.poll();
    notifier.status({false, {}});
  }
  EXPECT_THAT(messages(), IsEmpty());
}

}  // namespace
}  // namespace lookout
