#include "pipeline/training/cross_validation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "pipeline/training/calibration.h"
#include "pipeline/training/fit.h"
#include "pipeline/training/folds.h"

namespace lookout {
namespace {

// From strong to weak; each fit begins where the one before ended.
constexpr std::array<double, 6> kL2{1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5};
constexpr double kMaxRefused = 0.05;
constexpr std::size_t kLeastCurve = 5;  // pictures of each class
constexpr std::uint32_t kSeed = 20271122;

using Logits = std::vector<std::vector<float>>;

std::size_t best(const std::vector<float>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// Trains with the pictures for which `use` is true. `start`: as fit_head().
Head fit_pictures(const TrainingSet& set, const std::vector<bool>& use, double l2,
                  const Head* start) {
  const std::vector<float> picture_weights = set.weights(use);
  std::vector<std::size_t> classes;
  std::vector<float> weights;
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    classes.insert(classes.end(), set.views, set.picture_classes[i]);
    weights.insert(weights.end(), set.views, picture_weights[i]);
  }
  return fit_head({set.embeddings, classes, weights, set.outputs(), l2}, start);
}

class CrossValidation {
 public:
  CrossValidation(const TrainingSet& set, const std::vector<std::size_t>& folds,
                  const Progress& progress, const CrossValidationOptions& options)
      : set_(set), folds_(folds), progress_(progress), l2_(kL2.begin(), kL2.end()) {
    if (options.l2) l2_ = {*options.l2};
    if (options.curve) sizes_ = curve_sizes();
  }

  Validation run() {
    choose_l2();
    measure_similarity();
    score_pictures();
    measure_curve();
    return std::move(validation_);
  }

 private:
  void step() { progress_(static_cast<double>(++done_) / static_cast<double>(steps())); }
  std::size_t steps() const { return kFolds * (l2_.size() + 1 + sizes_.size()); }

  Head fit(double l2, const Head* start, const std::vector<bool>& use) {
    Head head = fit_pictures(set_, use, l2, start);
    step();
    return head;
  }

  std::vector<bool> outside_fold(std::size_t fold) const {
    std::vector<bool> use(set_.pictures());
    for (std::size_t i = 0; i < use.size(); ++i) use[i] = folds_[i] != fold;
    return use;
  }

  // Calls `take` with each picture of the fold.
  template <typename Take>
  void for_fold(std::size_t fold, const Take& take) const {
    for (std::size_t picture = 0; picture < set_.pictures(); ++picture) {
      if (folds_[picture] == fold) take(picture);
    }
  }

  void choose_l2() {
    std::array<Head, kFolds> heads;
    const std::vector<float> weights = set_.weights(std::vector<bool>(set_.pictures(), true));
    double least = -1;
    for (const double l2 : l2_) {
      Logits logits(set_.pictures());
      for (std::size_t fold = 0; fold < kFolds; ++fold) {
        Head& head = heads[fold];
        head = fit(l2, head.outputs == 0 ? nullptr : &head, outside_fold(fold));
        for_fold(fold, [&](std::size_t picture) {
          head.apply(set_.embeddings[set_.row(picture)], logits[picture]);
        });
      }
      const float temperature = fit_temperature(logits, set_.picture_classes, weights);
      const double loss = log_loss(logits, set_.picture_classes, weights, temperature);
      if (least >= 0 && loss >= least) continue;
      least = loss;
      validation_.l2 = l2;
      validation_.temperature = temperature;
      logits_ = std::move(logits);
    }
  }

  // Similarities of every view of the held-out pictures, since the light will change more than it
  // did while the pictures were taken.
  void measure_similarity() {
    std::vector<float> views;
    std::vector<float> pictures;
    validation_.pictures.resize(set_.pictures());
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      OodDetector detector;
      detector.examples = choose_examples(set_, outside_fold(fold));
      for_fold(fold, [&](std::size_t picture) {
        for (std::size_t view = 0; view < set_.views; ++view) {
          const float similarity =
              detector.similarity(set_.ood_features()[set_.row(picture, view)]);
          if (view == 0) validation_.pictures[picture].similarity = similarity;
          if (set_.is_counter_example(picture)) continue;
          views.push_back(similarity);
          if (view == 0) pictures.push_back(similarity);
        }
      });
      step();
    }
    const OodThreshold chosen =
        choose_threshold(views, std::move(pictures), foreign_similarities());
    validation_.threshold = chosen.threshold;
    validation_.steepness = chosen.steepness;
  }

