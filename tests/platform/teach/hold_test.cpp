// Holding a class's button, in a time of the test's own.
#include <gmock/gmock.h>

#include <opencv2/imgproc.hpp>

#include "platform/teach/hold_lease.h"
#include "platform/teach/teach_reporter.h"
#include "platform/teach/teaching.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::_;
using testing::HasSubstr;
using testing::SizeIs;

constexpr milliseconds kFrame{100};  // ten frames a second

cv::Mat scene(int place) {
  cv::Mat bgr(120, 160, CV_8UC3, cv::Scalar(60, 120, 180));
  cv::rectangle(bgr, {place, 20, 40, 40}, cv::Scalar(0, 0, 255), cv::FILLED);
  return bgr;
}

class LookingTrainer : public TeachTrainer {
 public:
  MOCK_METHOD(void, start,
              (const TaughtWatch&, const std::vector<TaughtPicture>&, const PictureFile&),
              (override));
  MOCK_METHOD(void, look,
              (const TaughtWatch&, const std::vector<TaughtPicture>&, const PictureFile&, cv::Mat),
              (override));
  MOCK_METHOD(std::optional<TeachLook>, newest_look, (const std::string&), (override));
  MOCK_METHOD(void, cancel, (), (override));
  MOCK_METHOD(std::optional<TeachJob>, job, (), (override));
  MOCK_METHOD(TaughtModels, models, (const std::string&), (override));
  MOCK_METHOD(void, use, (const std::string&, const std::string&), (override));
  MOCK_METHOD(void, rename, (const std::string&, const std::string&), (override));
  MOCK_METHOD(void, begin, (const std::string&), (override));
  MOCK_METHOD(void, retire, (const std::string&), (override));
  MOCK_METHOD(void, restore, (const std::string&), (override));
  MOCK_METHOD(void, keep_only, (const TeachLibrary::Contents&), (override));
};

class HoldTest : public testing::Test {
 protected:
  HoldTest() {
    TeachLimits limits;
    limits.free = 0;
    limits.trash = kTrash;
    teaching_ = std::make_shared<Teaching>(
        std::make_unique<TeachLibrary>(directory_.path() / "teach", limits));
    teaching_->with_library([](TeachLibrary& library) {
      return library.add_watch({"gate", "", {0, 0, 1, 1}, {"open", "closed"}, 0});
    });
    start_reporter({});
  }

  void start_reporter(const View& view) {
    reporter_ = std::make_unique<TeachReporter>(teaching_, view, [this] { return now_; });
  }

  // A frame of a scene, in which something moves by `step` pixels from one to the next.
  void pass(milliseconds time, int step = 3) {
    for (milliseconds passed{}; passed < time; passed += kFrame) {
      Frame frame;
      frame.sequence = sequence_++;
      frame.bgr = scene(static_cast<int>(frame.sequence) * step % 100);
      reporter_->report({}, frame);
      reporter_->report({}, frame);  // of another watch
      reporter_ = nullptr;           // until the picture is in the library
      start_reporter({});
      now_.uptime += kFrame;
      now_.wall.at += kFrame;
    }
  }

  std::vector<TaughtPicture> pictures(const std::string& label) {
    return teaching_->with_library([&](TeachLibrary& library) {
      return library.pictures({"gate", label, false, 0, 100});
    });
  }
  HoldStatus status(std::int64_t number) { return teaching_->hold(number, now_); }

  std::optional<TeachProblem> problem_of_begin(const std::string& watch, const std::string& label) {
    try {
      teaching_->begin_hold(watch, label, now_);
    } catch (const TeachError& error) {
      return error.problem();
    }
    return std::nullopt;
  }

  static constexpr std::chrono::hours kTrash{24};  // fewer than one purge counts

  const TempDir directory_;
  TeachNow now_{{decltype(TeachTime::at)(std::chrono::seconds(1795262400)), 780},
                milliseconds(50'000)};
  std::uint64_t sequence_ = 0;
  std::shared_ptr<Teaching> teaching_;
  std::unique_ptr<TeachReporter> reporter_;
};

TEST_F(HoldTest, TwoPicturesASecondWhileTheButtonIsHeld) {
  pass(milliseconds(1000));
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  for (int i = 0; i < 6; ++i) {
    pass(milliseconds(500));
    EXPECT_TRUE(teaching_->renew_hold(hold, now_).held);
  }
  EXPECT_FALSE(teaching_->release_hold(hold, now_).held);
  pass(milliseconds(2000));
  EXPECT_EQ(status(hold).kept, 6);
  const auto kept = pictures("open");
  ASSERT_THAT(kept, SizeIs(6));
  EXPECT_EQ(kept.front().hold, hold);
  EXPECT_EQ(kept.front().time.minute, 780);
  EXPECT_EQ(kept[0].time.at - kept[1].time.at, milliseconds(500));
  EXPECT_FALSE(kept.front().night);
}

TEST_F(HoldTest, EndsOneAndAHalfSecondsAfterThePhoneIsGone) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  pass(milliseconds(500));
  teaching_->renew_hold(hold, now_);
  pass(milliseconds(1400));
  EXPECT_TRUE(status(hold).held);
  pass(milliseconds(100));
  EXPECT_FALSE(status(hold).held);
  pass(milliseconds(5000));
  EXPECT_EQ(status(hold).kept, 4);  // at 0, 0.5, 1 and 1.5 s
  EXPECT_FALSE(teaching_->renew_hold(hold, now_).held) << "it does not come back";
}

TEST_F(HoldTest, EndsAfterAMinute) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  const auto end = now_.uptime + HoldLease::kLongest;
  while (now_.uptime + HoldLease::kEvery < end) {
    now_.uptime += HoldLease::kEvery;
    EXPECT_TRUE(teaching_->renew_hold(hold, now_).held);
  }
  now_.uptime = end;
  EXPECT_FALSE(teaching_->renew_hold(hold, now_).held);
}

