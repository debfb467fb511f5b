// Lets people look at a run over HTTP.
#pragma once

#include <atomic>
#include <memory>

#include "pipeline/core/reporter.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "platform/http/http_metrics.h"
#include "platform/http/http_server.h"
#include "platform/http/http_service.h"
#include "platform/http/listen_sockets.h"
#include "platform/http/live_slots.h"
#include "platform/metrics/run_metrics.h"

namespace lookout {

// Puts the newest result, statistics and status where the thread "http" finds them. A picture is
// copied only when somebody looks at it. The server starts with the first model, which it tells,
// and logs its address: "http: http://[::1]:8090/".
class HttpReporter : public Reporter {
 public:
  // `sockets` has at least one. Throws as HttpService.
  HttpReporter(std::unique_ptr<ListenSockets> sockets, const RunInfo& info,
               HttpServiceOptions options, const HttpLimits& limits = {},
               MetricSources metrics = {});
  ~HttpReporter() override;
  HttpReporter(const HttpReporter&) = delete;
  HttpReporter& operator=(const HttpReporter&) = delete;

  // Throws as HttpServer.
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  const HttpLimits limits_;
  RunMetrics metrics_;
  HttpMetrics http_metrics_;
  LiveSlots slots_;
  HttpService service_;
  const std::unique_ptr<ListenSockets> sockets_;
  std::unique_ptr<HttpServer> server_;  // null before the first model
};

}  // namespace lookout
