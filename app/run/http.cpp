#include "app/run/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/run/open_model.h"
#include "platform/http/http_reporter.h"
#include "platform/system/input_file.h"
#include "platform/system/machine_id.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

constexpr std::size_t kMinToken = 16;

std::optional<HttpAddress> address_of(const HttpOptions& options) {
  if (options.address.empty()) return std::nullopt;
  return parse_http_address(options.address);
}

// Its first line.
std::string read_token(const HttpOptions& options) {
  if (options.token_file.empty()) return {};
  std::string token = read_secret("http.token-file", options.token_file);
  token.resize(std::min(token.find_first_of("\r\n"), token.size()));
  if (token.size() >= kMinToken) return token;
  throw Error(ErrorKind::kConfig, fmt::format("http.token-file {}: the token has fewer than {} "
                                              "characters",
                                              options.token_file, kMinToken));
}

void require_token(const HttpOptions& options, bool is_public, const std::string& address) {
  if (!is_public || options.insecure || !options.token_file.empty()) return;
  throw Error(ErrorKind::kConfig,
              fmt::format("http: other machines could look at {} without a token: set "
                          "http.token-file, or http.insecure=true to allow that",
                          address));
}

// This machine's names, besides those of the options.
std::vector<std::string> host_names(const HttpOptions& options) {
  std::vector<std::string> names = options.hosts;
  const std::string name = full_host_name();
  if (name.empty()) return names;
  names.push_back(lower_case(name));
  names.push_back(lower_case(host_name()) + ".local");
  return names;
}

}  // namespace

void check_http(const HttpOptions& options) {
  read_token(options);
  const auto address = address_of(options);
  if (address) require_token(options, !is_loopback(*address), options.address);
}

std::unique_ptr<Reporter> make_http_reporter(const RunOptions& options, const RunInfo& info,
                                             const RunFigures& figures, PictureQueue& pictures,
                                             std::atomic<bool>& jpegs_wanted) {
  const HttpOptions& http = options.http;
  auto sockets = std::make_unique<ListenSockets>(address_of(http));
  if (sockets->fds().empty()) return nullptr;
  require_token(http, sockets->are_public(), sockets->names().front());
  HttpServiceOptions service;
  service.access = {host_names(http), read_token(http)};
  service.view.view = options.camera.view;
  service.view.max_viewers = http.viewers;
  service.jpegs_wanted = &jpegs_wanted;
  service.pictures = &pictures;
  service.predict.pixels = http.max_pixels;
  service.predict_rate = http.predict_rate;
  if (info.source.empty()) {
    service.predict.threads = static_cast<std::size_t>(options.model.workers) + 1;
    service.predict.in_background = false;
  }
  HttpLimits limits;
  limits.clients = http.clients;
  // One address has a quarter of all, which a request fits into.
  limits.upload =
      std::min<std::size_t>(http.max_upload, std::numeric_limits<std::size_t>::max() / 4);
  limits.uploads = std::max(limits.uploads, 4 * limits.upload);
  service.max_upload = limits.upload;
  MetricSources metrics{
      figures.operators, [] { return read_machine_state(); }, &pictures, {}, api_usage};
  if (figures.mqtt) {
    metrics.mqtt = [mqtt = figures.mqtt] {
      return MqttFigures{mqtt->publishes, mqtt->messages, mqtt->dropped};
    };
  }
  return std::make_unique<HttpReporter>(std::move(sockets), info, std::move(service), limits,
                                        std::move(metrics));
}

}  // namespace lookout
