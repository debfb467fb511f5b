#include "platform/http/http_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/results/format.h"
#include "platform/system/percent_encoding.h"

namespace lookout {

HttpResponse http_text(std::string type, std::string body) {
  HttpResponse response;
  response.type = std::move(type);
  response.body = std::make_shared<const std::string>(std::move(body));
  return response;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    query.emplace(pair.substr(0, equals), value);
  }
  return query;
}

std::optional<std::string> query_value(const std::map<std::string, std::string>& query,
                                       const std::string& name) {
  const auto found = query.find(name);
  if (found == query.end()) return std::nullopt;
  std::string value = found->second;
  std::replace(value.begin(), value.end(), '+', ' ');
  return percent_decoded(value);
}

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.4g}", static_cast<double>(bytes) / (1 << 20));
}

HttpResponse http_error(int status, const std::string& code, const std::string& message,
                        std::chrono::seconds retry_after) {
  return http_error(status, code, message, "", retry_after);
}

HttpResponse http_error(int status, const std::string& code, const std::string& message,
                        const std::string& about, std::chrono::seconds retry_after) {
  HttpResponse response = http_text(
      "application/json",
      fmt::format(R"({{"error":{{"code":{},"message":{}{}}}}})", to_json(code), to_json(message),
                  about.empty() ? "" : R"(,"about":)" + to_json(about)) +
          "\n");
  response.status = status;
  response.error = code;
  if (status == 503 || status == 429) {
    response.headers.emplace_back("Retry-After", std::to_string(retry_after.count()));
  }
  return response;
}

}  // namespace lookout
