// Pictures without a label that a run keeps of what is taught, in a time of the test's own.
#include <gmock/gmock.h>

#include <opencv2/imgproc.hpp>
#include <thread>

#include "platform/teach/teach_reporter.h"
#include "platform/teach/teaching.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const ModelInfoPtr kHead = std::make_shared<ModelInfo>(
    ModelInfo{"gate.head", {"closed", "open", "unknown"}, {}, /*unknown=*/2});

// With these scores of the classes, best first.
Result result_of(const std::vector<std::pair<std::size_t, float>>& scores) {
  Result result;
  result.model = kHead;
  for (const auto& [index, score] : scores) {
    result.top.push_back({index, kHead->labels[index], score});
  }
  return result;
}

const Result kSure = result_of({{1, 0.9F}, {0, 0.1F}});
const Result kUnsure = result_of({{1, 0.55F}, {0, 0.45F}});

TEST(IsUnsure, WhenNothingIsAboveTheThresholdOrUnknownOrTheSecondIsNear) {
  EXPECT_FALSE(is_unsure(kSure));
  EXPECT_FALSE(is_unsure(result_of({{1, 0.66F}, {0, 0.34F}})));
  EXPECT_FALSE(is_unsure(result_of({{1, 0.5F}}))) << "others are below the threshold";
  EXPECT_TRUE(is_unsure(kUnsure));
  EXPECT_TRUE(is_unsure(result_of({{1, 0.6F}, {2, 0.4F}})));
  EXPECT_TRUE(is_unsure(result_of({{2, 0.9F}, {0, 0.1F}})));
  EXPECT_TRUE(is_unsure(result_of({})));
}

class FoundPicturesTest : public testing::Test {
 protected:
  FoundPicturesTest() {
    TeachLimits limits;
    limits.free = 0;
    teaching_ = std::make_shared<Teaching>(
        std::make_unique<TeachLibrary>(directory_.path() / "teach", limits));
    teaching_->with_library([](TeachLibrary& library) {
      library.add_watch({"gate", "", {0, 0, 1, 1}, {"open", "closed"}, 0});
      library.add_watch({"lamp", "", {0, 0, 1, 1}, {"on", "off"}, 0});
    });
    reporter_ = std::make_unique<TeachReporter>(
        teaching_, View(), [this] { return now_; }, [] { return 0.5; });
  }

  // A frame in which everything is elsewhere than in the one before.
  static Frame frame(std::uint64_t number) {
    Frame frame;
    frame.sequence = number;
    frame.bgr = cv::Mat(120, 160, CV_8UC3, cv::Scalar(60, 120, 180));
    cv::rectangle(frame.bgr, {static_cast<int>(number) * 31 % 100, 20, 40, 40},
                  cv::Scalar(0, 0, 255), cv::FILLED);
    return frame;
  }
  static WatchInfoPtr taught(const std::string& name) {
    return std::make_shared<WatchInfo>(WatchInfo{name, {0, 0, 1, 1}, {}, /*taught=*/true});
  }

  void report(Result result, WatchInfoPtr watch = taught("gate")) {
    result.watch = std::move(watch);
    reporter_->report(result, frame(++frames_));
  }
  void pass(milliseconds time) {
    now_.uptime += time;
    now_.wall.at += time;
  }
  // Newest first.
  std::vector<TaughtPicture> kept(const std::string& watch = "gate") {
    return teaching_->with_library([&](TeachLibrary& library) {
      return library.pictures({watch, "", /*trashed=*/false, 0, 100});
    });
  }
  // The thread may need a while.
  void wait_for(std::size_t count, const std::string& watch = "gate") {
    while (kept(watch).size() < count) std::this_thread::yield();
  }
  // All that was put down is written then.
  void end() { reporter_ = nullptr; }

