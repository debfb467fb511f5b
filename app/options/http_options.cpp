// The settings of the HTTP server.
#include "app/options/options.h"
#include "app/options/settings.h"
#include "platform/http/http_address.h"

namespace lookout {
namespace {

constexpr double kMaxClients = 1000;
constexpr double kMaxPredictRate = 100'000;
constexpr double kMaxPredictPixels = 1U << 30;  // OpenCV's limit

Value http_address(std::string& member) {
  Value value = text(member, "ADDRESS");
  value.set = [&member](const std::string& text) {
    if (!text.empty()) parse_http_address(text);
    member = text;
    return true;
  };
  return value;
}

}  // namespace

void declare(Settings& settings, HttpOptions& options) {
  const std::string section = "http";
  settings.add(section, "address", http_address(options.address),
               "Serve a page with the live picture, results and metrics at this address: "
               "127.0.0.1:8090, [::]:8090 or unix:PATH; default: only the sockets of systemd",
               "--http");
  settings.add(
      section, "token-file", text(options.token_file, "FILE"),
      "File with the token that clients must send, at least 16 characters; without it only "
      "an address of this machine is served");
  settings.add(section, "insecure", boolean(options.insecure),
               "Serve other machines without a token");
  settings.add(section, "hosts", names(options.hosts),
               "Host names of this server that clients may use, besides localhost, this machine's "
               "name and IP addresses; pages of these hosts may show its picture");
  settings.add(section, "clients", number(options.clients, 1, kMaxClients),
               "Maximum number of clients at the same time; 16 from one address");
  settings.add(section, "viewers", number(options.viewers, 1, kMaxClients),
               "Maximum number of clients that watch the live picture");
  settings.add(section, "max-upload", size_value(options.max_upload),
               "Maximum size of a request with pictures");
  settings.add(section, "max-pixels", number(options.max_pixels, 1, kMaxPredictPixels),
               "Refuse larger pictures of clients before they are decoded");
  settings.add(section, "predict-rate", number(options.predict_rate, 0, kMaxPredictRate),
               "Maximum number of requests with pictures per second from one address; 0: no limit");
}

}  // namespace lookout
