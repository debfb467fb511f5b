// `lookout setup`: from questions to a service that runs.
#pragma once

#include "app/install/setup_host.h"
#include "app/options/options.h"

namespace lookout {

// Asks what the options do not answer, tries the answers, writes configuration, secrets and
// drop-ins for the units, starts the service, and tells its first result and where its page is.
// Everything is checked before the first byte is written; when something cannot be written, or
// systemd refuses, files and units are as they were. `show` and `undo` do what they say instead.
//
// Throws Error(kPermission) for who may not write, Error(kUsage) when nobody can answer, the Error
// of the first answer that does not work when nobody is asked, and Error(kDeviceLost) when the
// service fails, or gives no result in time: then what was written stays.
void set_up(const SetupOptions& options, const SetupHost& host);

}  // namespace lookout
