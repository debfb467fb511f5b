// lookout run: builds the pipeline that the options describe, and runs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "app/options/options.h"

namespace lookout {

// The first frames of a camera or a measurement, in which buffers are allocated and the clock
// rises: they are neither traced nor measured.
inline constexpr std::uint64_t kWarmUpFrames = 10;

// Ends with the source, the timeout, or when `stop` becomes true. When `operators_asked` becomes
// true, the table of the operators goes to the log. Throws Error, among others Error(kNoInput) at
// the end of a source of which nothing could be read.
void run(const RunOptions& options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked);

// Where `serve` listens without a socket of systemd or an address of its own.
inline constexpr const char* kServeAddress = "127.0.0.1:8090";

// The same without a source: classifies the pictures that clients send over HTTP.
void serve(RunOptions options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked);

// Checks what a run needs and what shows at once, before a model is loaded: the command and the
// source. Throws Error.
void check_before_loading(const RunOptions& options);

// Whether the source is the path of a single picture.
bool is_one_picture(const std::string& source);

// How the source is opened for a model with that input.
SourceOptions source_options(const CameraOptions& options, const InputSpec& input);

}  // namespace lookout
