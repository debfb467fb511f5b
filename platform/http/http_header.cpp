#include "platform/http/http_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <string_view>

namespace lookout {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t kMaxTarget = 4 * 1024;
// Of every answer. The page's files come from this server alone.
constexpr const char* kCommonHeaders =
    "Content-Security-Policy: default-src 'self'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cache-Control: no-store\r\n";

template <typename Text>
std::string to_string(const Text& text) {
  return {text.data(), text.size()};
}

}  // namespace

HttpRequest to_request(const http::request_header<>& header) {
  HttpRequest request;
  request.method = to_string(header.method_string());
  const std::string target = to_string(header.target());
  const auto question = std::min(target.find('?'), target.size());
  const std::string_view path_and_query = target;
  request.path = target.substr(0, question);
  request.query = parse_query(path_and_query.substr(std::min(question + 1, target.size())));
  request.host = to_string(header[http::field::host]);
  request.origin = to_string(header[http::field::origin]);
  request.authorization = to_string(header[http::field::authorization]);
  request.content_type = to_string(header[http::field::content_type]);
  request.last_event_id = to_string(header["Last-Event-ID"]);
  return request;
}

std::optional<HttpResponse> mistake_of(const http::request_header<>& header) {
  if (header.target().size() > kMaxTarget) {
    return http_error(414, "long_target", "the path is too long");
  }
  if (header.target().empty() || header.target().front() != '/') {
    return http_error(400, "bad_target", "the path has to begin with /");
  }
  if (header.count(http::field::host) > 1) {
    return http_error(400, "bad_host", "there is more than one header Host");
  }
  return std::nullopt;
}

std::string header_text(const HttpResponse& response, bool keep_alive) {
  const auto reason =
      http::obsolete_reason(http::int_to_status(static_cast<unsigned int>(response.status)));
  std::string header = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response.status,
                                   std::string_view(reason.data(), reason.size()), response.type);
  header += kCommonHeaders;
  if (response.stream) {
    header += "X-Accel-Buffering: no\r\n";
  } else {
    header += fmt::format("Content-Length: {}\r\n", response.body ? response.body->size() : 0);
  }
  for (const auto& [name, value] : response.headers) {
    header += fmt::format("{}: {}\r\n", name, value);
  }
  header += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return header;
}

}  // namespace lookout
