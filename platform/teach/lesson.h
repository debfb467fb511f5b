// Makes a model of what was taught, from embeddings that are there: no engine is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/training/calibration.h"
#include "pipeline/training/cross_validation.h"
#include "pipeline/training/training_set.h"
#include "platform/teach/embedding_cache.h"
#include "platform/teach/teach_library.h"

namespace lookout {

// What a model is trained with.
struct Lesson {
  std::vector<std::string> classes;     // sorted, as `lookout train` has them
  std::vector<TaughtPicture> pictures;  // by class, then oldest first
  std::vector<std::size_t> occasions;   // of each picture: occasions_of()
  TrainingSet set;
  std::size_t skipped = 0;  // pictures without embeddings
};

// `pictures`: TeachLibrary::labelled(). `find`: as EmbeddingCache::find(). `class_rows`: of the
// base, Trainer::class_rows(). Throws TeachError(kTooFewPictures) when a class has fewer than
// kLeastPictures.
Lesson make_lesson(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                   const std::function<std::optional<KeptEmbeddings>(std::int64_t)>& find,
                   const Embeddings& class_rows);

struct RightShare {
  std::size_t right = 0;
  std::size_t pictures = 0;
};

// A picture that is taken for something else.
struct Mistake {
  std::int64_t number = 0;
  std::string label;
  std::string predicted;
  float score = 0;
};

// How many pictures of a label are taken for another one.
struct TaughtConfusion {
  std::string label;
  std::string predicted;
  std::size_t pictures = 0;
};

// What is told of a model. Each picture is judged by one that was trained without its occasion.
struct LessonResult {
  TrainedModel model;     // without texts: that of `lookout train` with these pictures
  Validation validation;  // with whole occasions that were left out, as all that follows
  bool can_tell = false;  // false: a class has one occasion, so that the rest says too little
  RightShare all;
  RightShare day;    // of these
  RightShare night;  // of these
  // 95 %, of the share that is right. Near-copies of one occasion count as one picture.
  ConfidenceInterval interval;
  std::vector<Mistake> mistakes;            // the surest ones first
  std::vector<TaughtConfusion> confusions;  // the same, counted, the most frequent first
};

// May take seconds. `progress` may throw to end it. The same lesson gives the same numbers.
LessonResult learn(const Lesson& lesson, const Progress& progress);

// Two models on the same pictures, of which neither has learned.
struct Comparison {
  RightShare trained;  // the new one, as in LessonResult
  RightShare in_use;
};

// A model that was trained before.
struct FormerModel {
  TrainedModel model;
  std::vector<std::string> labels;  // its own, "unknown" last
  std::int64_t newest = 0;          // the number of the newest picture that it knows; 0: not known
};

// On fewer pictures chance decides.
inline constexpr std::size_t kLeastCompared = 10;

// Compares what was learned with a former model, on pictures of occasions that began after those of
// which that one has learned. Nothing when these are fewer than kLeastCompared, when it takes other
// embeddings, or has a class that the lesson has not, as one that was renamed since.
std::optional<Comparison> compare(const Lesson& lesson, const LessonResult& result,
                                  const FormerModel& former);

}  // namespace lookout
