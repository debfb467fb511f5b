#include "platform/http/http_access.h"

#include <algorithm>
#include <cstdint>

#include "pipeline/lower_case.h"
#include "platform/http/http_address.h"

namespace lookout {
namespace {

// `[::1]:8090` -> `::1`, `Pi.local.:80` -> `pi.local`.
std::string name_of(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    const auto end = host.find(']');
    return end == std::string_view::npos ? std::string() : std::string(host.substr(1, end - 1));
  }
  std::string name = lower_case(std::string(host.substr(0, host.find(':'))));
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name;
}

bool are_equal(std::string_view given, std::string_view secret) {
  unsigned int difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

bool has_scheme(std::string_view authorization, std::string_view scheme) {
  return lower_case(std::string(authorization.substr(0, scheme.size()))) == scheme;
}

}  // namespace

bool is_host_allowed(const HttpAccess& access, std::string_view host) {
  const std::string name = name_of(host);
  return name == "localhost" || is_ip_address(name) ||
         std::find(access.hosts.begin(), access.hosts.end(), name) != access.hosts.end();
}

bool is_origin_allowed(const HttpAccess& access, std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  const auto scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view authority = origin.substr(scheme + 3);
  if (lower_case(std::string(authority)) == lower_case(std::string(host))) return true;
  const std::string name = name_of(authority);
  return std::find(access.hosts.begin(), access.hosts.end(), name) != access.hosts.end();
}

bool is_token_right(const HttpAccess& access, std::string_view authorization) {
  if (access.token.empty()) return true;
  constexpr std::string_view kBearer = "bearer ";
  constexpr std::string_view kBasic = "basic ";
  if (has_scheme(authorization, kBearer)) {
    return are_equal(authorization.substr(kBearer.size()), access.token);
  }
  if (!has_scheme(authorization, kBasic)) return false;
  const std::string decoded = from_base64(authorization.substr(kBasic.size()));
  const auto colon = decoded.find(':');
  if (colon == std::string::npos) return false;
  return are_equal(decoded.substr(colon + 1), access.token);
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
