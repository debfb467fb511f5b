// Chooses the number of computing threads for an engine that keeps it, as ONNX Runtime does.
#pragma once

#include <chrono>
#include <functional>

#include "pipeline/core/frame.h"

namespace lookout {

// How long a thread spins at the end of its part of a layer before it sleeps. A network has a
// parallel section for each layer. MobileNetV2 with two threads, 30 frames a second, two idle x86
// processors: 9 sleeps a frame in place of 59, inferences of 9.2 ms in place of 12.8, for 1.18 of
// the processor time. Where another program has one of the two processors, spinning for 50 us makes
// inferences slower, 16.0 in place of 13.0 ms; so it does on two virtual processors of an AMD EPYC
// with nothing beside, 7.9 in place of 6.0 ms (12 sleeps in place of 39, 1.29 of the time). There
// one thread takes 5.6.
inline constexpr std::chrono::microseconds kSpin{75};
// For slower processors, whose threads wait longer for each other.
inline constexpr std::chrono::microseconds kLongSpin{200};
inline constexpr std::chrono::microseconds kNoSpin{0};

// The sessions of a model, of which each has a number of threads of its own.
struct ThreadTrials {
  // One inference in the session that is tried: the one with max_threads and kSpin, which is there
  // from the beginning, until load() loads another.
  std::function<void()> run;
  // Loads a session to be tried. The one that was tried before it and is not kept is freed first.
  std::function<void(int threads, std::chrono::microseconds spin)> load;
  // The session that is tried is better than the one that was kept, which is freed.
  std::function<void()> keep;
  std::function<Clock::time_point()> now = [] { return Clock::now(); };
};

// Tries max_threads, 1, 2, ... threads in one batch each, so that there are two sessions at most.
// Fewer threads are better if they take at most a tenth longer, more if they save more than a
// tenth; a number with spiky times is not better than one without. With several threads kNoSpin and
// kLongSpin are tried then, which are better if they save more than a tenth: threads that spin take
// from each other what other programs leave. The inferences take 1.2 s in all and as much for each
// spin as for a number, or two for each of them. What would probably end later than `limit` is not
// tried. A load is expected to take `load_time`; each is counted as long as it takes.
void try_threads(const ThreadTrials& trials, int max_threads, Clock::duration limit,
                 Clock::duration load_time);

}  // namespace lookout