TEST_F(HoldTest, ATapTakesOnePicture) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  teaching_->release_hold(hold, now_);
  pass(milliseconds(3000));
  EXPECT_EQ(status(hold).kept, 1);
}

TEST_F(HoldTest, OfASceneInWhichNothingMovesFivePicturesAreKept) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  for (int i = 0; i < 10; ++i) {
    pass(milliseconds(500), /*step=*/0);
    teaching_->renew_hold(hold, now_);
  }
  EXPECT_EQ(status(hold).kept, 5);
  EXPECT_EQ(status(hold).similar, 5);
  EXPECT_THAT(pictures("open"), SizeIs(5));
}

TEST_F(HoldTest, OnlyOneButtonIsHeld) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  EXPECT_EQ(problem_of_begin("gate", "closed"), TeachProblem::kHeld);
  teaching_->release_hold(hold, now_);
  EXPECT_EQ(problem_of_begin("gate", "closed"), std::nullopt);
  EXPECT_THROW(status(hold), TeachError);
}

TEST_F(HoldTest, TheLastHoldIsKnown) {
  EXPECT_FALSE(teaching_->last_hold(now_));
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  pass(milliseconds(500));
  teaching_->release_hold(hold, now_);
  const auto last = teaching_->last_hold(now_);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->number, hold);
  EXPECT_EQ(last->kept, 1U);
  EXPECT_FALSE(last->held);
}

TEST_F(HoldTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(problem_of_begin("door", "open"), TeachProblem::kNoWatch);
  EXPECT_EQ(problem_of_begin("gate", "ajar"), TeachProblem::kNoClass);
  EXPECT_EQ(problem_of_begin("gate", ""), TeachProblem::kInvalid);
  EXPECT_EQ(problem_of_begin("gate", kNoneOfThem), std::nullopt);
  EXPECT_THROW(status(0), TeachError);
}

TEST_F(HoldTest, ACameraThatIsAwayEndsIt) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  CameraStatus away;
  away.online = false;
  reporter_->status(away);
  EXPECT_FALSE(status(hold).held);
  EXPECT_EQ(problem_of_begin("gate", "open"), TeachProblem::kAway);
  away.online = true;
  reporter_->status(away);
  pass(milliseconds(500));
  EXPECT_EQ(status(hold).kept, 0);
  EXPECT_EQ(problem_of_begin("gate", "open"), std::nullopt);
}

TEST_F(HoldTest, AFullLibraryIsTold) {
  reporter_ = nullptr;
  teaching_ = nullptr;
  TeachLimits limits;
  limits.free = 0;
  limits.pictures = 1;
  teaching_ = std::make_shared<Teaching>(
      std::make_unique<TeachLibrary>(directory_.path() / "teach", limits));
  start_reporter({});
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  pass(milliseconds(1000));
  EXPECT_EQ(status(hold).kept, 1);
  EXPECT_EQ(status(hold).problem, TeachProblem::kLibraryFull);
  EXPECT_THAT(status(hold).why, HasSubstr("full"));
}

TEST_F(HoldTest, PicturesAreWholeAndTurnedAsPeopleSeeThem) {
  View view;
  view.rotation = 90;
  view.roi = {0.5, 0.5, 0.1, 0.1};
  start_reporter(view);
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  Frame frame;
  frame.bgr = scene(0);
  reporter_->report({}, frame);
  reporter_ = nullptr;
  ASSERT_EQ(status(hold).kept, 1);
  const auto file = teaching_->with_library([&](TeachLibrary& library) { return library.file(1); });
  const std::string jpeg = read_file(file);
  EXPECT_EQ(jpeg.substr(0, 3), "\xff\xd8\xff");
}

