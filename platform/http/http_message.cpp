#include "platform/http/http_message.h"

#include <fmt/format.h>

#include "pipeline/results/format.h"

namespace lookout {

HttpResponse http_text(std::string type, std::string body) {
  HttpResponse response;
  response.type = std::move(type);
  response.body = std::make_shared<const std::string>(std::move(body));
  return response;
}

HttpResponse http_error(int status, const std::string& code, const std::string& message) {
  HttpResponse response = http_text(
      "application/json",
      fmt::format(R"({{"error":{{"code":{},"message":{}}}}})", to_json(code), to_json(message)) +
          "\n");
  response.status = status;
  if (status == 503) response.headers.emplace_back("Retry-After", "2");
  return response;
}

}  // namespace lookout
