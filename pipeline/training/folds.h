// Splits pictures into parts for cross-validation, and picks some of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/training/scenes.h"

namespace lookout {

inline constexpr std::size_t kFolds = 5;

// Pictures in a random order that is the same for the same `seed` on every machine.
std::vector<std::size_t> shuffled(std::vector<std::size_t> pictures, std::uint32_t seed);

// Returns the fold, 0..kFolds-1, of each picture. `order`: all pictures, of each class in the order
// in which they were taken or, where that is not known, in a random one. Each class is split into
// blocks of pictures that follow each other, and every fold gets one block of each class:
// neighbours, which are nearly the same picture, are not in different folds except at the borders.
// The pictures of a scene are in one fold, so that folds may have other sizes, or nothing of a
// class. A fixed scene is split into blocks like a class.
std::vector<std::size_t> make_folds(const std::vector<std::size_t>& order,
                                    const std::vector<std::size_t>& classes, const Scenes& scenes);

}  // namespace lookout
