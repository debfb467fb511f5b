#include "platform/teach/lesson.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <utility>

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kWidth = 16;
const TaughtWatch kGate{"gate", "", {0, 0, 1, 1}, {"open", "closed"}, 1};

void ignore_progress(double /*done*/) {}

// Pictures whose embeddings are made up: near a place of their class, with a part that all of one
// hold have in common.
class School {
 public:
  // `common`: how far a hold lies from its class.
  School& hold(const std::string& label, int count, double common = 0.3, bool night = false) {
    ++hold_;
    std::vector<float> place = around(place_of(label), common);
    for (int i = 0; i < count; ++i) {
      TaughtPicture picture;
      picture.number = ++number_;
      picture.label = label;
      picture.hold = hold_;
      picture.night = night;
      pictures.push_back(picture);
      keep(around(place, 0.1));
    }
    return *this;
  }
  // The picture shows what another class looks like.
  void show(std::size_t picture, const std::string& label) {
    const std::int64_t last = std::exchange(number_, pictures[picture].number);
    keep(around(place_of(label), 0.1));
    number_ = last;
  }

  Lesson lesson() const {
    return make_lesson(kGate, pictures, [this](std::int64_t number) { return find(number); }, {});
  }
  LessonResult learned() const { return learn(lesson(), ignore_progress); }

  std::vector<TaughtPicture> pictures;
  std::map<std::int64_t, KeptEmbeddings> kept;

 private:
  std::optional<KeptEmbeddings> find(std::int64_t number) const {
    const auto found = kept.find(number);
    if (found == kept.end()) return std::nullopt;
    return found->second;
  }
  static std::vector<float> place_of(const std::string& label) {
    std::vector<float> place(kWidth);
    place[label == "open" ? 0 : label == "closed" ? 1 : 2] = 1;
    return place;
  }
  std::vector<float> around(std::vector<float> place, double far) {
    std::normal_distribution<float> normal(0, static_cast<float>(far / 4));
    for (float& value : place) value += normal(random_);
    return place;
  }
  void keep(const std::vector<float>& place) {
    KeptEmbeddings embeddings;
    embeddings.directions.add(place);
    for (int view = 1; view < 4; ++view) embeddings.directions.add(around(place, 0.1));
    kept[number_] = embeddings;
  }

  std::mt19937 random_{39};
  std::int64_t hold_ = 0;
  std::int64_t number_ = 0;
};

School two_of_each() {
  School school;
  school.hold("open", 10).hold("closed", 10).hold("open", 10).hold("closed", 10);
  return school;
}

TEST(Lesson, IsLearned) {
  const LessonResult result = two_of_each().learned();
  EXPECT_TRUE(result.can_tell);
  EXPECT_EQ(result.all.pictures, 40);
  EXPECT_EQ(result.all.right, 40);
  EXPECT_EQ(result.day.pictures, 40);
  EXPECT_EQ(result.night.pictures, 0);
  EXPECT_THAT(result.mistakes, IsEmpty());
  EXPECT_EQ(result.model.head.outputs, 2);
  EXPECT_EQ(result.interval.high, 1);
}

TEST(Lesson, AFewPicturesOfSomethingElseAreNoClass) {
  School school = two_of_each();
  const LessonResult without = school.learned();
  const LessonResult few = school.hold("_other", 4).learned();
  EXPECT_EQ(few.model.head.outputs, 2);
  EXPECT_EQ(few.model.head.weights, without.model.head.weights);
  EXPECT_EQ(school.hold("_other", 1).learned().model.head.outputs, 3);
}

TEST(Lesson, TheSamePicturesGiveTheSameNumbers) {
  const LessonResult once = two_of_each().learned();
  const LessonResult again = two_of_each().learned();
  EXPECT_EQ(once.model.head.weights, again.model.head.weights);
  EXPECT_EQ(once.model.head.biases, again.model.head.biases);
  EXPECT_EQ(once.model.detector.threshold, again.model.detector.threshold);
}

TEST(Lesson, WithOneOccasionOfAClassNothingCanBeTold) {
  School school;
  school.hold("open", 10).hold("closed", 10).hold("open", 10);
  EXPECT_FALSE(school.learned().can_tell);
  EXPECT_TRUE(school.hold("closed", 10).learned().can_tell);
}

// Forty pictures of four moments are not worth forty.
TEST(Lesson, TheIntervalIsThatOfDifferentPictures) {
  School alike;
  for (int i = 0; i < 2; ++i) alike.hold("open", 10, 0.3).hold("closed", 10, 0.3);
  School different;
  for (int i = 0; i < 20; ++i) different.hold("open", 1, 0.3).hold("closed", 1, 0.3);
  const LessonResult few = alike.learned();
  const LessonResult many = different.learned();
  ASSERT_EQ(few.all.right, few.all.pictures);
  ASSERT_EQ(many.all.right, many.all.pictures);
  EXPECT_LT(few.interval.low, many.interval.low);
  EXPECT_GT(many.interval.low, 0.9);
}

