#include "pipeline/training/scenes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>

namespace lookout {
namespace {

// Pictures with two views, of which the second differs by `kChange`.
class SceneSet {
 public:
  static constexpr std::size_t kWidth = 64;
  static constexpr float kChange = 0.3F;  // a cosine of about 0.95

  SceneSet() {
    set.classes = 2;
    set.views = 2;
  }

  std::vector<float> scene() { return numbers(1); }

  // A picture of a scene, which differs less from it than its second view from the picture.
  void add(const std::vector<float>& scene, std::size_t index) {
    const std::vector<float> picture = changed(scene, kChange / 2);
    set.embeddings.add(picture);
    set.embeddings.add(changed(picture, kChange));
    set.picture_classes.push_back(index);
  }

  Scenes find() const {
    return find_scenes(set, [] {});
  }

  TrainingSet set;

 private:
  std::vector<float> numbers(float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> values(kWidth);
    for (float& value : values) value = normal(random_);
    return values;
  }
  std::vector<float> changed(std::vector<float> values, float change) {
    const std::vector<float> noise = numbers(change);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += noise[i];
    return values;
  }

  std::mt19937 random_{11};
};

TEST(Scenes, IndependentPicturesAreScenesOfTheirOwn) {
  SceneSet made;
  for (std::size_t i = 0; i < 40; ++i) made.add(made.scene(), i % 2);
  const Scenes scenes = made.find();
  EXPECT_EQ(scenes.sizes, std::vector<std::size_t>(40, 1));
  EXPECT_EQ(scenes.fixed, std::vector<bool>(40, false));
}

TEST(Scenes, NearCopiesAreOneSceneWhereverTheyAre) {
  SceneSet made;
  std::vector<std::vector<float>> shown;
  for (std::size_t i = 0; i < 6; ++i) shown.push_back(made.scene());
  for (std::size_t i = 0; i < 60; ++i) made.add(shown[i % 6], i % 2);
  const Scenes scenes = made.find();
  EXPECT_EQ(scenes.sizes, std::vector<std::size_t>(6, 10));
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(scenes.scene_of[i], i % 6);
    EXPECT_TRUE(scenes.is_near_copy(i));
  }
}

TEST(Scenes, ASceneOfMostOfAClassIsFixed) {
  SceneSet made;
  const std::vector<float> door = made.scene();
  for (std::size_t i = 0; i < 11; ++i) made.add(door, 0);
  for (std::size_t i = 0; i < 9; ++i) made.add(made.scene(), 0);
  for (std::size_t i = 0; i < 20; ++i) made.add(made.scene(), 1);
  const Scenes scenes = made.find();
  EXPECT_TRUE(scenes.is_fixed(0));
  EXPECT_FALSE(scenes.is_near_copy(0));
  EXPECT_FALSE(scenes.is_fixed(11));
}

TEST(Scenes, ASceneInTwoClassesIsFixedUnlessTheyAreFew) {
  SceneSet made;
  const std::vector<float> day = made.scene();
  const std::vector<float> burst = made.scene();
  for (std::size_t i = 0; i < 10; ++i) made.add(day, i % 2);
  for (std::size_t i = 0; i < 10; ++i) made.add(burst, i == 0 ? 1 : 0);
  for (std::size_t i = 0; i < 40; ++i) made.add(made.scene(), i % 2);
  const Scenes scenes = made.find();
  EXPECT_TRUE(scenes.is_fixed(0));
  EXPECT_TRUE(scenes.is_near_copy(10)) << "one of ten may be labelled wrong";
}

TEST(Scenes, WithoutSecondViewsThereAreNoNearCopies) {
  SceneSet made;
  made.set.views = 1;
  const std::vector<float> scene = made.scene();
  for (std::size_t i = 0; i < 10; ++i) {
    made.set.embeddings.add(scene);
    made.set.picture_classes.push_back(i % 2);
  }
  EXPECT_EQ(made.find().sizes.size(), 10U);
}

TEST(Scenes, TheSearchCanBeEnded) {
  SceneSet made;
  for (std::size_t i = 0; i < 10; ++i) made.add(made.scene(), i % 2);
  EXPECT_THROW(find_scenes(made.set, [] { throw std::runtime_error("stop"); }), std::runtime_error);
}

}  // namespace
}  // namespace lookout
