// Between lookout and liblookout-webhook.so, the module that speaks HTTP with libcurl: one request
// at a time. The program starts without libcurl.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/module.h"

namespace lookout {

inline const char* const kWebhookModule = "liblookout-webhook.so";
inline const char* const kWebhookEntry = "lookout_webhook";

// Changes with every change of this file.
inline constexpr int kWebhookInterface = 1;

// Of all requests. The server's certificate and name are always verified.
struct WebhookConnection {
  std::string ca;                             // a file; empty: the system's
  std::chrono::milliseconds timeout{30'000};  // of a whole request
};

struct WebhookRequest {
  std::string url;  // http or https
  std::string method;
  std::vector<std::string> headers;  // "Name: value"; one without a value is not sent
  std::string body;                  // when there is no form
  // Name and value. With any, or with a field for the picture, the request is multipart/form-data.
  std::vector<std::pair<std::string, std::string>> form;
  std::string picture_field;  // of the form; empty: none
  std::string picture;        // JPEG, for this field
};

// How a request has ended.
struct WebhookOutcome {
  int status = 0;       // of HTTP; 0: there was no answer
  std::string problem;  // when there was none: the library's words, without the URL's path
  std::optional<std::chrono::seconds> retry_after;  // as the server says
};

// Used by one thread, but for wake(). The destructor gives a request up at once.
class WebhookTransport {
 public:
  virtual ~WebhookTransport() = default;

  // Not while there is another request.
  virtual void begin(WebhookRequest request) = 0;
  // Goes on with the request; nothing while it lasts, and when there is none. Never waits.
  virtual std::optional<WebhookOutcome> advance() = 0;
  // Returns when advance() has something to do, after `timeout`, or after a wake() since the last
  // return.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  virtual void wake() = 0;  // any thread
};

// Returned by the module's entry, `extern "C" const WebhookModule* lookout_webhook()`.
struct WebhookModule {
  ModuleVersion version;  // kWebhookInterface
  // Throws std::runtime_error when there is no memory.
  std::unique_ptr<WebhookTransport> (*open)(const WebhookConnection& connection);
};

}  // namespace lookout