// A hold that looks like the other class is found wrong, since nothing of it was learned: with
// folds across holds its neighbours would have told the answer.
TEST(Lesson, APictureIsJudgedWithoutItsHold) {
  School school = two_of_each();
  school.hold("open", 10);
  for (std::size_t i = 40; i < 50; ++i) school.show(i, "closed");
  const LessonResult result = school.learned();
  ASSERT_GE(result.mistakes.size(), 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_GT(result.mistakes[i].number, 40);
    EXPECT_EQ(result.mistakes[i].label, "open");
    EXPECT_EQ(result.mistakes[i].predicted, "closed");
  }
}

TEST(Lesson, AWrongLabelIsTheWorstMistake) {
  School school = two_of_each();
  school.show(3, "closed");
  const LessonResult result = school.learned();
  ASSERT_THAT(result.mistakes, SizeIs(1));
  EXPECT_EQ(result.mistakes[0].number, 4);
  EXPECT_EQ(result.mistakes[0].label, "open");
  EXPECT_EQ(result.mistakes[0].predicted, "closed");
}

TEST(Lesson, TellsWhichClassIsTakenForWhich) {
  School school = two_of_each();
  school.show(3, "closed");
  for (const std::size_t picture : {10, 11, 12}) school.show(picture, "open");
  const LessonResult result = school.learned();
  ASSERT_THAT(result.confusions, SizeIs(2));
  for (const TaughtConfusion& each : result.confusions) {
    const auto is_of_it = [&each](const Mistake& mistake) {
      return mistake.label == each.label && mistake.predicted == each.predicted;
    };
    EXPECT_NE(each.label, each.predicted);
    EXPECT_EQ(std::count_if(result.mistakes.begin(), result.mistakes.end(), is_of_it),
              static_cast<std::ptrdiff_t>(each.pictures));
  }
  EXPECT_GE(result.confusions[0].pictures, result.confusions[1].pictures);
  EXPECT_EQ(result.confusions[0].pictures + result.confusions[1].pictures, result.mistakes.size());
}

TEST(Lesson, IsSplitByDayAndNight) {
  School school = two_of_each();
  school.hold("open", 6, 0.3, /*night=*/true).hold("closed", 6, 0.3, /*night=*/true);
  school.show(41, "closed");
  const LessonResult result = school.learned();
  EXPECT_EQ(result.day.pictures, 40);
  EXPECT_EQ(result.night.pictures, 12);
  EXPECT_EQ(result.night.right, 11);
  EXPECT_EQ(result.all.right, 51);
}

TEST(Lesson, PicturesOfNoneOfThemAreUnknown) {
  School school = two_of_each();
  school.hold(kNoneOfThem, 8).hold("open", 1).hold(kNoneOfThem, 8);
  const LessonResult result = school.learned();
  EXPECT_EQ(result.model.head.outputs, 3);
  EXPECT_GE(result.all.right, 55);
}

TEST(Lesson, IsComparedOnPicturesThatAreNewToBoth) {
  School school = two_of_each();
  const FormerModel before{school.learned().model, {"closed", "open", "unknown"}, 40};
  const auto compared = [&school](const FormerModel& former) {
    const Lesson lesson = school.lesson();
    return compare(lesson, learn(lesson, ignore_progress), former);
  };
  EXPECT_FALSE(compared(before)) << "it has learned from all";
  school.hold("closed", 12);
  EXPECT_FALSE(compared(before)) << "they are of an occasion that it knows";
  school.hold("open", 9);
  EXPECT_FALSE(compared(before)) << "they are too few";
  school.hold("closed", 6);
  school.show(55, "closed");  // whose label is open
  const auto fair = compared(before);
  ASSERT_TRUE(fair);
  EXPECT_EQ(fair->in_use.pictures, 15);
  EXPECT_EQ(fair->in_use.right, 14);
  EXPECT_EQ(fair->trained.pictures, 15);
  EXPECT_LE(fair->trained.right, 14);
  FormerModel other = before;
  other.newest = 0;
  EXPECT_FALSE(compared(other)) << "nobody knows what it has learned from";
  other = before;
  other.model.head.weights.pop_back();
  EXPECT_FALSE(compared(other));
  other = before;
  other.labels[0] = "shut";
  EXPECT_FALSE(compared(other)) << "it is renamed";
}

TEST(Lesson, NeedsFivePicturesOfEachClass) {
  School school;
  school.hold("open", 10).hold("closed", 4);
  EXPECT_THROW(school.lesson(), TeachError);
  school.hold("closed", 2);
  EXPECT_NO_THROW(school.lesson());
  school.kept.erase(1);  // its picture could not be read
  EXPECT_EQ(school.lesson().skipped, 1);
  EXPECT_THAT(school.lesson().classes, ElementsAre("closed", "open"));
}

TEST(Lesson, CanBeCancelled) {
  struct Cancelled {};
  EXPECT_THROW(learn(two_of_each().lesson(), [](double) { throw Cancelled(); }), Cancelled);
}

}  // namespace
}  // namespace lookout
