#include "platform/webhook/webhook_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr const char* kContentType = "content-type";
constexpr std::string_view kJsonType = "application/json";

Error webhook_error(const std::string& sentence) { return {ErrorKind::kConfig, sentence}; }

// Of the text of a URL.
struct HttpUrl {
  std::string host;  // HOST or HOST:PORT
  bool has_user = false;
};

bool is_good_host(std::string_view host) {
  const bool brackets = host.substr(0, 1) == "[";
  const auto end = brackets ? host.find(']') : host.find(':');
  if (brackets && end == std::string_view::npos) return false;
  const auto after = std::min(brackets ? end + 1 : end, host.size());
  if (after == 0) return false;
  if (after == host.size()) return true;
  const auto port = parse_number<std::uint16_t>(host.substr(after + 1));
  return host[after] == ':' && port && *port > 0;
}

std::optional<HttpUrl> take_apart(const std::string& url) {
  const std::string lower = lower_case(url);
  const std::string_view scheme = lower.rfind("https://", 0) == 0 ? "https://" : "http://";
  if (lower.rfind(scheme, 0) != 0) return std::nullopt;
  const bool is_clean = std::all_of(url.begin(), url.end(), [](char letter) {
    return static_cast<unsigned char>(letter) > ' ' && letter != '\x7f';
  });
  if (!is_clean) return std::nullopt;
  HttpUrl parts;
  parts.host = url.substr(scheme.size());
  parts.host.resize(std::min(parts.host.find_first_of("/?#"), parts.host.size()));
  if (const auto at = parts.host.rfind('@'); at != std::string::npos) {
    parts.has_user = true;
    parts.host.erase(0, at + 1);
  }
  const bool has_braces = parts.host.find_first_of("{}\\") != std::string::npos;
  if (has_braces || !is_good_host(parts.host)) return std::nullopt;
  return parts;
}

void parse_url(const WebhookText& text, WebhookSettings& settings) {
  const std::string what = text.url_is_secret ? "webhook.url-file" : "webhook.url";
  const auto parts = take_apart(text.url);
  if (!parts) {
    throw webhook_error(
        what + ": expected a URL without blanks, as https://HOST/PATH or http://HOST:PORT/PATH");
  }
  if (parts->has_user && !text.url_is_secret) {
    throw webhook_error(
        "webhook.url may have no user and no password: write the URL into a file, and set "
        "webhook.url-file");
  }
  settings.host = parts->host;
  settings.url = MessageTemplate(what, text.url, Escaping::kUrl);
}

