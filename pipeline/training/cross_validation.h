// Chooses how a model is trained, and measures how good it is, with pictures that it was not
// trained with.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "pipeline/training/trainer.h"
#include "pipeline/training/training_set.h"

namespace lookout {

// What a model without a picture's fold says of it.
struct ValidatedPicture {
  std::vector<float> scores;  // of the classes and, last, of "unknown"; together 1
  std::size_t predicted = 0;  // the best of them
  float similarity = 0;

  float score() const { return scores[predicted]; }
};

struct LearningPoint {
  std::size_t pictures = 0;  // of each class
  double accuracy = 0;       // 0..1, mean over the classes, of other folds, without "unknown"
};

struct Validation {
  double l2 = 0;          // of FitOptions, the best of those that were tried
  float temperature = 1;  // by which logits are divided, so that scores are calibrated
  // Of OodDetector, as choose_threshold(); lower where that refuses more than 5 % of the pictures
  // of classes.
  float threshold = 0;
  float steepness = 1;
  std::vector<ValidatedPicture> pictures;  // in the order of the set
  double error_before = 0;                 // Calibration::error of scores without temperature
  double error_after = 0;                  // and with it
  std::vector<LearningPoint> curve;
};

// Whoever trains reports progress, 0..1, and may throw to end it.
using Progress = std::function<void(double done)>;

struct CrossValidationOptions {
  std::optional<double> l2{};  // is not chosen, but this
  bool curve = true;           // Validation::curve is measured, which takes half of the time
};

// `folds`: of each picture, as make_folds().
Validation cross_validate(const TrainingSet& set, const std::vector<std::size_t>& folds,
                          const Progress& progress, const CrossValidationOptions& options = {});

// At most this many examples go into an archive: 4 or 5 kB each, compared for every frame.
inline constexpr std::size_t kMaxExamples = 128;

// The pictures of classes that a OodDetector remembers: all, or as many of each class as there is
// room for, evenly spread. `use`: of each picture, whether it may be one.
Embeddings choose_examples(const TrainingSet& set, const std::vector<bool>& use);

// Scores of the classes and, last, of "unknown". `calibrated`: of the head's outputs.
std::vector<float> with_unknown(const std::vector<float>& calibrated, std::size_t classes,
                                float unknown);

// How many scenes, given as TrainingSet::ood_features(), are less similar than the threshold.
std::size_t count_unknown(const OodDetector& detector, const Embeddings& scenes);

// The model that was validated, trained with all pictures. Its texts are empty.
TrainedModel train(const TrainingSet& set, const Validation& validation);

// The model's scores of a picture: of the classes and, last, of "unknown". `direction`: of its
// embedding; `ood_features`: of what the detector's examples are.
std::vector<float> scores_of(const TrainedModel& model, const float* direction,
                             const float* ood_features, DotProduct product = dot);

// The same of a picture of any set.
std::vector<float> scores_of(const TrainedModel& model, const TrainingSet& set,
                             std::size_t picture);

}  // namespace lookout
