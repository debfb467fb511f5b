#include "platform/http/http_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <string_view>

#include "pipeline/core/lower_case.h"
#include "platform/http/http_access.h"

namespace lookout {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t kMaxTarget = 4 * 1024;
constexpr unsigned int kHttp11 = 11;
// The headers of every answer. The page's files come from this server alone.
constexpr const char* kCommonHeaders =
    "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cache-Control: no-store\r\n";

template <typename Text>
std::string to_string(const Text& text) {
  return {text.data(), text.size()};
}

// Whether each such header has this value, if there are any.
bool has_value(const http::request_header<>& header, http::field field, const char* value) {
  const auto [begin, end] = header.equal_range(field);
  return std::all_of(begin, end, [value](const auto& line) {
    return lower_case(to_string(line.value())) == value;
  });
}

// The target without scheme and authority.
std::string path_and_query_of(const std::string& target, std::string_view authority) {
  if (authority.empty()) return target;
  const std::string rest = target.substr(target.find("://") + 3 + authority.size());
  return rest.empty() || rest.front() == '?' ? "/" + rest : rest;
}

std::optional<HttpResponse> mistake_of_target(const http::request_header<>& header) {
  const std::string target = to_string(header.target());
  if (target.size() > kMaxTarget) return http_error(414, "long_target", "the path is too long");
  // RFC 9112, 3.2: an absolute target has no fragment.
  const std::string path = path_and_query_of(target, authority_of_url(target));
  if (path.rfind('/', 0) == 0) return std::nullopt;
  return http_error(400, "bad_target", "the path has to begin with /");
}

// A second one could be what somebody else's check did not see.
std::optional<HttpResponse> mistake_of_access(const http::request_header<>& header) {
  if (header.count(http::field::host) > 1) {
    return http_error(400, "bad_host", "there is more than one header Host");
  }
  for (const char* name :
       {"Origin", "Authorization", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"}) {
    if (header.count(name) <= 1) continue;
    return http_error(400, "repeated_header",
                      fmt::format("there is more than one header {}", name));
  }
  return std::nullopt;
}

std::optional<HttpResponse> mistake_of_body(const http::request_header<>& header) {
  if (is_coded(header)) {
    if (header.version() < kHttp11) {
      return http_error(400, "bad_coding", "HTTP/1.0 has no Transfer-Encoding");
    }
    const bool is_chunked = header.count(http::field::transfer_encoding) == 1 &&
                            has_value(header, http::field::transfer_encoding, "chunked");
    if (!is_chunked) {
      return http_error(501, "unknown_coding",
                        "the only Transfer-Encoding that is read is chunked");
    }
  }
  if (header.version() < kHttp11 || has_value(header, http::field::expect, "100-continue")) {
    return std::nullopt;
  }
  return http_error(417, "unknown_expectation", "the only Expect that is met is 100-continue");
}

}  // namespace

HttpRequest to_request(const http::request_header<>& header) {
  HttpRequest request;
  request.method = to_string(header.method_string());
  const std::string url = to_string(header.target());
  const std::string_view authority = authority_of_url(url);
  const std::string target = path_and_query_of(url, authority);
  const auto question = std::min(target.find('?'), target.size());
  const std::string_view path_and_query = target;
  request.path = target.substr(0, question);
  request.query = parse_query(path_and_query.substr(std::min(question + 1, target.size())));
  request.host = to_string(header[http::field::host]);
  // HTTP/1.1 requires a Host besides, whose content does not count then.
  if (!authority.empty() && (!request.host.empty() || header.version() < kHttp11)) {
    request.host = authority;
  }
  request.origin = to_string(header[http::field::origin]);
  request.referer = to_string(header[http::field::referer]);
  request.fetch_site = to_string(header["Sec-Fetch-Site"]);
  request.fetch_mode = to_string(header["Sec-Fetch-Mode"]);
  request.fetch_dest = to_string(header["Sec-Fetch-Dest"]);
  request.authorization = to_string(header[http::field::authorization]);
  request.content_type = to_string(header[http::field::content_type]);
  request.last_event_id = to_string(header["Last-Event-ID"]);
  return request;
}

std::optional<HttpResponse> mistake_of(const http::request_header<>& header) {
  if (auto mistake = mistake_of_target(header)) return mistake;
  if (auto mistake = mistake_of_access(header)) return mistake;
  return mistake_of_body(header);
}

bool is_coded(const http::request_header<>& header) {
  return header.count(http::field::transfer_encoding) > 0;
}

bool wants_continue(const http::request_header<>& header) {
  return header.version() >= kHttp11 && header.count(http::field::expect) > 0;
}

std::string header_text(const HttpResponse& response, bool keep_alive) {
  const auto reason =
      http::obsolete_reason(http::int_to_status(static_cast<unsigned int>(response.status)));
  std::string header = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response.status,
                                   std::string_view(reason.data(), reason.size()), response.type);
  header += kCommonHeaders;
  header += fmt::format("Cross-Origin-Resource-Policy: {}\r\n",
                        response.embeddable ? "cross-origin" : "same-site");
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
