// How sure a model is of a frame.
#pragma once

#include "pipeline/core/result.h"

namespace lookout {

// Of the best class's score before the second's: less is unsure.
inline constexpr float kSureLead = 0.3F;

// Whether a label for the frame tells a model more than most: no class reaches the run's threshold,
// the model takes it for none of its classes, or it took another class for almost as likely.
bool is_unsure(const Result& result);

}  // namespace lookout
