// The first runs of a model, whatever the engine.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/input_spec.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

// Writes the network's numbers for the image, as they are. Throws Error(kBadData).
using RunNetwork = std::function<void(const ImageTensor& image, std::vector<float>& numbers)>;

// An image of the input's size whose normalized values are all `value`.
ImageTensor blank_image(const InputSpec& input, float value = 0);

// Of what a model takes to start, once it is loaded: its first runs, and the choice of the number
// of threads. Two runs are made, however long they take.
inline constexpr std::chrono::seconds kStartLimit{5};

struct WarmUp {
  Clock::duration left;      // of kStartLimit
  Clock::duration last_run;  // how long it took
};

// Runs the model until it is warm, on images that differ (noise, flat colors, patterns), which
// also shows, before the first frame, that it works with its spec, and what its numbers are. It
// takes two runs, or 2 s. A spec that does not state the output gets the one that is recognised:
// - probabilities: no number is below 0 or above 1, and each image's add up to 1;
// - sigmoid: the same, but the sums differ;
// - logits: all others, also the logarithms of probabilities.
// A model that gives one number has two labels afterwards (see add_opposite()). An image that the
// model fails for is left out, as flat ones are no pictures for some. Throws Error(kBadData) when
// it fails for all, or when its numbers contradict the output that is stated. `now`: the clock.
WarmUp warm_up(
    const std::filesystem::path& archive, const RunNetwork& run, ModelSpec& spec, ModelFacts& facts,
    const std::function<Clock::time_point()>& now = [] { return Clock::now(); });

// The same for a network that gives embeddings, which are not looked at. Throws Error(kBadData)
// when it fails for all images.
WarmUp warm_up_embedding(
    const RunNetwork& run, const InputSpec& input,
    const std::function<Clock::time_point()>& now = [] { return Clock::now(); });

// Returns run(), which runs the model. When it fails and nobody said the input's size, the error
// says that, too, unless it is about channels. Throws what `run` throws.
template <typename Run>
auto naming_assumed_size(const ModelSpec& spec, const Run& run) {
  try {
    return run();
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.find("got 3 channels") != what.npos) {
      throw Error(error.kind(), what +
                                    "; pictures have three channels, [1, 3, height, width]: a "
                                    "model for gray ones has to take these");
    }
    if (!spec.assumed.size) throw;
    throw Error(error.kind(), what + "; its size " + std::to_string(spec.input.width) + "x" +
                                  std::to_string(spec.input.height) +
                                  " is assumed: --input-size WxH says another");
  }
}

}  // namespace lookout