// Splits "name: value".
std::optional<std::pair<std::string, std::string>> split_line(const std::string& line) {
  const auto colon = line.find(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  const auto value = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
  return std::pair(line.substr(0, colon), line.substr(value));
}

bool is_header(const std::string& line) {
  const auto parts = split_line(line);
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";  // RFC 9110, token
  const bool is_clean = line.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
  return parts && is_clean &&
         std::all_of(parts->first.begin(), parts->first.end(), [kMarks](char letter) {
           const bool is_letter =
               (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
           return is_letter || (letter >= '0' && letter <= '9') ||
                  kMarks.find(letter) != std::string_view::npos;
         });
}

// Returns the Content-Type that the user states, lower case; empty: none.
std::string parse_headers(const WebhookText& text, WebhookSettings& settings) {
  std::string content_type;
  const auto look_for_type = [&content_type](const std::string& line) {
    const auto parts = split_line(line).value();
    if (lower_case(parts.first) == kContentType) content_type = lower_case(parts.second);
  };
  for (const std::string& line : text.headers) {
    if (!is_header(line)) {
      throw webhook_error("webhook.headers: expected headers, each as Name: value");
    }
    look_for_type(line);
    settings.headers.emplace_back("webhook.headers", line, Escaping::kHeader);
  }
  for (const std::string& line : text.secret_headers) {
    if (!is_header(line)) {
      throw webhook_error("webhook.headers-file: expected a header on each line, as Name: value");
    }
    look_for_type(line);
  }
  settings.secret_headers = text.secret_headers;
  return content_type;
}

void parse_form(const WebhookText& text, WebhookSettings& settings) {
  for (const std::string& line : text.form) {
    const auto parts = split_line(line);
    if (!parts) throw webhook_error("webhook.form: expected fields, each as name: value");
    settings.form.emplace_back(parts->first,
                               MessageTemplate("webhook.form", parts->second, Escaping::kNone));
  }
  if (text.picture.empty()) return;
  settings.picture = text.picture == "body" ? WebhookPicture::kBody : WebhookPicture::kField;
  if (settings.picture == WebhookPicture::kField) settings.picture_field = text.picture;
}

// What is sent in one place cannot be sent in another.
void check_together(const WebhookText& text, const WebhookSettings& settings) {
  const bool has_form = !text.form.empty() || settings.picture == WebhookPicture::kField;
  if (text.method == "GET" && (has_form || !text.picture.empty() || !text.body.empty())) {
    throw webhook_error(
        "webhook.method GET sends the URL and headers alone, without body, form and picture");
  }
  if (settings.picture == WebhookPicture::kBody && (has_form || !text.body.empty())) {
    throw webhook_error(
        "webhook.picture = \"body\" leaves no place for webhook.body and webhook.form: set "
        "headers, "
        "or send the picture in a field of a form");
  }
  if (has_form && !text.body.empty()) {
    throw webhook_error("webhook.body and a form do not go together: set fields by webhook.form");
  }
}

void parse_body(const WebhookText& text, const std::string& content_type,
                WebhookSettings& settings) {
  const bool has_form = !text.form.empty() || settings.picture == WebhookPicture::kField;
  if (has_form || text.method == "GET") return;
  std::string type = "image/jpeg";
  if (settings.picture != WebhookPicture::kBody) {
    const std::string body = text.body.empty() ? "{camera}: {state}" : text.body;
    const bool is_json =
        looks_like_json(body) || content_type.compare(0, kJsonType.size(), kJsonType) == 0;
    type = is_json ? std::string(kJsonType) : "text/plain; charset=utf-8";
    settings.body =
        MessageTemplate("webhook.body", body, is_json ? Escaping::kJson : Escaping::kNone);
    if (text.body.empty()) {
      settings.body_of_watch = MessageTemplate("webhook.body", "{camera}, {watch}: {state}",
                                               is_json ? Escaping::kJson : Escaping::kNone);
    }
  }
  if (!content_type.empty()) return;
  settings.headers.emplace_back("", "Content-Type: " + type, Escaping::kHeader);
}

}  // namespace

WebhookSettings parse_webhook(const WebhookText& text) {
  WebhookSettings settings;
  settings.method = text.method;
  settings.states = text.states;
  parse_url(text, settings);
  const std::string content_type = parse_headers(text, settings);
  parse_form(text, settings);
  check_together(text, settings);
  parse_body(text, content_type, settings);
  return settings;
}

WebhookRequest make_request(const WebhookSettings& settings, const MessageFields& fields,
                            std::string jpeg) {
  WebhookRequest request;
  request.url = settings.url.fill(fields);
  request.method = settings.method;
  for (const MessageTemplate& header : settings.headers) {
    request.headers.push_back(header.fill(fields));
  }
  request.headers.insert(request.headers.end(), settings.secret_headers.begin(),
                         settings.secret_headers.end());
  for (const auto& [name, value] : settings.form) {
    request.form.emplace_back(name, value.fill(fields));
  }
  request.picture_field = settings.picture_field;
  if (settings.picture == WebhookPicture::kField) {
    request.picture = std::move(jpeg);
  } else if (settings.picture == WebhookPicture::kBody) {
    request.body = std::move(jpeg);
  } else {
    const bool names_watch = settings.body_of_watch && !fields.watch.empty();
    request.body = (names_watch ? *settings.body_of_watch : settings.body).fill(fields);
  }
  return request;
}

}  // namespace lookout
