// Classifies pictures from elsewhere as one of a run's watches would, or by its first model.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/core/result.h"
#include "pipeline/run/frame_classifier.h"

namespace lookout {

// The watch of that name, which is not empty; null: there is none.
const Watching* watch_called(const WatchList& watches, const std::string& name);

// "gate, lamp"; empty: the only watch has no name.
std::string names_of_watches(const WatchList& watches);

// "there is no watch 'gat': the watches are gate, lamp", as the message of an error.
std::string no_watch_text(const WatchList& watches, const std::string& name);

// A picture is to be classified as a watch would that the plan does not have.
struct NoSuchWatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Used by one thread at a time, which alone uses the classifiers meanwhile.
class PictureClassifier {
 public:
  // Computes with the classifiers `number` of the plan's regions.
  PictureClassifier(PlanPtr plan, std::size_t number);

  // Fills in the scores and the result of `classified.frame`, which is upright: it is neither
  // turned nor mirrored. `watch`: the name of a watch, whose region of the picture is classified by
  // its model; the result has this watch, and its state when a scene stays as it is. Empty: the
  // whole picture is classified by the model of the first region. Throws NoSuchWatch, and what the
  // classifier throws.
  void classify(const std::string& watch, ClassifiedFrame& classified);

 private:
  PlanPtr plan_;
  FrameClassifier whole_;
  std::vector<FrameClassifier> regions_;
};

}  // namespace lookout
