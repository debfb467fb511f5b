#include "platform/cameras/reconnecting_source.h"

#include <chrono>
#include <vector>

#include "platform/cameras/v4l2_device.h"
#include "tests/platform/cameras/reconnecting_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ReconnectingSourceTest, AFirstOpeningThatFailsIsAnError) {
  for (const ErrorKind kind : {ErrorKind::kNoInput, ErrorKind::kPermission}) {
    add_refusals(1, kind);
    expect_error(kind, "not now", [&] { make(); });
  }
}

TEST_F(ReconnectingSourceTest, IsIdleBetweenAttemptsWhenSomebodyCanWakeIt) {
  const WakeEvent wake;
  options_.wake = &wake;
  options_.name = "video0";
  options_.wait_for_first = true;
  options_.give_up_after = milliseconds(400);
  add_refusals(2, ErrorKind::kNoInput);
  ReconnectingSource source = make();
  EXPECT_TRUE(source.idle());
  EXPECT_EQ(source.read(frame_, seconds(60)), ReadStatus::kTimeout);
  EXPECT_EQ(max_sleep_, milliseconds(250)) << "the next attempt";
  source.read(frame_, seconds(60));
  source.read(frame_, seconds(60));
  expect_error(ErrorKind::kDeviceLost, "camera video0 did not come within 0.4 s: not now",
               [&] { source.read(frame_, seconds(60)); });
  EXPECT_EQ(now_ - Clock::time_point(), milliseconds(400)) << "the end of its patience";
}

TEST_F(ReconnectingSourceTest, AnOpenCameraIsNotIdle) {
  const WakeEvent wake;
  options_.wake = &wake;
  add_life(frames_then(1, lose));
  ReconnectingSource source = make();
  EXPECT_FALSE(source.idle());
  read(source);
  source.read(frame_, kTimeout);
  EXPECT_TRUE(source.idle());
}

TEST_F(ReconnectingSourceTest, ALostCameraIsOpenedAgainAndEachIsSaidOnce) {
  add_life(frames_then(3, lose));
  add_refusals(1, ErrorKind::kNoInput);
  add_refusals(2, ErrorKind::kPermission);
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_TRUE(source.online());
  EXPECT_EQ(source.read(frame_, kTimeout), ReadStatus::kTimeout);
  EXPECT_FALSE(source.online());
  EXPECT_EQ(open_, 0) << "torn down at once";
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_TRUE(source.online());
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("camera video0 lost: the plug was pulled; trying again"),
                    // 250 + 500 + 1000 + 2000 ms of waiting, 100 for the frame
                    HasSubstr("camera video0 is back after 3.9 s"), Not(HasSubstr("not now"))));
  EXPECT_EQ(count_lines(log), 2) << log.text();
}

TEST_F(ReconnectingSourceTest, TheDelayGrowsAndHasABound) {
  add_life(frames_then(1, lose));
  add_refusals(9, ErrorKind::kNoInput);
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  std::vector<milliseconds> gaps;
  for (std::size_t i = 1; i < attempts_.size(); ++i) {
    gaps.push_back(std::chrono::duration_cast<milliseconds>(attempts_[i] - attempts_[i - 1]));
  }
  EXPECT_EQ(gaps, (std::vector<milliseconds>{milliseconds(500), seconds(1), seconds(2), seconds(4),
                                             seconds(8), seconds(10), seconds(10), seconds(10)}));
  EXPECT_LE(max_sleep_, kTimeout) << "every read keeps its bound";
}

TEST_F(ReconnectingSourceTest, ASilentCameraIsLostAfterTwoSeconds) {
  add_life(frames_then(1, stay_silent));
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("camera video0 lost: no frame for 2.0 s; trying again"));
  EXPECT_EQ(openings_.at(1), milliseconds(100 + 2000 + 250));
}

TEST_F(ReconnectingSourceTest, ALossIsSaidBeforeTheCameraIsClosed) {
  const CapturedLog log;
  std::string said;
  on_close_ = [&] { said = log.text(); };
  add_life(frames_then(1, lose));
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(source.read(frame_, kTimeout), ReadStatus::kTimeout);
  EXPECT_THAT(said, HasSubstr("camera video0 lost: the plug was pulled"));
}

