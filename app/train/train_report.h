// What `lookout train` did and how good the model is, and its report.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/dataset/eval_counts.h"
#include "app/report/report.h"
#include "app/train/train_pictures.h"
#include "pipeline/training/cross_validation.h"
#include "pipeline/training/scenes.h"

namespace lookout {

// A score that a state should reach: state.enter-threshold. 99 % of at least 30 different pictures
// above it are right.
struct SuggestedThreshold {
  double threshold = 0;         // 0..1
  std::size_t above = 0;        // pictures above it
  double right = 0;             // the share of these that are right, 0..1
  ConfidenceInterval interval;  // of that share; near-copies count as one
  double below = 0;             // the share of the pictures below it
};

// How good the model is about pictures of a part of the set that was not trained with.
struct HeldOut {
  std::string folder;
  EvalCounts counts;
  std::size_t skipped = 0;     // that could not be read
  std::size_t duplicates = 0;  // that were left out: the model was trained with them
};

struct RecognisedShare {
  std::size_t recognised = 0;  // as "unknown"
  std::size_t all = 0;
};

// How well a model recognises scenes that are of none of its classes.
struct ForeignReport {
  // Of the base's classes that no picture of the training looks like: foreign_profiles(). They
  // are of no photographs, so their share is an estimate. Nothing: the base has no profiles.
  std::optional<RecognisedShare> classes_of_base;
  std::optional<RecognisedShare> pictures;  // of `folder`: --other
  std::string folder;
};

// The head that was written.
struct TrainedHead {
  std::string file;
  std::string sha256;
  std::size_t bytes = 0;
};

struct TrainReport {
  std::string file;    // the archive, or the head alone
  std::string sha256;  // its
  std::optional<TrainedHead> head;
  std::string name;  // of the model
  std::string base;  // the base's name, file and SHA-256
  std::string base_file;
  std::string base_sha256;
  std::string source;               // the pictures' folder
  std::vector<std::string> labels;  // of the model: those of the classes, and "unknown"
  std::vector<TrainPicture> pictures;
  std::string pictures_sha256;
  std::size_t skipped = 0;
  std::size_t duplicates = 0;
  bool equal_classes = true;   // in the training; false: pictures weigh the same
  bool blocks_of_time = true;  // false: the times tell nothing
  Scenes scenes;               // of the pictures
  Validation validation;
  EvalCounts counts;           // of the pictures as they were validated
  std::optional<HeldOut> val;  // nothing: the set has no such part
  ForeignReport foreign;
  std::optional<SuggestedThreshold> threshold;
  // Of each class, for pictures that are taken for it; empty when all that there are are the same.
  std::vector<std::optional<SuggestedThreshold>> class_thresholds;
  std::vector<std::string> advice;  // sentences
  double seconds = 0;
  // Only a page shows what follows.
  Facts base_facts = {};
  Facts machine_facts = {};
  // Returns a small picture of a file as a `data:` URI; empty: none can be made.
  std::function<std::string(const std::string& path)> thumbnail = {};  // null: none are shown

  std::size_t unknown() const { return labels.size() - 1; }
  // Pictures of classes that were taken for unknown.
  std::size_t refused() const;
  // Pictures that have near-copies, and of how many scenes these are; without fixed scenes.
  std::size_t near_copies() const;
  std::size_t copied_scenes() const;
  // The labels of the classes whose pictures are of fixed scenes for the most part.
  std::vector<std::string> classes_of_one_scene() const;
};

// Counts a picture with its scores. `weight`: as EvaluatedPicture has it.
void record(const std::string& file, std::size_t expected, const std::vector<float>& scores,
            const std::vector<std::string>& labels, double weight, EvalCounts& counts);

// Fills in what follows from the rest: counts, threshold and advice.
void evaluate(TrainReport& report);

// What would make the model better: one sentence for each thing that the pictures lack or that
// looks wrong, most important first. `report` is complete but for its advice.
std::vector<std::string> advise(const TrainReport& report);

// "99.1 % of the 116 pictures above it are right (95 % interval 95.3 to 99.8 %), 7.4 % lie below".
std::string threshold_text(const SuggestedThreshold& threshold);

// `report` has to outlive what is made, whose JSON app/training.md describes.
Report make_report(const TrainReport& report);
// producer_info.json of the archive: what can be known before it is written.
std::string producer_info(const TrainReport& report, const std::string& library);

}  // namespace lookout
