// Chooses the number of computing threads for an engine that keeps it, as ONNX Runtime does.
#pragma once

#include <functional>

#include "pipeline/core/frame.h"

namespace lookout {

// The sessions of a model, of which each has a number of threads of its own.
struct ThreadTrials {
  // One inference in the session that is tried: the one with max_threads, which is there from the
  // beginning, until load() loads another.
  std::function<void()> run;
  // Loads a session to be tried. The one that was tried before it and is not kept is freed first.
  std::function<void(int threads)> load;
  // The session that is tried is better than the one that was kept, which is freed.
  std::function<void()> keep;
  std::function<Clock::time_point()> now = [] { return Clock::now(); };
};

// Tries max_threads, 1, 2, ... threads in one batch each, so that there are two sessions at most.
// Fewer threads are better if they take at most a tenth longer, more if they save more than a
// tenth; a number with spiky times is not better than one without. The inferences take 1.2 s in
// all, or two for each number. What would probably end later than `limit` is not tried. A load is
// expected to take `load_time`; each is counted as long as it takes.
void try_threads(const ThreadTrials& trials, int max_threads, Clock::duration limit,
                 Clock::duration load_time);

}  // namespace lookout
