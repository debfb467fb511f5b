// How often a model was right: counts over pictures whose classes are known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/result.h"
#include "pipeline/training/calibration.h"

namespace lookout {

// The right class of one picture and the predicted ones.
struct EvaluatedPicture {
  std::string file;
  std::size_t expected = 0;            // index of the label
  std::vector<std::size_t> predicted;  // indices, best first, at most EvalCounts::kTop
  std::vector<float> scores;           // of these, 0..1
  Clock::duration inference{};
  double weight = 1;  // in intervals: below 1 when near-copies of it are in the set

  bool right() const { return !predicted.empty() && predicted.front() == expected; }
  bool in_top() const {
    return std::find(predicted.begin(), predicted.end(), expected) != predicted.end();
  }
};

struct Confusion {
  std::size_t expected = 0;
  std::size_t predicted = 0;
  std::uint64_t count = 0;
};

// A class of the set.
struct ClassCounts {
  std::size_t index = 0;
  std::uint64_t pictures = 0;
  std::uint64_t top1 = 0;
  std::uint64_t top5 = 0;
  std::uint64_t predicted = 0;  // pictures of any class that were taken for this one
  double weight = 0;            // of its pictures: as many independent ones as they are worth
};

// Rows: right classes; columns: predicted ones. Both are the same classes.
struct ConfusionMatrix {
  std::vector<std::size_t> classes;  // indices, sorted: all that are in the set or were predicted
  std::vector<std::vector<std::uint64_t>> counts;

  // The row and column of a class.
  std::size_t place(std::size_t index) const {
    const auto found = std::lower_bound(classes.begin(), classes.end(), index);
    return static_cast<std::size_t>(found - classes.begin());
  }
};

class EvalCounts {
 public:
  static constexpr std::size_t kTop = 5;  // predictions of a picture that count

  void record(const std::string& file, std::size_t expected, const std::vector<Prediction>& top,
              Clock::duration inference = {}, double weight = 1);

  const std::vector<EvaluatedPicture>& pictures() const { return pictures_; }
  std::uint64_t top1() const { return top1_; }
  std::uint64_t top5() const { return top5_; }
  double weight() const { return weight_; }  // of all pictures
  // The most frequent ones first; equally frequent ones in the order of their indices.
  std::vector<Confusion> confusions() const;
  // The classes of the set in the order of their indices.
  std::vector<ClassCounts> classes() const;
  ConfusionMatrix matrix() const;
  Calibration calibration() const;

 private:
  std::vector<EvaluatedPicture> pictures_;
  std::uint64_t top1_ = 0;
  std::uint64_t top5_ = 0;
  double weight_ = 0;
};

// In percent; nothing when `all` is 0.
std::optional<double> percent(std::uint64_t part, std::uint64_t all);

// "705 of 800, 88.12 %"; without a percentage when `all` is 0.
std::string share_text(std::uint64_t part, std::uint64_t all);

// "95 % interval 90.1 to 96.3 %".
std::string interval_text(const ConfidenceInterval& interval);

// The mean over the classes of their top-1 accuracy, in percent, so that each class counts the
// same. Nothing without classes.
std::optional<double> mean_class_percent(const std::vector<ClassCounts>& classes);

// The 95 % interval of that mean, 0..1.
ConfidenceInterval mean_class_interval(const std::vector<ClassCounts>& classes);

// The 95 % interval of the top-1 accuracy of all pictures, 0..1.
ConfidenceInterval top1_interval(const EvalCounts& counts);

// The classes with errors, those with the lowest top-1 accuracy first; of equal ones those with
// more pictures.
std::vector<ClassCounts> worst_classes(const std::vector<ClassCounts>& classes);

}  // namespace lookout
