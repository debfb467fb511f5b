#include "platform/http/http_reporter.h"

#include <functional>
#include <string>
#include <utility>

#include "pipeline/core/log.h"

namespace lookout {
namespace {

HttpServiceOptions with_metrics(HttpServiceOptions options, std::function<std::string()> metrics) {
  options.metrics = std::move(metrics);
  return options;
}

}  // namespace

HttpReporter::HttpReporter(std::unique_ptr<ListenSockets> sockets, const RunInfo& info,
                           HttpServiceOptions options, const HttpLimits& limits,
                           MetricSources metrics)
    : limits_(limits),
      metrics_(info, std::move(metrics)),
      service_(
          slots_, info,
          with_metrics(std::move(options),
                       [this] { return metrics_.text() + http_metrics_.text(service_.counts()); })),
      sockets_(std::move(sockets)) {}

void HttpReporter::watching(const WatchList& watches) {
  slots_.put(watches);
  metrics_.watching(watches);
  if (server_) return;
  server_ = std::make_unique<HttpServer>(*sockets_, service_, limits_, http_metrics_);
  service_.set_wake([this] { server_->wake(); });
  server_->wake();  // for an answer that was ready before
  for (const std::string& name : sockets_->names()) log_info("http: {}", name);
}

HttpReporter::~HttpReporter() {
  sockets_->close();
  service_.set_wake({});
  server_.reset();
  if (service_.dropped() == 0) return;
  log_warn("http: clients were too slow: {} events were dropped", service_.dropped());
}

void HttpReporter::report(const Result& result, const Frame& frame) {
  slots_.put(result, frame);
  metrics_.record(result);
}

void HttpReporter::status(const CameraStatus& status) {
  slots_.put(status);
  metrics_.record(status);
}

// The summary comes when the server ends.
void HttpReporter::tick(const StatsSnapshot& stats) {
  if (stats.final) return;
  slots_.put(stats);
  metrics_.record(stats);
}

}  // namespace lookout
