#include "pipeline/training/folds.h"

#include <map>
#include <random>
#include <utility>

namespace lookout {

// std::shuffle gives other orders with other standard libraries.
std::vector<std::size_t> shuffled(std::vector<std::size_t> pictures, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::size_t i = pictures.size(); i > 1; --i)
    std::swap(pictures[i - 1], pictures[random() % i]);
  return pictures;
}

std::vector<std::size_t> make_folds(const std::vector<std::size_t>& order,
                                    const std::vector<std::size_t>& classes) {
  std::map<std::size_t, std::vector<std::size_t>> of_class;
  for (const std::size_t picture : order) of_class[classes[picture]].push_back(picture);
  std::vector<std::size_t> folds(classes.size());
  for (const auto& [index, pictures] : of_class) {
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      folds[pictures[i]] = i * kFolds / pictures.size();
    }
  }
  return folds;
}

}  // namespace lookout
