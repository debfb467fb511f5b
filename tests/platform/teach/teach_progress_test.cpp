#include "platform/teach/teach_progress.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>

namespace lookout {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const TaughtWatch kGateOfTwo{"gate", "", {0, 0, 1, 1}, {"open", "closed"}, 1};

// Teaches from noon on.
class Lesson {
 public:
  Lesson& hold(const std::string& label, int pictures, bool night = false) {
    ++holds_;
    return add(label, pictures, holds_, night);
  }
  // Pictures without a hold.
  Lesson& confirm(const std::string& label, int pictures) { return add(label, pictures, 0, false); }
  Lesson& wait(minutes pause) {
    passed_ += pause;
    return *this;
  }

  TeachProgress progress() const { return progress_of(kGateOfTwo, pictures); }
  // "open needs 3", "no night"
  std::vector<std::string> missing() const {
    const char* const kinds[] = {"needs", "other occasion", "day", "night", "hours"};
    std::vector<std::string> texts;
    for (const MissingPictures& part : progress().missing) {
      std::string text = part.label + ": " + kinds[static_cast<int>(part.kind)];
      if (part.count > 0) text += fmt::format(" {}", part.count);
      texts.push_back(text);
    }
    return texts;
  }

  std::vector<TaughtPicture> pictures;

 private:
  Lesson& add(const std::string& label, int count, std::int64_t hold, bool night) {
    for (int i = 0; i < count; ++i) {
      TaughtPicture picture;
      picture.label = label;
      picture.hold = hold;
      picture.time.at += passed_;
      picture.time.minute =
          static_cast<int>((12 * 60 + std::chrono::duration_cast<minutes>(passed_).count()) % 1440);
      picture.night = night;
      pictures.push_back(picture);
      passed_ += seconds(1);
    }
    return *this;
  }

  std::int64_t holds_ = 0;
  seconds passed_{};
};

TEST(TeachProgress, NothingIsTaughtYet) {
  const Lesson lesson;
  EXPECT_FALSE(lesson.progress().can_train);
  EXPECT_FALSE(lesson.progress().can_tell);
  EXPECT_THAT(lesson.missing(), ElementsAre("open: needs 5", "closed: needs 5"));
}

TEST(TeachProgress, TellsWhatIsMissingBeforeTraining) {
  Lesson lesson;
  lesson.hold("open", 8).hold("closed", 3);
  EXPECT_FALSE(lesson.progress().can_train);
  EXPECT_THAT(lesson.missing(), ElementsAre("open: other occasion", "closed: needs 2",
                                            "closed: other occasion", ": night"));
}

TEST(TeachProgress, WithOneHoldOfAClassNothingCanBeTold) {
  Lesson lesson;
  lesson.hold("open", 8).hold("closed", 8);
  EXPECT_TRUE(lesson.progress().can_train);
  EXPECT_FALSE(lesson.progress().can_tell);
  lesson.hold("open", 8);
  EXPECT_THAT(lesson.missing(), ElementsAre("closed: other occasion", ": night"));
  lesson.hold("closed", 8);
  EXPECT_TRUE(lesson.progress().can_tell);
}

// Two presses in a row see the same gate; after the other class, or later, they do not.
TEST(TeachProgress, AnOccasionEndsWithAnotherClassOrAPause) {
  Lesson lesson;
  lesson.hold("open", 2).hold("open", 1).hold("closed", 1).hold("open", 1).wait(minutes(5));
  lesson.hold("open", 1).confirm("open", 2).wait(minutes(6)).confirm("open", 1);
  EXPECT_THAT(occasions_of(lesson.pictures), ElementsAre(0, 0, 0, 1, 2, 3, 3, 3, 4));
}

TEST(TeachProgress, AHoldIsOneOccasionThoughItsLabelsWereCorrected) {
  Lesson lesson;
  lesson.hold("open", 5);
  lesson.pictures[2].label = "closed";
  EXPECT_THAT(occasions_of(lesson.pictures), ElementsAre(0, 0, 1, 0, 0));
}

TEST(TeachProgress, TellsTheHoursOfEachClassAndAsksForThoseOfTheOther) {
  Lesson lesson;
  lesson.hold("open", 8).wait(minutes(150)).hold("closed", 8, /*night=*/true);
  lesson.wait(minutes(60)).hold("closed", 8);
  const TeachProgress progress = lesson.progress();
  EXPECT_THAT(progress.classes[0].hours, ElementsAre(12));
  EXPECT_THAT(progress.classes[1].hours, ElementsAre(14, 15));
  EXPECT_EQ(progress.classes[1].night, 8);
  EXPECT_THAT(lesson.missing(),
              ElementsAre("open: other occasion", "open: night", "open: hours", "closed: hours"));
}

TEST(TeachProgress, HoursAreComparedAcrossMidnight) {
  Lesson lesson;
  lesson.wait(minutes(11 * 60 + 50)).hold("open", 8).wait(minutes(20)).hold("closed", 8);
  lesson.wait(minutes(5)).hold("open", 8, true).hold("closed", 8, true);
  EXPECT_THAT(lesson.missing(), IsEmpty());
}

TEST(TeachProgress, PicturesOfNoneOfThemCountApart) {
  Lesson lesson;
  lesson.hold("open", 8).hold("closed", 8).hold(kNoneOfThem, 2);
  const TeachProgress progress = lesson.progress();
  ASSERT_EQ(progress.classes.size(), 3);
  EXPECT_EQ(progress.classes[2].label, kNoneOfThem);
  EXPECT_EQ(progress.classes[2].pictures, 2);
  EXPECT_TRUE(progress.can_train);
}

}  // namespace
}  // namespace lookout
