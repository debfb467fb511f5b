// `lookout model install`, `back` and `list`: a model in the place of the one that a configuration
// names, kept by ModelStore.
#pragma once

#include <string>

#include "app/install/service_control.h"
#include "app/options/options.h"

namespace lookout {

// Both return the text that tells what was done. They judge the model in a process of its own, as
// the service's user and for at most 30 s, put it in place, reload the service and wait 30 s until
// the new model answers, with camera.max-rate also for the turns of the other watches; otherwise
// the one before is put back. Throw Error(kUsage) for a watch that there is not or is not named,
// Error(kConfig) when the configuration names no file that may be replaced, Error(kNoInput),
// Error(kPermission) and Error(kOutput) as of files, and Error(kBadData) for a model that is
// refused or does not answer. After each of these the model is the one before.
std::string install_model(const RunOptions& options, const ModelCommandOptions& command,
                          const ServiceControl& service);
std::string put_model_back(const RunOptions& options, const ModelCommandOptions& command,
                           const ServiceControl& service);

// The models of all watches, or of one. Changes nothing.
std::string list_models(const RunOptions& options, const ModelCommandOptions& command,
                        const ServiceControl& service);

}  // namespace lookout