  // Of real foreign pictures where there are some, else of the base's classes.
  std::vector<float> foreign_similarities() const {
    OodDetector detector;
    detector.examples = choose_examples(set_, std::vector<bool>(set_.pictures(), true));
    const Embeddings& foreign = set_.other.size() > 0 ? set_.other : set_.foreign;
    std::vector<float> similarities(foreign.size());
    for (std::size_t i = 0; i < foreign.size(); ++i) {
      similarities[i] = detector.similarity(foreign[i]);
    }
    return similarities;
  }

  void score_pictures() {
    // Lower until few enough are refused.
    const std::size_t all = set_.pictures();
    for (std::size_t refused = all; refused > 0;) {
      score_with_threshold();
      refused = 0;
      std::size_t known = 0;
      for (std::size_t i = 0; i < all; ++i) {
        if (set_.is_counter_example(i)) continue;
        ++known;
        if (validation_.pictures[i].predicted == set_.classes) ++refused;
      }
      if (static_cast<double>(refused) <= kMaxRefused * static_cast<double>(known)) break;
      validation_.threshold -= 1 / validation_.steepness / 4;
      if (validation_.threshold < -1) break;
    }
    measure_calibration();
  }

  void score_with_threshold() {
    OodDetector detector;
    detector.threshold = validation_.threshold;
    detector.steepness = validation_.steepness;
    for (std::size_t i = 0; i < set_.pictures(); ++i) {
      ValidatedPicture& picture = validation_.pictures[i];
      picture.scores = with_unknown(probabilities(logits_[i], validation_.temperature),
                                    set_.classes, detector.unknown(picture.similarity));
      picture.predicted = best(picture.scores);
    }
  }

  void measure_calibration() {
    std::vector<ScoredPicture> before;
    std::vector<ScoredPicture> after;
    for (std::size_t i = 0; i < set_.pictures(); ++i) {
      const std::vector<float> raw = probabilities(logits_[i], 1);
      const std::size_t predicted = best(raw);
      before.push_back({raw[predicted], predicted == set_.picture_classes[i]});
      const ValidatedPicture& picture = validation_.pictures[i];
      after.push_back({picture.score(), picture.predicted == set_.picture_classes[i]});
    }
    validation_.error_before = calibration_of(before).error.value_or(0);
    validation_.error_after = calibration_of(after).error.value_or(0);
  }

  // 5, 10, 20, ... pictures of each class, below what the smallest class has in four folds.
  std::vector<std::size_t> curve_sizes() const {
    std::vector<std::size_t> counts(set_.outputs());
    for (const std::size_t index : set_.picture_classes) ++counts[index];
    const std::size_t least = *std::min_element(counts.begin(), counts.end());
    const std::size_t most = least * (kFolds - 1) / kFolds;
    std::vector<std::size_t> sizes;
    for (std::size_t size = kLeastCurve; size < most; size *= 2) sizes.push_back(size);
    sizes.push_back(most);
    return sizes;
  }

  void measure_curve() {
    std::vector<std::size_t> all(set_.pictures());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<std::size_t> order = shuffled(all, kSeed);
    for (const std::size_t size : sizes_) {
      std::vector<bool> right(set_.pictures());
      for (std::size_t fold = 0; fold < kFolds; ++fold) classify_with(size, fold, order, right);
      validation_.curve.push_back({size, share_of_right(right)});
    }
  }

  // The mean over the classes.
  double share_of_right(const std::vector<bool>& right) const {
    std::vector<double> shares(set_.outputs());
    std::vector<double> counts(set_.outputs());
    for (std::size_t i = 0; i < right.size(); ++i) {
      counts[set_.picture_classes[i]] += 1;
      shares[set_.picture_classes[i]] += right[i] ? 1 : 0;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] /= std::max(1.0, counts[i]);
    return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  }

