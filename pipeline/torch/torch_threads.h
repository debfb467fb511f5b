// The threads that LibTorch computes with: their number, and their sleep between frames.
//
// LibTorch has two pools: the pthreadpool of QNNPACK and XNNPACK, and OpenMP's. Their threads spin
// for a while after each operator, so two full pools compete for the cores. Quantized kernels run
// in the pthreadpool only. For them OpenMP is therefore limited to the calling thread.
#pragma once

namespace lookout {

// Sets the number of computing threads of the process, at least 1; the calling thread is one of
// them. No other thread may run a model meanwhile: a new number creates a new pthreadpool.
void set_compute_threads(int threads, bool quantized);

// Sets OpenMP's number of threads, which belongs to the calling thread. Call it once on every
// further thread before that runs a model.
void adopt_compute_threads(int threads, bool quantized);

// Sends the pthreadpool's threads to sleep; call it after an inference. Otherwise they spin for
// 1,000,000 turns, which heats every core for milliseconds and takes them from capture and other
// programs. Costs a few microseconds, and nothing with one thread.
void rest_compute_threads();

}  // namespace lookout
