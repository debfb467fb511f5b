// The pictures that a model is trained with, and their classes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/dataset/eval_set.h"
#include "app/train/picture_time.h"

namespace lookout {

inline constexpr std::size_t kMinPictures = 5;  // of a class
inline constexpr std::size_t kMaxPictures = 20'000;

struct TrainPicture {
  std::string file;       // path
  std::size_t label = 0;  // index; that behind the last class for a counter-example
  std::string sha256;     // of the file
  // What follows is known when the picture was decoded.
  PictureTime time;
  float brightness = 0;  // mean, 0..255
};

struct TrainPictures {
  std::string folder;                  // where they are
  std::vector<std::string> labels;     // of the classes, sorted
  std::vector<TrainPicture> pictures;  // sorted by their label
  std::size_t duplicates = 0;  // files that were left out: the same as another of their class
};

struct TrainFolder {
  TrainPictures train;
  TrainPictures val;  // to measure with, of the same classes; no pictures where there are none
};

// Reads `folder`, which has a folder for each class, called as its label, and perhaps
// kCounterExamples, by read_class_folders(); `csv` as read_eval_set() has it. Of a set that is
// split already (find_splits()), reads the part to train with and the one to validate with, and
// logs which; without the latter none is taken: pictures to test with are left for `lookout eval`.
// Of more than kMaxPictures, an evenly spread part is taken.
//
// Throws as these, and Error(kBadData) for fewer than two classes, a class of fewer than
// kMinPictures pictures, one whose name cannot be a label, and a picture that is in two classes, be
// it in different parts.
TrainFolder read_train_pictures(const std::string& folder, const std::string& csv);

// The SHA-256 of all pictures with their classes, whatever the files' names and order.
std::string hash_of(const TrainPictures& set);

// Throws Error(kBadData) when a class has fewer than kMinPictures pictures.
void require_enough(const TrainPictures& set);

}  // namespace lookout
