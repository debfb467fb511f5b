#include "platform/sources/network_url.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/core/error.h"
#include "platform/system/percent_encoding.h"

namespace lookout {
namespace {

constexpr const char* kScheme = "://";

// The part between "://" and the path.
struct Authority {
  std::string::size_type begin;
  std::string::size_type end;
};

Authority authority_of(const std::string& url, std::string::size_type host) {
  return {url.find(kScheme) + 3, std::min(url.find_first_of("/?#", host), url.size())};
}

Authority authority_of(const std::string& url) { return authority_of(url, url.find(kScheme) + 3); }

}  // namespace

std::string shown_url(const std::string& url) {
  // A password that is not escaped may hold '@', '/' or '?'.
  const auto last = url.rfind('@');
  const auto start = url.find(kScheme) + 3;
  const auto [begin, end] =
      authority_of(url, last == std::string::npos ? start : std::max(start, last));
  const std::string authority = url.substr(begin, end - begin);
  const auto at = authority.rfind('@');
  std::string shown = url.substr(0, begin);
  shown += at == std::string::npos ? authority : "***" + authority.substr(at);
  const std::string path = url.substr(end, url.find_first_of("?#", end) - end);
  shown += path.find('=') == std::string::npos ? path : "/***";
  if (url.find('?', end) != std::string::npos) shown += "?***";
  return shown;
}

std::string host_of(const std::string& url) {
  const auto [begin, end] = authority_of(url);
  std::string host = url.substr(begin, end - begin);
  host.erase(0, host.rfind('@') + 1);
  const auto colon = host.rfind(':');
  if (colon != std::string::npos && host.find(']', colon) == std::string::npos) host.resize(colon);
  return host;
}

std::string hide_secrets(const std::string& line) {
  std::string result;
  std::string::size_type place = 0;
  for (auto scheme = line.find(kScheme); scheme != std::string::npos;
       scheme = line.find(kScheme, place)) {
    const auto before = line.find_last_of(" '\"(", scheme);
    const auto begin = before == std::string::npos ? place : std::max(before + 1, place);
    const auto end = std::min(line.find_first_of(" '\")", scheme), line.size());
    result += line.substr(place, begin - place) + shown_url(line.substr(begin, end - begin));
    place = end;
  }
  return result + line.substr(place);
}

std::string with_credentials(const std::string& url, const std::string& content) {
  const auto [begin, end] = authority_of(url);
  if (url.substr(begin, end - begin).find('@') != std::string::npos) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has a user name, and camera.credentials another: leave one out",
                            shown_url(url)));
  }
  const std::string line = content.substr(0, content.find_first_of("\r\n"));
  const auto colon = line.find(':');
  if (colon == 0 || colon == std::string::npos) {
    throw Error(ErrorKind::kUsage,
                "the first line of the file camera.credentials has to be USER:PASSWORD");
  }
  return url.substr(0, begin) + percent_encoded(line.substr(0, colon)) + ":" +
         percent_encoded(line.substr(colon + 1)) + "@" + url.substr(begin);
}

std::string without_credentials(const std::string& url, std::string& credentials) {
  const auto begin = url.find("://") + 3;
  const auto at = url.rfind('@', url.find('/', begin));
  if (at == url.npos || at < begin) return url;
  const std::string user = url.substr(begin, at - begin);
  credentials =
      percent_decoded(user.substr(0, user.find(':'))) + ":" +
      (user.find(':') == user.npos ? "" : percent_decoded(user.substr(user.find(':') + 1)));
  return url.substr(0, begin) + url.substr(at + 1);
}

}  // namespace lookout