TEST_F(ReconnectingSourceTest, ASlowCameraHasThirtyPeriods) {
  info_.fps = 5;
  add_life(frames_then(1, stay_silent));
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("no frame for 6.0 s"));
}

TEST_F(ReconnectingSourceTest, ACameraMayStartSlowly) {
  const Life slow = [this](int read, Frame& frame) {
    if (read == 0) now_ += seconds(12);          // the driver starts it
    if (read < 90) return ReadStatus::kTimeout;  // 9 s
    return read == 90 ? fill(frame, read) : lose(read, frame);
  };
  add_life(slow);
  add_life(slow);
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(log.text(), "");
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(openings_.size(), 2U) << "also when it comes back";
}

TEST_F(ReconnectingSourceTest, ACameraThatDoesNotStartIsLost) {
  add_life(stay_silent);
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("camera video0 lost: no frame for 10.0 s; trying again"));
}

TEST_F(ReconnectingSourceTest, ASlowCameraHasThirtyPeriodsForItsStart) {
  info_.fps = 2;
  add_life(stay_silent);
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("no frame for 15.0 s"));
}

TEST_F(ReconnectingSourceTest, OpeningAloneIsNoReturn) {
  add_life(frames_then(1, lose));
  add_life(stay_silent);
  add_life(lose);
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(openings_.size(), 4U);
  EXPECT_EQ(count_lines(log), 2) << log.text();
}

TEST_F(ReconnectingSourceTest, ACameraThatComesAndGoesIsAskedLessAndLess) {
  for (int i = 0; i < 4; ++i) add_life(frames_then(1, lose));
  add_life(frames_then(200, lose));  // 20 s
  add_life(frames_then(1, lose));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 4 + 200 + 1; ++i) ASSERT_EQ(read(source), ReadStatus::kFrame);
  std::vector<milliseconds> away;
  for (std::size_t i = 1; i < openings_.size(); ++i) {
    away.push_back(std::chrono::duration_cast<milliseconds>(openings_[i] - openings_[i - 1]));
  }
  // Each life is a frame, 100 ms, and the failing read, 100 ms.
  EXPECT_EQ(away,
            (std::vector<milliseconds>{milliseconds(450), milliseconds(700), milliseconds(1200),
                                       milliseconds(2200), milliseconds(200 * 100 + 100 + 250)}));
}

TEST_F(ReconnectingSourceTest, GivesUpWhenAsked) {
  options_.give_up_after = seconds(30);
  add_life(frames_then(1, lose));
  add_refusals(100, ErrorKind::kNoInput);
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  const auto before = now_;
  expect_error(ErrorKind::kDeviceLost,
               "camera video0 did not come back within 30 s: the plug was pulled",
               [&] { read(source); });
  EXPECT_GE(now_ - before, seconds(30));
  EXPECT_LT(now_ - before, seconds(31));
}

TEST_F(ReconnectingSourceTest, ACameraThatIsNotThereYetIsWaitedForWhenAsked) {
  options_.name = "front";
  options_.wait_for_first = true;
  info_.description = "a camera, 640x480";
  add_refusals(2, ErrorKind::kNoInput);
  add_refusals(1, ErrorKind::kDeviceLost);
  add_life(frames_then(2, lose));
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  EXPECT_FALSE(source.online());
  EXPECT_EQ(source.info().name, "front");
  EXPECT_TRUE(source.info().live);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_TRUE(source.online());
  EXPECT_EQ(source.info().name, "front");
  EXPECT_THAT(log.text(), AllOf(HasSubstr("waiting for camera front: not now"),
                                HasSubstr("source: a camera, 640x480")));
  EXPECT_EQ(count_lines(log), 2) << log.text();
  EXPECT_EQ(openings_.at(0), milliseconds(250 + 500 + 1000));
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("camera front lost"), HasSubstr("front is back")));
}

TEST_F(ReconnectingSourceTest, WhatCannotComeIsNotWaitedFor) {
  options_.wait_for_first = true;
  add_refusals(1, ErrorKind::kUnsupported);
  expect_error(ErrorKind::kUnsupported, "not now", [&] { make(); });
  lives_.emplace_back([]() -> std::unique_ptr<Source> { throw UnusableDevice("it is a codec"); });
  expect_error(ErrorKind::kNoInput, "it is a codec", [&] { make(); });
}

