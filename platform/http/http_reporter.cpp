#include "platform/http/http_reporter.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace lookout {

HttpReporter::HttpReporter(std::unique_ptr<ListenSockets> sockets, const RunInfo& info,
                           HttpServiceOptions options, const HttpLimits& limits)
    : service_(slots_, info, std::move(options)), sockets_(std::move(sockets)) {
  server_ = std::make_unique<HttpServer>(*sockets_, service_, limits);
  service_.set_wake([this] { server_->wake(); });
  for (const std::string& name : sockets_->names()) spdlog::info("http: {}", name);
}

HttpReporter::~HttpReporter() {
  sockets_->close();
  service_.set_wake({});
  server_.reset();
  if (service_.dropped() == 0) return;
  spdlog::warn("http: clients were too slow: {} events were dropped", service_.dropped());
}

// The summary comes when the server ends.
void HttpReporter::tick(const StatsSnapshot& stats) {
  if (!stats.final) slots_.put(stats);
}

}  // namespace lookout