  const TempDir directory_;
  TeachNow now_{{decltype(TeachTime::at)(seconds(1795262400)), 780}, milliseconds(50'000)};
  std::uint64_t frames_ = 0;
  std::shared_ptr<Teaching> teaching_;
  std::unique_ptr<TeachReporter> reporter_;
};

TEST_F(FoundPicturesTest, OneThatTheModelIsUnsureOfIsKeptEachTenMinutes) {
  const TeachTime first = now_.wall;
  report(kUnsure);
  wait_for(1);
  pass(TeachReporter::kUnsureEvery - milliseconds(1));
  report(kUnsure);
  pass(milliseconds(1));
  report(kUnsure);
  end();
  ASSERT_THAT(kept(), SizeIs(2));
  EXPECT_EQ(kept()[0].time.at - first.at, TeachReporter::kUnsureEvery);
  const TaughtPicture picture = kept()[1];
  EXPECT_EQ(picture.label, "");
  EXPECT_EQ(picture.guess, "open");
  EXPECT_EQ(picture.origin, PictureOrigin::kUnsure);
  EXPECT_EQ(picture.hold, 0);
  EXPECT_EQ(picture.time.at, first.at);
  EXPECT_EQ(picture.time.minute, 780);
  EXPECT_GT(picture.brightness, 50);
  EXPECT_FALSE(picture.night);
}

TEST_F(FoundPicturesTest, OneIsKeptByChanceEachHour) {
  const TeachTime first = now_.wall;
  for (int i = 0; i < 18; ++i) {
    report(kSure);
    wait_for(static_cast<std::size_t>((i + 3) / 6));
    pass(minutes(10));
  }
  end();
  std::vector<milliseconds> times;
  for (const TaughtPicture& picture : kept()) {
    times.push_back(picture.time.at - first.at);
    EXPECT_EQ(picture.origin, PictureOrigin::kRandom);
    EXPECT_EQ(picture.guess, "open");
  }
  EXPECT_THAT(times, ElementsAre(minutes(150), minutes(90), minutes(30)));
}

TEST_F(FoundPicturesTest, NothingIsKeptOfResultsThatAreReusedAndOfOtherWatches) {
  Result reused = kUnsure;
  reused.reused = true;
  for (int i = 0; i < 3; ++i) {
    report(reused);
    report(kUnsure, nullptr);
    report(kUnsure, std::make_shared<WatchInfo>(WatchInfo{"gate", {0, 0, 1, 1}}));
    pass(hours(1));
  }
  end();
  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(FoundPicturesTest, ANearCopyOfThePictureBeforeIsNotKept) {
  Result result = kUnsure;
  result.watch = taught("gate");
  for (int i = 0; i < 3; ++i) {
    Frame same = frame(1);
    same.sequence = ++frames_;
    reporter_->report(result, same);
    wait_for(1);
    pass(TeachReporter::kUnsureEvery);
  }
  end();
  EXPECT_THAT(kept(), SizeIs(1));
}

TEST_F(FoundPicturesTest, EachWatchHasItsOwn) {
  report(kUnsure);
  wait_for(1);
  report(result_of({}), taught("lamp"));
  end();
  EXPECT_THAT(kept("gate"), SizeIs(1));
  EXPECT_THAT(kept("lamp"), SizeIs(1));
}

TEST_F(FoundPicturesTest, TheGuessIsWhatWasSaidIfTheWatchHasThatClass) {
  const auto guess = [this](const Result& result) {
    const std::size_t before = kept().size();
    report(result);
    wait_for(before + 1);
    pass(TeachReporter::kUnsureEvery);
    return kept().front().guess;
  };
  EXPECT_EQ(guess(kUnsure), "open");
  EXPECT_EQ(guess(result_of({{2, 0.8F}, {1, 0.2F}})), kNoneOfThem);
  EXPECT_EQ(guess(result_of({})), "");
  teaching_->with_library(
      [](TeachLibrary& library) { library.rename_class("gate", "open", "wide open"); });
  EXPECT_EQ(guess(kUnsure), "") << "the model was trained before the class had its new name";
}

TEST_F(FoundPicturesTest, OneOfAWatchThatWasDeletedIsDropped) {
  teaching_->with_library([this](TeachLibrary& library) {
    library.remove_watch("gate", now_.wall);
    return true;
  });
  report(kUnsure);
  end();
  teaching_->with_library([](TeachLibrary& library) { library.restore_watch("gate"); });
  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(FoundPicturesTest, OneTakesNothingFromAButtonThatIsHeld) {
  teaching_->begin_hold("gate", "closed", now_);
  report(kUnsure);
  end();
  EXPECT_THAT(kept(), SizeIs(1));
  const auto held =
      teaching_->with_library([](TeachLibrary& library) { return library.labelled("gate"); });
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_EQ(held.front().label, "closed");
}

}  // namespace
}  // namespace lookout
