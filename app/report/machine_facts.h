// The machine that figures were measured on, for reports.
#pragma once

#include <string>

#include "app/report/html.h"
#include "pipeline/core/model_facts.h"
#include "platform/system/system_info.h"

namespace lookout {

// `kind`: see machine_kind(). `engine`: of models, with its version.
Facts machine_facts(const SystemInfo& system, const std::string& kind, int processors,
                    const std::string& engine);
// Those of this machine, and of the engine that a loaded model runs on.
Facts machine_facts(const ModelFacts& model);

// "lookout 0.1.0, 2026-11-23 06:30", with the local time.
std::string made_by(const std::string& version);

}  // namespace lookout
