// The engines, for lookout doctor. Engines are loaded in processes of their own: one
// process cannot have two, and on another processor than they were built for they crash.
#pragma once

#include <functional>
#include <string>

#include "app/inspect/check.h"
#include "pipeline/archive/engine_facts.h"

namespace lookout {

// Throws Error as engine_facts(), and Error(kInternal) when the engine crashes.
EngineFacts facts_apart(Engine engine);

// An engine that cannot be used is a note: it keeps only models of its format from running, which
// the check of the model tells.
Check check_engine(Engine engine, const std::function<EngineFacts(Engine)>& get_facts);

}  // namespace lookout
