// What is still missing before a watch is taught well.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "platform/teach/teach_library.h"

namespace lookout {

// Of a class, the fewest pictures that a model can be trained with.
inline constexpr std::size_t kLeastPictures = 5;

struct ClassProgress {
  std::string label;  // a class, or kNoneOfThem where it has pictures
  std::size_t pictures = 0;
  std::size_t night = 0;      // of these
  std::size_t occasions = 0;  // see occasions_of()
  std::set<int> hours;        // of the local day, in which its pictures were taken
};

struct MissingPictures {
  enum class Kind {
    kPictures,  // `count` more are needed
    kOccasion,  // all are of one occasion: how good a model is cannot be told yet
    kDay,       // none was taken by day
    kNight,     // none was taken at night
    kHours,     // none was taken at the hours of the other classes
  };

  Kind kind = Kind::kPictures;
  std::string label;  // empty: of no class there is one
  std::size_t count = 0;
};

struct TeachProgress {
  std::vector<ClassProgress> classes;  // in the order of the watch, kNoneOfThem last
  std::vector<MissingPictures> missing;
  bool can_train = false;  // a model can be trained
  bool can_tell = false;   // and how good it is can be told
};

// The occasion, from 0, on which each picture was taken. `pictures`: of a watch, oldest first.
// Pictures of one hold look alike, and those of the next one do, too, unless something happened in
// between: a picture got another label, or kPause passed.
std::vector<std::size_t> occasions_of(const std::vector<TaughtPicture>& pictures);

// `pictures`: TeachLibrary::labelled().
TeachProgress progress_of(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures);

}  // namespace lookout
