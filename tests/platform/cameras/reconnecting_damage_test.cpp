// Cameras that give less than was asked for or granted, and damaged frames.
#include <chrono>
#include <vector>

#include "tests/platform/cameras/reconnecting_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(ReconnectingSourceTest, ACameraThatGrantsLessIsSaidOnce) {
  info_.shortfall = "asked for 30 fps, the camera gives 10 fps";
  add_life(frames_then(1, lose));
  add_life(frames_then(1, lose));
  add_life(frames_then(1, stay_silent));
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(count_lines(log), 3) << log.text();
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
  EXPECT_EQ(count_lines(log), 1) << log.text();
  EXPECT_THAT(log.text(), HasSubstr("asked for 25 fps, granted 30, but only 10.0 come"));
  for (int i = 0; i < 200; ++i) ASSERT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_EQ(count_lines(log), 3) << log.text();
}

TEST_F(ReconnectingSourceTest, DamagedFramesAreASignOfLifeAndSaidOnce) {
  add_life(
      [](int read, Frame& frame) { return read < 50 ? ReadStatus::kSkipped : fill(frame, read); });
  const CapturedLog log;
  ReconnectingSource source = make();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(read(source), ReadStatus::kSkipped);
  EXPECT_EQ(read(source), ReadStatus::kFrame);
  EXPECT_THAT(log.text(), HasSubstr("camera video0: a damaged frame was skipped"));
  EXPECT_EQ(count_lines(log), 1) << log.text();
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
  EXPECT_EQ(count_lines(log), 2) << log.text();
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
  EXPECT_EQ(count_lines(log), 1) << log.text();
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
  EXPECT_EQ(count_lines(log), 4) << log.text();  // damaged, lost, back, damaged
}

}  // namespace
}  // namespace lookout
