// Finds pictures that are nearly the same by what is in them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "pipeline/training/training_set.h"

namespace lookout {

// Near-copies of one another, as of a burst, are one scene; a picture without any is one of its
// own.
struct Scenes {
  std::vector<std::size_t> scene_of;  // of each picture: its scene, from 0
  std::vector<std::size_t> sizes;     // of each scene: its pictures
  // Of each scene: whether it cannot be left out of a training as a whole, because it is most of a
  // class or has several classes. A camera that does not move sees such a scene.
  std::vector<bool> fixed;

  std::size_t size_of(std::size_t picture) const { return sizes[scene_of[picture]]; }
  bool is_fixed(std::size_t picture) const { return fixed[scene_of[picture]]; }
  // Whether it is one of several near-copies that can be left out together.
  bool is_near_copy(std::size_t picture) const {
    return size_of(picture) > 1 && !is_fixed(picture);
  }
};

// The cosine from which on two pictures of the set are near-copies: they differ at most 2.5 times
// as much as, in the median, the second view does, the picture cut a little. Above 1, so that there
// are none, when the set has one view.
float near_copy_similarity(const TrainingSet& set);

// Links pictures that are near-copies, also by way of others. Calls `check` a few times a second;
// it may throw to end the work. Compares all pairs: 20,000 pictures of 1280 numbers take a minute.
Scenes find_scenes(const TrainingSet& set, const std::function<void()>& check);

// Each picture is a scene of its own.
Scenes single_scenes(std::size_t pictures);

}  // namespace lookout
