// The threads that LibTorch computes with: how many there are, and that they sleep between frames.
//
// LibTorch has two pools, the pthreadpool of QNNPACK and XNNPACK and OpenMP's, each of which would
// have as many threads, all spinning for a while after each operator. Quantized kernels run in the
// first alone: with OpenMP's kept to the calling thread, no more than asked for are busy, and the
// pools do not take the cores from each other.
#pragma once

namespace lookout {

// How many threads compute, for the whole process, at least 1; the calling thread is one of them.
// Not while another thread runs a model: the pthreadpool is made anew when the number changes.
void set_compute_threads(int threads, bool quantized);

// OpenMP's number of threads belongs to the calling thread: once on every further thread that is to
// run a model.
void adopt_compute_threads(int threads, bool quantized);

// After an inference: sends the pthreadpool's threads to sleep. They would spin for 1,000,000 turns
// first, which is milliseconds on every core, of heat, and of time that capture and other programs
// want. Costs a few microseconds; nothing with one thread.
void rest_compute_threads();

}  // namespace lookout