TEST_F(HoldTest, WhatWasThrownAwayLongAgoIsRemovedAtTheStartAndEachDay) {
  const auto take_one = [this] {
    teaching_->release_hold(teaching_->begin_hold("gate", "open", now_).number, now_);
    pass(milliseconds(500));
  };
  const auto trashed = [this] {
    return teaching_->with_library([](TeachLibrary& library) {
      return library.pictures({"gate", std::nullopt, /*trashed=*/true, 0, 100}).size();
    });
  };
  const auto throw_away = [this] {
    teaching_->with_library([this](TeachLibrary& library) {
      const PictureMark mark{library.labelled("gate").front().number, "open", /*trashed=*/true, 0};
      return library.change({mark}, now_.wall);
    });
  };
  take_one();
  throw_away();
  now_.wall.at += kTrash + std::chrono::hours(1);
  reporter_->poll();
  reporter_ = nullptr;  // until its thread is done
  EXPECT_EQ(trashed(), 0U);

  start_reporter({});
  take_one();
  reporter_->poll();
  throw_away();
  now_.wall.at += kTrash + std::chrono::hours(1);
  now_.uptime += TeachReporter::kPurge - std::chrono::hours(1);
  reporter_->poll();
  EXPECT_EQ(trashed(), 1U) << "a day has not passed";
  now_.uptime += std::chrono::hours(1);
  reporter_->poll();
  reporter_ = nullptr;
  EXPECT_EQ(trashed(), 0U);
}

TEST_F(HoldTest, DarkPicturesAndThoseWithoutColorsAreOfTheNight) {
  const Hold hold{teaching_->begin_hold("gate", "open", now_).number, "gate", "open", {0, 0, 1, 1}};
  teaching_->add(hold, scene(10), now_.wall);
  teaching_->add(hold, scene(10) * 0.1, now_.wall);
  cv::Mat infrared;
  cv::cvtColor(scene(50), infrared, cv::COLOR_BGR2GRAY);
  cv::cvtColor(infrared, infrared, cv::COLOR_GRAY2BGR);
  teaching_->add(hold, infrared, now_.wall);
  const auto kept = pictures("open");
  ASSERT_THAT(kept, SizeIs(3));
  EXPECT_TRUE(kept[0].night);
  EXPECT_TRUE(kept[1].night);
  EXPECT_FALSE(kept[2].night);
  EXPECT_LT(kept[1].brightness, 20);
}

class LookTest : public HoldTest {
 protected:
  LookTest() {
    reporter_ = nullptr;
    teaching_ = nullptr;
    TeachLimits limits;
    limits.free = 0;
    teaching_ = std::make_shared<Teaching>(
        std::make_unique<TeachLibrary>(directory_.path() / "teach", limits), trainer_);
    EXPECT_CALL(*trainer_, keep_only).Times(testing::AnyNumber());
    start_reporter({});
  }

  const std::shared_ptr<testing::StrictMock<LookingTrainer>> trainer_ =
      std::make_shared<testing::StrictMock<LookingTrainer>>();
};

TEST_F(LookTest, TwiceASecondForAWhileAfterSomebodyAsked) {
  pass(milliseconds(1000));
  EXPECT_CALL(*trainer_, look(testing::Field(&TaughtWatch::name, "gate"), SizeIs(0), _, _))
      .Times(static_cast<int>(Teaching::kLooked / Teaching::kLookEach));
  teaching_->ask_look("gate", now_);
  pass(milliseconds(5000));
}

TEST_F(LookTest, APictureOfAHoldIsLookedAtWithThosePicturesBefore) {
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  testing::InSequence order;
  for (const std::size_t pictures : {1U, 2U}) {
    EXPECT_CALL(*trainer_, look(_, SizeIs(pictures), _, _))
        .WillOnce([](auto&, auto& known, auto& file, auto) {
          EXPECT_TRUE(std::filesystem::exists(file(known.back().number)));
        });
  }
  teaching_->ask_look("gate", now_);
  pass(milliseconds(1000));
  EXPECT_EQ(status(hold).kept, 2);
}

TEST_F(LookTest, WhatIsWrongWithItDoesNotEndAHold) {
  EXPECT_CALL(*trainer_, look).WillRepeatedly(testing::Throw(std::runtime_error("no memory")));
  const std::int64_t hold = teaching_->begin_hold("gate", "open", now_).number;
  pass(milliseconds(500));
  EXPECT_EQ(status(hold).kept, 1);
  teaching_->ask_look("a watch that was removed", now_);
  teaching_->release_hold(hold, now_);
  pass(milliseconds(500));
}

TEST_F(LookTest, WhatIsKeptOfPicturesThatAreGoneGoesAtTheStart) {
  teaching_->release_hold(teaching_->begin_hold("gate", "open", now_).number, now_);
  EXPECT_CALL(*trainer_, look);
  pass(milliseconds(500));
  using Contents = TeachLibrary::Contents;
  EXPECT_CALL(*trainer_, keep_only(testing::AllOf(
                             testing::Field(&Contents::pictures, testing::ElementsAre(1)),
                             testing::Field(&Contents::watches, testing::ElementsAre("gate")))))
      .Times(testing::AtLeast(1));
  reporter_->poll();
  reporter_ = nullptr;
}

}  // namespace
}  // namespace lookout
