// The engines and the model, for lookout doctor. Engines are loaded in processes of their own: one
// process cannot have two, and on another processor than they were built for they crash.
#pragma once

#include <functional>
#include <string>

#include "app/inspect/check.h"
#include "app/options/options.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/input_spec.h"

namespace lookout {

// Throws Error as engine_facts(), and Error(kInternal) when the engine crashes.
EngineFacts facts_apart(Engine engine);

// An engine that cannot be used is a note: it keeps only models of its format from running, which
// the check of the model tells.
Check check_engine(Engine engine, const std::function<EngineFacts(Engine)>& get_facts);

struct DescribedModel {
  std::string text;
  InputSpec input;          // its size and how pictures are brought to it
  std::string advice = {};  // as ModelFacts
};

// Loads the model that `options` name. Throws Error.
DescribedModel describe_model(const RunOptions& options);

}  // namespace lookout
