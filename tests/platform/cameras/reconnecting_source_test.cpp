#include "platform/cameras/reconnecting_source.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <vector>

#include "platform/cameras/unusable_device.h"
#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::ptrdiff_t lines_of(const CapturedLog& log) {
  const std::string text = log.text();
  return std::count(text.begin(), text.end(), '\n');
}

// Time that passes only when somebody sleeps or waits for a frame.
class ReconnectingSourceTest : public testing::Test {
 protected:
  // What the camera does from one opening to its closing; `read` counts from 0.
  using Life = std::function<ReadStatus(int read, Frame& frame)>;

  // A fake camera that takes 100 ms for a read, and whose end is counted.
  class Camera : public FakeSource {
   public:
    Camera(ReconnectingSourceTest& test, Life life)
        : FakeSource(/*live=*/true,
                     [&test, life = std::move(life)](int read, Frame& frame) {
                       test.now_ += milliseconds(100);
                       return life(read, frame);
                     }),
          test_(test) {
      ++test_.open_;
      EXPECT_EQ(test_.open_, 1) << "the one before was not closed";
      test_.openings_.push_back(test_.now_ - Clock::time_point());
    }
    ~Camera() override {
      --test_.open_;
      if (test_.on_close_) test_.on_close_();
    }
    Camera(const Camera&) = delete;
    Camera& operator=(const Camera&) = delete;
    const SourceInfo& info() const override { return test_.info_; }

   private:
    ReconnectingSourceTest& test_;
  };

  ReconnectingSourceTest() {
    info_.name = "video0";
    info_.live = true;
    info_.fps = 30;
    options_.now = [this] { return now_; };
    options_.sleep = [this](Clock::duration duration) {
      longest_sleep_ = std::max(longest_sleep_, duration);
      now_ += duration;
    };
  }

  void add_life(Life life) {
    lives_.emplace_back([this, life = std::move(life)]() -> std::unique_ptr<Source> {
      return std::make_unique<Camera>(*this, life);
    });
  }
  void add_refusals(int count, ErrorKind kind, const std::string& why = "not now") {
    for (int i = 0; i < count; ++i) {
      lives_.emplace_back([this, kind, why]() -> std::unique_ptr<Source> {
        attempts_.push_back(now_);
        throw Error(kind, why);
      });
    }
  }

  // The lives that were added, one for each opening.
  ReconnectingSource make() {
    return ReconnectingSource(
        [this] {
          if (lives_.empty()) throw std::logic_error("opened more often than the test wants");
          const auto life = lives_.front();
          lives_.pop_front();
          return life();
        },
        options_);
  }

  // Reads until something comes, while the fake's time passes.
  ReadStatus read(ReconnectingSource& source) {
    ReadStatus status = ReadStatus::kTimeout;
    for (int i = 0; i < 10'000 && status == ReadStatus::kTimeout; ++i) {
      status = source.read(frame_, kTimeout);
    }
    return status;
  }

  static Life frames_then(int count, const Life& then) {
    return [=](int read, Frame& frame) {
      return read < count ? fill(frame, read) : then(read, frame);
    };
  }
  static ReadStatus lose(int /*read*/, Frame& /*frame*/) {
    throw Error(ErrorKind::kDeviceLost, "the plug was pulled");
  }
  static ReadStatus send_damage(int /*read*/, Frame& /*frame*/) { return ReadStatus::kSkipped; }
  static ReadStatus stay_silent(int /*read*/, Frame& /*frame*/) { return ReadStatus::kTimeout; }

  Clock::time_point now_;
  std::function<void()> on_close_;
  SourceInfo info_;
  ReconnectOptions options_;
  std::deque<std::function<std::unique_ptr<Source>()>> lives_;
  std::vector<Clock::duration> openings_;
  std::vector<Clock::time_point> attempts_;
  Clock::duration longest_sleep_{};
  int open_ = 0;
  Frame frame_;
};

TEST_F(ReconnectingSourceTest, AFirstOpeningThatFailsIsAnError) {
  for (const ErrorKind kind : {ErrorKind::kNoInput, ErrorKind::kPermission}) {
    add_refusals(1, kind);
    expect_error(kind, "not now", [&] { make(); });
  }
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
  EXPECT_EQ(lines_of(log), 2) << log.text();
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
  EXPECT_LE(longest_sleep_, kTimeout) << "every read keeps its bound";
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
  EXPECT_EQ(lines_of(log), 2) << log.text();
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
  EXPECT_EQ(lines_of(log), 2) << log.text();
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
  EXPECT_EQ(lines_of(log), 2) << log.text();
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
  EXPECT_EQ(lines_of(log), 4) << "lost, back, lost, back: " << log.text();
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
  EXPECT_EQ(lines_of(log), 3) << log.text();
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(lines_of(log), 6) << "after another loss it is said anew: " << log.text();
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

TEST_F(ReconnectingSourceTest, TimeBeforeTheFirstReadIsNoStall) {
  add_life(
      [](int read, Frame& frame) { return read < 5 ? ReadStatus::kTimeout : fill(frame, read); });
  const CapturedLog log;
  ReconnectingSource source = make();
  now_ += seconds(60);  // a model is loaded
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(log.text(), "");
}

TEST_F(ReconnectingSourceTest, ACameraThatGrantsLessIsSaidOnce) {
  info_.shortfall = "asked for 30 fps, the camera gives 10 fps";
  add_life(frames_then(1, lose));
  add_life(frames_then(1, lose));
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(lines_of(log), 3) << log.text();
  EXPECT_THAT(log.text(), HasSubstr("camera video0: asked for 30 fps, the camera gives 10 fps"));
  info_.shortfall = "asked for 30 fps, the camera gives 5 fps";
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("gives 5 fps")) << "that is new";
}

