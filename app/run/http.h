// The HTTP server of a run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "app/options/options.h"
#include "pipeline/core/reporter.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/run_info.h"
#include "pipeline/run/picture_queue.h"
#include "platform/mqtt/mqtt_link.h"

namespace lookout {

// Throws Error(kConfig) when other machines could look without a token and nobody allowed it, or
// when the token cannot be read or is too short.
void check_http(const HttpOptions& options);

// What the metrics tell besides.
struct RunFigures {
  std::function<OperatorTable()> operators;  // empty: they are not sampled
  std::shared_ptr<const MqttCounters> mqtt;  // null: nothing is published
};

// Null when there is neither an address nor a socket of systemd. `pictures` classifies those that
// clients send; it and `jpegs_wanted`, SourceOptions', outlive the reporter. Throws as
// check_http(), and Error when the address cannot be used.
std::unique_ptr<Reporter> make_http_reporter(const RunOptions& options, const RunInfo& info,
                                             const RunFigures& figures, PictureQueue& pictures,
                                             std::atomic<bool>& jpegs_wanted);

}  // namespace lookout
