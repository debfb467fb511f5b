// Which threads of the process compute.
#pragma once

#include "pipeline/core/classifier.h"

namespace lookout {

// The number of threads that have a twentieth or more of the work while the model classifies, for a
// second of work. Call it in a process of its own: threads that others left would count.
int busy_threads(Classifier& classifier);

// The share of the calling thread's work that all other threads do while it classifies a picture
// now and then, and works on something else in between, for ten times as long and for 5 ms at the
// least: near 0 when they sleep meanwhile, near 1 for each that spins.
double work_of_others(Classifier& classifier);

}  // namespace lookout