TEST_F(ReconnectingSourceTest, ACameraThatDeliversLessThanItGrantedIsSaidOnce) {
  info_.fps = 30;
  info_.asked_fps = 25;
  const Life slow = [this](int read, Frame& frame) {  // 10 fps
    frame.captured = now_;
    return read < 200 ? fill(frame, read) : lose(read, frame);
  };
  add_life(slow);
  add_life(slow);
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 200; ++i) ASSERT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(lines_of(log), 1) << log.text();
  EXPECT_THAT(log.text(), HasSubstr("asked for 25 fps, granted 30, but only 10.0 come"));
  for (int i = 0; i < 200; ++i) ASSERT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(lines_of(log), 3) << log.text();
}

TEST_F(ReconnectingSourceTest, WhatIsNoLossIsPassedOn) {
  add_life([](int, Frame&) -> ReadStatus { throw Error(ErrorKind::kInternal, "a bug"); });
  ReconnectingSource source = make();
  expect_error(ErrorKind::kInternal, "a bug", [&] { read(source); });
}

TEST_F(ReconnectingSourceTest, DamagedFramesAreASignOfLifeAndSaidOnce) {
  add_life(
      [](int read, Frame& frame) { return read < 50 ? ReadStatus::kSkipped : fill(frame, read); });
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(read(source), ReadStatus::kSkipped);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("camera video0: a damaged frame was skipped"));
  EXPECT_EQ(lines_of(log), 1) << log.text();
}

TEST_F(ReconnectingSourceTest, DamagedFramesAloneAreALossAfterTenSeconds) {
  options_.give_up_after = seconds(60);
  for (int i = 0; i < 10; ++i) add_life(frames_then(i == 0 ? 5 : 0, send_damage));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(source.read(frame_, kTimeout), ReadStatus::kFrame);
  for (int i = 0; i < 101; ++i) EXPECT_EQ(source.read(frame_, kTimeout), ReadStatus::kSkipped);
  EXPECT_FALSE(source.online());
  EXPECT_EQ(open_, 0);
  expect_error(ErrorKind::kDeviceLost,
               "camera video0 did not come back within 60 s: only damaged frames for 10.0 s", [&] {
                 for (int i = 0; i < 1000; ++i) source.read(frame_, kTimeout);
               });
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("camera video0: a damaged frame was skipped"),
                    HasSubstr("camera video0 lost: only damaged frames for 10.0 s; trying again")));
  EXPECT_EQ(lines_of(log), 2) << log.text();
}

TEST_F(ReconnectingSourceTest, ASlowCameraHasThirtyPeriodsForAWholeFrame) {
  info_.fps = 2;
  add_life(send_damage);
  add_life(frames_then(1, lose));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 151; ++i) EXPECT_EQ(source.read(frame_, kTimeout), ReadStatus::kSkipped);
  EXPECT_FALSE(source.online());
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("only damaged frames for 15.0 s"));
}

TEST_F(ReconnectingSourceTest, AWholeFrameNowAndThenIsEnough) {
  add_life([](int read, Frame& frame) {
    return read % 90 == 89 ? fill(frame, 0) : ReadStatus::kSkipped;
  });
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 900; ++i) EXPECT_NE(source.read(frame_, kTimeout), ReadStatus::kTimeout);
  EXPECT_TRUE(source.online());
  EXPECT_EQ(lines_of(log), 1) << log.text();
}

TEST_F(ReconnectingSourceTest, ACameraThatIsMostlyDamagedIsAskedLessAndLess) {
  for (int i = 0; i < 4; ++i) add_life(frames_then(1, send_damage));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 1000 && openings_.size() < 4; ++i) source.read(frame_, kTimeout);
  // Each life is a frame, 100 ms, and damage, 100 ms and 10 s.
  EXPECT_EQ(openings_, (std::vector<Clock::duration>{milliseconds(0), milliseconds(10'450),
                                                     milliseconds(10'450 + 10'700),
                                                     milliseconds(10'450 + 10'700 + 11'200)}));
}

TEST_F(ReconnectingSourceTest, DamageIsSaidAnewAfterALoss) {
  const Life damage = [](int read, Frame& frame) {
    if (read == 3) return lose(read, frame);
    return read == 1 ? fill(frame, read) : ReadStatus::kSkipped;
  };
  add_life(damage);
  add_life(damage);
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 6; ++i) EXPECT_NE(read(source), ReadStatus::kTimeout);
  EXPECT_EQ(lines_of(log), 4) << log.text();  // damaged, lost, back, damaged
}

}  // namespace
}  // namespace lookout
