// Fits the last layer of a network.
#pragma once

#include "pipeline/training/trainer.h"

namespace lookout {

// Multinomial logistic regression, by L-BFGS with one thread. `start`: where it begins; null: at
// zero. The same input gives the same head.
Head fit_head(const FitOptions& options, const Head* start);

}  // namespace lookout
