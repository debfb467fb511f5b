// The machine that figures were measured on, for reports.
#pragma once

#include <string>

#include "app/report/html.h"
#include "platform/system/system_info.h"

namespace lookout {

// `kind`: see machine_kind(). `engine`: of models, with its version.
Facts machine_facts(const SystemInfo& system, const std::string& kind, int processors,
                    const std::string& engine);

// "lookout 0.1.0, 2026-11-23 06:30", with the local time.
std::string made_by(const std::string& version);

}  // namespace lookout
