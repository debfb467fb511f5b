// What decides who may ask, and what is asked: a line each for Host, Origin, Authorization, the
// query, and an address to listen on.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "platform/http/http_access.h"
#include "platform/http/http_address.h"
#include "platform/http/http_message.h"

namespace {

const lookout::HttpAccess kAccess{{"camera.example"}, "sixteen letters:"};

void require(bool promise) {
  if (!promise) std::abort();
}

std::string take_line(std::string_view& text) {
  const std::string line(text.substr(0, text.find('\n')));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string to_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::array<unsigned char, 3> bytes{};
    const std::string_view group = text.substr(i, bytes.size());
    for (std::size_t j = 0; j < group.size(); ++j) bytes[j] = static_cast<unsigned char>(group[j]);
    const unsigned int bits = bytes[0] << 16U | bytes[1] << 8U | bytes[2];
    for (unsigned int digit = 0; digit < 4; ++digit) {
      encoded += digit <= group.size() ? kDigits[bits >> (18 - 6 * digit) & 63U] : '=';
    }
  }
  return encoded;
}

// An IP address, this machine, or the configured name, up to the port.
void check_host(const std::string& host) {
  if (!lookout::is_host_allowed(kAccess, host)) return;
  const std::string lower = lookout::lower_case(host);
  std::string name = lower.substr(0, lower.find(':'));
  if (ends_with(name, ".")) name.pop_back();
  const bool bracket = begins_with(lower, "[") && lower.find(']') != std::string::npos;
  require(bracket || name == "localhost" || name == "camera.example" ||
          name.find_first_not_of("0123456789.") == std::string::npos);
}

void check_origin(const std::string& origin, const std::string& host) {
  if (origin.empty() || !lookout::is_origin_allowed(kAccess, origin, host)) return;
  const std::string lower = lookout::lower_case(origin);
  require(ends_with(lower, "://" + lookout::lower_case(host)) ||
          lower.find("://camera.example") != std::string::npos ||
          lower.find("://[camera.example]") != std::string::npos);
}

void check_token(const std::string& authorization) {
  const std::string decoded = lookout::from_base64(authorization);
  require(lookout::from_base64(to_base64(authorization)) == authorization);
  require(decoded.size() <= authorization.size());
  const bool has_colon = authorization.find(':') != std::string::npos;
  const std::string login = to_base64(authorization + ":" + kAccess.token);
  require(lookout::is_token_right(kAccess, "Basic " + login) == !has_colon);
  require(lookout::is_token_right(kAccess, "Bearer " + authorization) ==
          (authorization == kAccess.token));
  if (!lookout::is_token_right(kAccess, authorization)) return;
  const std::string rest = authorization.substr(authorization.find(' ') + 1);
  require(rest == kAccess.token || ends_with(lookout::from_base64(rest), ":" + kAccess.token));
}

void check_query(const std::string& text) {
  for (const auto& [name, value] : lookout::parse_query(text)) {
    require(name.find_first_of("&=") == std::string::npos);
    require(value.find('&') == std::string::npos);
    require(text.find(value.empty() ? name : name + "=" + value) != std::string::npos);
  }
}

void check_address(const std::string& text) {
  try {
    const lookout::HttpAddress address = lookout::parse_http_address(text);
    require(address.path.empty() != address.host.empty());
    require(!address.path.empty() || lookout::is_ip_address(address.host));
    lookout::is_loopback(address);
    require(!lookout::to_text(address).empty());
  } catch (const lookout::Error& error) {
    require(error.kind() == lookout::ErrorKind::kUsage);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string host = take_line(text);
  check_host(host);
  check_origin(take_line(text), host);
  check_token(take_line(text));
  check_query(take_line(text));
  check_address(take_line(text));
  return 0;
}
