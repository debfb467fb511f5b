// `lookout reload`: has the service read its configuration again, and tells what came of it.
#pragma once

#include <optional>
#include <string>

#include "app/install/service_control.h"
#include "app/options/options.h"
#include "app/run/reload_outcome.h"

namespace lookout {

// Returns the text that tells what changed, and what changes with a restart. Throws the Error that
// a start with this configuration would end with when the service refused it, Error(kUsage) for a
// configuration that no service has, Error(kPermission) when the caller may not reload the service
// or read what came of it, and Error(kDeviceLost) when the service does not run, or tells nothing
// within 60 s.
std::string reload_service(const RunOptions& options, const ServiceControl& service);

// What came of a reload that the service began at `asked` or later, by ServiceControl::now();
// nothing yet.
std::optional<ReloadOutcome> outcome_since(Clock::time_point asked, const ServiceControl& service);

}  // namespace lookout