  // Which pictures of the fold are right after a training with `size` others of each class.
  void classify_with(std::size_t size, std::size_t fold, const std::vector<std::size_t>& order,
                     std::vector<bool>& right) {
    std::vector<bool> use(set_.pictures());
    std::vector<std::size_t> taken(set_.outputs());
    for (const std::size_t picture : order) {
      std::size_t& count = taken[set_.picture_classes[picture]];
      use[picture] = folds_[picture] != fold && count < size;
      if (use[picture]) ++count;
    }
    const Head head = fit(validation_.l2, nullptr, use);
    std::vector<float> logits;
    for_fold(fold, [&](std::size_t picture) {
      head.apply(set_.embeddings[set_.row(picture)], logits);
      right[picture] = best(logits) == set_.picture_classes[picture];
    });
  }

  const TrainingSet& set_;
  const std::vector<std::size_t>& folds_;
  const Progress& progress_;
  std::vector<double> l2_;          // that are tried
  std::vector<std::size_t> sizes_;  // of the learning curve
  std::size_t done_ = 0;
  Logits logits_;  // of the held-out pictures, with the best L2
  Validation validation_;
};

}  // namespace

Validation cross_validate(const TrainingSet& set, const std::vector<std::size_t>& folds,
                          const Progress& progress, const CrossValidationOptions& options) {
  return CrossValidation(set, folds, progress, options).run();
}

Embeddings choose_examples(const TrainingSet& set, const std::vector<bool>& use) {
  std::vector<std::vector<std::size_t>> classes(set.classes);
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    if (use[i] && !set.is_counter_example(i)) classes[set.picture_classes[i]].push_back(i);
  }
  Embeddings examples;
  const std::size_t room = std::max<std::size_t>(1, kMaxExamples / set.classes);
  for (const std::vector<std::size_t>& pictures : classes) {
    const std::size_t count = std::min(room, pictures.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t picture = pictures[i * pictures.size() / count];
      examples.add_row(set.ood_features()[set.row(picture)], set.ood_features().width());
    }
  }
  return examples;
}

std::vector<float> with_unknown(const std::vector<float>& calibrated, std::size_t classes,
                                float unknown) {
  std::vector<float> scores(calibrated.begin(),
                            calibrated.begin() + static_cast<std::ptrdiff_t>(classes));
  for (float& score : scores) score *= 1 - unknown;
  const float other = calibrated.size() > classes ? calibrated[classes] : 0;
  scores.push_back(unknown + (1 - unknown) * other);
  return scores;
}

std::size_t count_unknown(const OodDetector& detector, const Embeddings& scenes) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    if (detector.similarity(scenes[i]) < detector.threshold) ++count;
  }
  return count;
}

TrainedModel train(const TrainingSet& set, const Validation& validation) {
  const std::vector<bool> all(set.pictures(), true);
  TrainedModel model;
  model.head = fit_pictures(set, all, validation.l2, nullptr);
  for (float& weight : model.head.weights) weight /= validation.temperature;
  for (float& bias : model.head.biases) bias /= validation.temperature;
  model.classes = set.classes;
  model.detector.examples = choose_examples(set, all);
  model.detector.of_profiles = set.profiles.size() > 0;
  model.detector.threshold = validation.threshold;
  model.detector.steepness = validation.steepness;
  return model;
}

std::vector<float> scores_of(const TrainedModel& model, const float* direction,
                             const float* ood_features, DotProduct product) {
  std::vector<float> logits;
  model.head.apply(direction, logits);
  const float similarity = model.detector.similarity(ood_features, product);
  return with_unknown(probabilities(logits, 1), model.classes, model.detector.unknown(similarity));
}

std::vector<float> scores_of(const TrainedModel& model, const TrainingSet& set,
                             std::size_t picture) {
  const std::size_t row = set.row(picture);
  return scores_of(model, set.embeddings[row], set.ood_features()[row]);
}

}  // namespace lookout
