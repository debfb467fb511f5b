#include "app/install/reload_command.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>

#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::chrono::seconds kLoading{2};

// A service whose run tells `outcome_`, if anything, some time after it was asked.
class ReloadCommandTest : public testing::Test {
 protected:
  ReloadCommandTest() {
    options_.config_file = "/etc/lookout/lookout.toml";
    service_.unit = "lookout.service";
    service_.state_folder = state_.path();
    service_.state = [this] { return active_; };
    service_.reload = [this](bool restart) {
      EXPECT_FALSE(restart);
      asked_ = now_;
    };
    service_.pause = [this] {
      now_ += std::chrono::milliseconds(100);
      if (!tells_ || !asked_ || now_ < *asked_ + kLoading) return;
      outcome_.begun = *asked_;
      write_reload_outcome(state_.path(), outcome_);
      asked_.reset();
    };
    service_.now = [this] { return now_; };
  }

  std::string reload() const { return reload_service(options_, service_); }

  const TempDir state_;
  RunOptions options_;
  ServiceControl service_;
  std::string active_ = "active";
  bool tells_ = true;
  ReloadOutcome outcome_;
  std::optional<Clock::time_point> asked_;
  Clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(ReloadCommandTest, TellsWhatChangedAndWhatNeedsARestart) {
  EXPECT_EQ(reload(), "lookout.service: nothing changed\n");
  outcome_.changed = {"watch.lamp.roi", "state.smoothing", "the model gate"};
  EXPECT_EQ(reload(),
            "lookout.service: watch.lamp.roi, state.smoothing and the model gate changed\n");
  outcome_.kept = {"camera.name"};
  EXPECT_THAT(reload(), HasSubstr("\nlookout.service: camera.name changes with a restart: sudo "
                                  "systemctl restart lookout\n"));
}

TEST_F(ReloadCommandTest, WhatTheServiceRefusesHasTheExitStatusOfAStart) {
  outcome_.error = "configuration /etc/lookout/lookout.toml:7: there is no key rio";
  for (const ErrorKind kind : {ErrorKind::kConfig, ErrorKind::kNoInput}) {
    outcome_.exit_status = static_cast<int>(kind);
    expect_error(kind, "lookout.service: nothing was changed: " + outcome_.error,
                 [this] { reload(); });
  }
}

TEST_F(ReloadCommandTest, AnOutcomeFromBeforeIsNone) {
  outcome_.begun = now_ - std::chrono::seconds(1);
  outcome_.changed = {"camera.max-rate"};
  write_reload_outcome(state_.path(), outcome_);
  tells_ = false;
  const auto no_answer = AllOf(HasSubstr("lookout.service has told nothing for 60 s"),
                               HasSubstr("journalctl -u lookout -e"));
  expect_error(ErrorKind::kDeviceLost, no_answer, [this] { reload(); });
  outcome_.begun = now_ + std::chrono::hours(100);  // of the boot before
  write_reload_outcome(state_.path(), outcome_);
  expect_error(ErrorKind::kDeviceLost, no_answer, [this] { reload(); });
  state_.write("reload.json", "{\"schema\":1}");
  expect_error(ErrorKind::kDeviceLost, no_answer, [this] { reload(); });
}

TEST_F(ReloadCommandTest, AServiceThatDoesNotRunIsNotAsked) {
  active_ = "inactive";
  expect_error(ErrorKind::kDeviceLost,
               "lookout.service is inactive; its start reads the configuration: sudo systemctl "
               "start lookout",
               [this] { reload(); });
  EXPECT_FALSE(asked_);
  active_ = "active";
  tells_ = false;
  service_.reload = [this](bool) { active_ = "failed"; };
  expect_error(ErrorKind::kDeviceLost, HasSubstr("lookout.service is failed"),
               [this] { reload(); });
}

TEST_F(ReloadCommandTest, ARunOfOnesOwnIsToldByASignal) {
  service_.unit.clear();
  options_.config_file = "mine.toml";
  expect_error(ErrorKind::kUsage,
               "mine.toml is not the configuration of a service: kill -USR2 PID has a run of your "
               "own read it again",
               [this] { reload(); });
}

TEST_F(ReloadCommandTest, OthersThanRootAreToldToUseSudo) {
  service_.state_folder = state_ / "private";
  std::filesystem::create_directory(service_.state_folder);
  std::filesystem::permissions(service_.state_folder, std::filesystem::perms::none);
  expect_error_unprivileged(ErrorKind::kPermission, "run it with sudo", [this] { reload(); });
}

}  // namespace
}  // namespace lookout
