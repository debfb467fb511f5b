// The HTTP server of a run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "app/options/options.h"
#include "pipeline/flow/picture_queue.h"
#include "pipeline/reporter.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/run_info.h"

namespace lookout {

// Throws Error(kConfig) when other machines could look without a token and nobody allowed it, or
// when the token cannot be read or is too short.
void check_http(const HttpOptions& options);

// Null when there is neither an address nor a socket of systemd. `pictures` classifies those that
// clients send; it and `jpegs_wanted`, SourceOptions', outlive the reporter. `operators` is for the
// metrics; empty: they are not sampled. Throws as check_http(), and Error when the address cannot
// be used.
std::unique_ptr<Reporter> make_http_reporter(const RunOptions& options, const RunInfo& info,
                                             const std::function<OperatorTable()>& operators,
                                             PictureQueue& pictures,
                                             std::atomic<bool>& jpegs_wanted);

}  // namespace lookout