TEST_F(ReconnectingSourceTest, AnotherDeviceUnderTheNameOfALostCameraIsAMatterOfTime) {
  add_life(frames_then(1, lose));
  lives_.emplace_back([]() -> std::unique_ptr<Source> { throw UnusableDevice("it is a codec"); });
  add_life(frames_then(1, lose));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
}

TEST_F(ReconnectingSourceTest, AnotherReasonIsSaidOnceWhenItLasts) {
  options_.name = "front";
  options_.wait_for_first = true;
  options_.give_up_after = std::chrono::minutes(10);
  add_refusals(3, ErrorKind::kNoInput, "no such device");
  for (int i = 0; i < 3; ++i) {
    add_refusals(5, ErrorKind::kPermission, "no permission");
    add_refusals(5, ErrorKind::kNoInput, "no such device");
  }
  add_refusals(100, ErrorKind::kPermission, "no permission");
  const CapturedLog log;
  ReconnectingSource source = make();
  expect_error(ErrorKind::kDeviceLost, "camera front did not come within 600 s: no permission",
               [&] { read(source); });
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("[warning] waiting for camera front: no such device"),
                    HasSubstr("[warning] still waiting for camera front: no permission")));
  EXPECT_EQ(count_lines(log), 2) << log.text();
}

TEST_F(ReconnectingSourceTest, AReasonOfAMomentIsNotSaid) {
  add_life(frames_then(1, lose));
  for (int i = 0; i < 10; ++i) {
    add_refusals(1, ErrorKind::kDeviceLost);
    add_refusals(1, ErrorKind::kPermission);
  }
  add_life(frames_then(1, lose));
  add_refusals(1, ErrorKind::kPermission);
  add_life(frames_then(1, lose));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(count_lines(log), 4) << "lost, back, lost, back: " << log.text();
}

TEST_F(ReconnectingSourceTest, ThatALostCameraIsAbsentIsNoOtherReason) {
  add_life(frames_then(1, lose));
  add_refusals(20, ErrorKind::kNoInput, "no such device");
  add_refusals(20, ErrorKind::kDeviceLost, "in use");
  add_life(frames_then(1, lose));
  add_refusals(20, ErrorKind::kDeviceLost, "in use");
  add_life(frames_then(1, lose));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("still waiting for camera video0: in use"),
                                Not(HasSubstr("no such device"))));
  EXPECT_EQ(count_lines(log), 3) << log.text();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(count_lines(log), 6) << "after another loss it is logged again: " << log.text();
}

TEST_F(ReconnectingSourceTest, WaitingIsGivenUpAndOtherErrorsAreNot) {
  options_.name = "front";
  options_.wait_for_first = true;
  options_.give_up_after = seconds(30);
  add_refusals(100, ErrorKind::kNoInput);
  const CapturedLog log;
  ReconnectingSource source = make();
  expect_error(ErrorKind::kDeviceLost, "camera front did not come within 30 s: not now",
               [&] { read(source); });
  lives_.clear();
  add_refusals(1, ErrorKind::kUsage);
  expect_error(ErrorKind::kUsage, "not now", [&] { make(); });
}

TEST_F(ReconnectingSourceTest, AnOptionThatWasRightAtFirstMayBecomeRightAgain) {
  options_.name = "front";
  options_.wait_for_first = true;
  add_refusals(1, ErrorKind::kNoInput);
  add_refusals(2, ErrorKind::kUsage, "the file camera.credentials is empty");
  add_life(frames_then(1, lose));
  add_refusals(2, ErrorKind::kUsage, "the file camera.credentials is empty");
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
}

TEST_F(ReconnectingSourceTest, TimeBeforeTheFirstReadIsNoStall) {
  add_life(
      [](int read, Frame& frame) { return read < 5 ? ReadStatus::kTimeout : fill(frame, read); });
  const CapturedLog log;
  ReconnectingSource source = make();
  now_ += seconds(60);  // a model is loaded
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(log.text(), "");
}

TEST_F(ReconnectingSourceTest, WhatIsNoLossIsPassedOn) {
  add_life([](int, Frame&) -> ReadStatus { throw Error(ErrorKind::kInternal, "a bug"); });
  ReconnectingSource source = make();
  expect_error(ErrorKind::kInternal, "a bug", [&] { read(source); });
}

}  // namespace
}  // namespace lookout
