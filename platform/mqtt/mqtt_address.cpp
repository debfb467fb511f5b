#include "platform/mqtt/mqtt_address.h"

#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <string_view>

#include "pipeline/core/error.h"
#include "pipeline/core/text.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr std::string_view kPlain = "mqtt://";
constexpr std::string_view kTls = "mqtts://";
constexpr std::string_view kUnixScheme = "mqtt+unix:";
constexpr std::uint16_t kPlainPort = 1883;
constexpr std::uint16_t kTlsPort = 8883;
constexpr std::size_t kMaxBrokerPath = sizeof(sockaddr_un::sun_path) - 1;

Error bad_broker_address(const std::string& text) {
  const std::string what =
      "expected the address of an MQTT broker, as mqtt://HOST, mqtts://USER@HOST:8883 or "
      "mqtt+unix:PATH";
  // There may be a password in it.
  return {ErrorKind::kUsage, text.find('@') == std::string::npos ? what + ", not " + text : what};
}

// The user before the last '@' of `rest`, which is left with what follows it.
std::string take_user(std::string& rest) {
  const auto at = rest.rfind('@');
  if (at == std::string::npos) return {};
  std::string user = rest.substr(0, at);
  rest.erase(0, at + 1);
  if (user.find(':') != std::string::npos) {
    throw Error(ErrorKind::kUsage,
                "a broker's address may have a user, but no password: write that into a file, and "
                "set mqtt.password-file");
  }
  return user;
}

MqttAddress parse_unix(const std::string& text) {
  MqttAddress address;
  const std::string rest = text.substr(kUnixScheme.size());
  const auto slash = std::min(rest.find('/'), rest.size());
  address.path = rest.substr(slash);
  std::string user = rest.substr(0, slash);
  address.user = take_user(user);
  const bool is_path = !address.path.empty() && address.path.size() <= kMaxBrokerPath;
  if (!user.empty() || !is_path) throw bad_broker_address(text);
  return address;
}

// Splits `rest`, HOST or HOST:PORT, where an IPv6 address has brackets.
bool split_host(const std::string& rest, MqttAddress& address) {
  const bool brackets = rest.rfind('[', 0) == 0;
  const auto end = brackets ? rest.find(']') : rest.find(':');
  if (brackets && end == std::string::npos) return false;
  const auto after = std::min(brackets ? end + 1 : end, rest.size());
  address.host = brackets ? rest.substr(1, end - 1) : rest.substr(0, end);
  if (after == rest.size()) return !address.host.empty();
  const auto port = parse_number<std::uint16_t>(rest.substr(after + 1));
  if (rest[after] != ':' || !port || *port == 0) return false;
  address.port = *port;
  return !address.host.empty();
}

}  // namespace

MqttAddress parse_mqtt_address(const std::string& text) {
  if (starts_with(text, kUnixScheme)) return parse_unix(text);
  MqttAddress address;
  address.tls = starts_with(text, kTls);
  if (!address.tls && !starts_with(text, kPlain)) throw bad_broker_address(text);
  address.port = address.tls ? kTlsPort : kPlainPort;
  std::string rest = text.substr((address.tls ? kTls : kPlain).size());
  address.user = take_user(rest);
  if (!rest.empty() && rest.back() == '/') rest.pop_back();
  const bool clean = rest.find_first_of("/?# \t\r\n") == std::string::npos;
  if (!clean || !split_host(rest, address)) throw bad_broker_address(text);
  return address;
}

std::string to_text(const MqttAddress& address) {
  if (!address.path.empty()) return fmt::format("{}{}", kUnixScheme, address.path);
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}:{}", address.tls ? kTls : kPlain,
                     v6 ? "[" + address.host + "]" : address.host, address.port);
}

}  // namespace lookout
