// How well a model recognises scenes that are of none of its classes, as `lookout train` tells it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/report/json.h"

namespace lookout {

struct RecognisedShare {
  std::size_t recognised = 0;  // as "unknown"
  std::size_t all = 0;
};

struct ForeignReport {
  // Of the base's classes that no picture of the training looks like: foreign_profiles(). They
  // are of no photographs, so their share is an estimate. Nothing: the base has no profiles.
  std::optional<RecognisedShare> classes_of_base;
  std::optional<RecognisedShare> pictures;  // of `folder`: --other
  std::string folder;

  // Of pictures where there are some.
  std::optional<RecognisedShare> best_known() const;
};

// Lines of the text: "foreign 748 of 912 ...\n".
std::string to_text(const ForeignReport& report);
Json to_json(const ForeignReport& report);
// "82.0 % (95 % interval 79.4 to 84.4 %)"
std::string to_text(const RecognisedShare& share);
// What the share is of: "other classes of the base", "pictures in DIR".
std::string subject_of(const ForeignReport& report);
// A sentence; empty when "unknown" can be relied on.
std::string advice_of(const ForeignReport& report);

}  // namespace lookout
