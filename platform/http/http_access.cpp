#include "platform/http/http_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "pipeline/core/lower_case.h"
#include "platform/http/http_address.h"
#include "platform/system/password.h"

namespace lookout {
namespace {

bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// `[::1]:8090` -> `::1`, `Pi.local.:80` -> `pi.local`. Empty: it is no name, with or without a
// port.
std::string name_of(std::string_view host) {
  const bool is_v6 = !host.empty() && host.front() == '[';
  const auto end = is_v6 ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string_view::npos || !is_port(host.substr(end + (is_v6 ? 1 : 0)))) return {};
  std::string name = lower_case(std::string(host.substr(0, end)));
  if (is_v6) {
    name.erase(0, 1);
    return name.find(':') == std::string::npos ? std::string() : name;
  }
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name;
}

// Whether HttpAccess has the name.
bool is_known(const HttpAccess& access, const std::string& name) {
  return std::find(access.hosts.begin(), access.hosts.end(), name) != access.hosts.end();
}

bool has_scheme(std::string_view authorization, std::string_view scheme) {
  return lower_case(std::string(authorization.substr(0, scheme.size()))) == scheme;
}

}  // namespace

std::string_view authority_of_url(std::string_view url) {
  const auto end_of_scheme = std::min(url.find("://"), url.size());
  const std::string scheme = lower_case(std::string(url.substr(0, end_of_scheme)));
  if (scheme != "http" && scheme != "https") return {};
  const std::string_view rest = url.substr(std::min(end_of_scheme + 3, url.size()));
  return rest.substr(0, rest.find_first_of("/?#"));
}

std::string name_of_url(std::string_view url) { return name_of(authority_of_url(url)); }

std::string origin_of_url(std::string_view url) {
  std::string authority = lower_case(std::string(authority_of_url(url)));
  if (authority.find('@') != std::string::npos || name_of(authority).empty()) return {};
  const std::string scheme = lower_case(std::string(url.substr(0, url.find("://"))));
  const std::string port = scheme == "http" ? ":80" : ":443";
  for (const std::string& own : {port, std::string(":")}) {
    const bool ends_so = authority.size() > own.size() &&
                         authority.compare(authority.size() - own.size(), own.size(), own) == 0;
    if (ends_so) authority.resize(authority.size() - own.size());
  }
  return scheme + "://" + authority;
}

bool is_host_allowed(const HttpAccess& access, std::string_view host) {
  const std::string name = name_of(host);
  return name == "localhost" || is_ip_address(name) || is_known(access, name);
}

bool may_show(const HttpAccess& access, const HttpRequest& request) {
  const std::string name = name_of_url(request.referer);
  return !name.empty() && (is_known(access, name) || name == name_of(request.host));
}

bool is_origin_allowed(const HttpAccess& access, std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  const std::string_view authority = authority_of_url(origin);
  if (authority.empty()) return false;
  if (lower_case(std::string(authority)) == lower_case(std::string(host))) return true;
  if (!access.origin.empty() && lower_case(std::string(origin)) == access.origin) return true;
  const bool has_port = authority.find(':') != std::string_view::npos;
  return !has_port && is_known(access, name_of(authority));
}

bool is_site_allowed(const HttpAccess& access, const HttpRequest& request) {
  if (lower_case(request.fetch_site) != "cross-site") return true;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool is_link =
      reads && request.fetch_mode == "navigate" && request.fetch_dest == "document";
  const bool has_origin =
      !request.origin.empty() && is_origin_allowed(access, request.origin, request.host);
  return is_link || has_origin || may_show(access, request);
}

std::optional<HttpResponse> write_refusal(const HttpAccess& access, const HttpRequest& request) {
  const std::string own =
      access.origin.empty() ? "http://" + lower_case(request.host) : access.origin;
  if (lower_case(request.origin) != own) {
    return http_error(403, "cross_origin",
                      fmt::format("only pages of {} may change anything: that is what Origin has "
                                  "to be; http.public-url sets it",
                                  own));
  }
  if (!request.fetch_site.empty() && lower_case(request.fetch_site) != "same-origin") {
    return http_error(403, "cross_site", "only pages of this server may change anything");
  }
  if (request.x_lookout != "1") {
    return http_error(403, "no_header", "a request that changes anything has X-Lookout: 1");
  }
  std::string type = lower_case(request.content_type);
  type.resize(std::min(type.find_first_of("; \t"), type.size()));
  if (type != "application/json") {
    return http_error(415, "not_json", "a request that changes anything is application/json");
  }
  return std::nullopt;
}

bool is_token_right(const HttpAccess& access, std::string_view authorization) {
  if (access.token.empty()) return true;
  constexpr std::string_view kBearer = "bearer ";
  constexpr std::string_view kBasic = "basic ";
  if (has_scheme(authorization, kBearer)) {
    return are_secrets_equal(authorization.substr(kBearer.size()), access.token);
  }
  if (!has_scheme(authorization, kBasic)) return false;
  const std::string decoded = from_base64(authorization.substr(kBasic.size()));
  const auto colon = decoded.find(':');
  if (colon == std::string::npos) return false;
  return are_secrets_equal(decoded.substr(colon + 1), access.token);
}

std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return {};
  for (int i = 0; i < 2 && text.back() == '='; ++i) text.remove_suffix(1);
  std::string decoded;
  std::uint32_t bits = 0;
  unsigned int count = 0;
  for (const char digit : text) {
    const auto value = kDigits.find(digit);
    if (value == std::string_view::npos) return {};
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += static_cast<char>(bits >> count & 0xFFU);
  }
  return decoded;
}

}  // namespace lookout
