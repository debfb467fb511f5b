// The first runs of a model, whatever the engine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "pipeline/model/input_spec.h"
#include "pipeline/model/model_facts.h"
#include "pipeline/model/model_spec.h"

namespace lookout {

// As Classifier::classify().
using ClassifyImage = std::function<void(const ImageTensor& image, std::vector<float>& logits)>;

// An image of the input's size whose normalized values are all `value`.
ImageTensor blank_image(const InputSpec& input, float value = 0);

// Runs the model until it is warm, which also shows, before the first frame, that it works with its
// spec. A spec that does not state the output gets the one that is recognised.
void warm_up(const ClassifyImage& classify, ModelSpec& spec, ModelFacts& facts);

// Whether these are a model's scores: none is NaN or infinity, and one at least is finite. Minus
// infinity is how a model rules a label out.
bool can_be_scores(const float* scores, std::size_t count);

}  // namespace lookout
