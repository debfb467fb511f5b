// A request and its answer, without the library that carries them.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lookout {

struct HttpRequest {
  std::string method;
  std::string path;                          // as it was sent: escapes (%20) are not decoded
  std::map<std::string, std::string> query;  // not decoded either
  std::string host;
  std::string origin;
  std::string referer;
  std::string fetch_site;  // Sec-Fetch-Site, -Mode and -Dest, which browsers alone send
  std::string fetch_mode;
  std::string fetch_dest;
  std::string authorization;
  std::string cookie;     // of one header Cookie; of several nothing
  std::string x_lookout;  // X-Lookout
  std::string last_event_id;
  std::string content_type;
  std::string address;  // of the client, as HttpLimits count: 192.0.2.7, 2001:db8::/64; empty: a
                        // Unix socket
  std::shared_ptr<const std::string> body;  // of POST, PUT, PATCH and DELETE; null: none
  std::shared_ptr<const std::atomic<bool>>
      gone;  // the client has gone; null: it has not. Any thread
};

// A piece of an endless body: `head`, `body` and `tail` one after the other.
struct HttpPart {
  std::string head;
  std::shared_ptr<const std::string> body;  // shared by all clients; may be null
  std::string tail;
};

// An endless body, which ends with its destruction or when it is over. Used by the server's thread
// alone.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Calls `ready` whenever there may be a part, until the stream is destroyed.
  virtual void on_ready(std::function<void()> ready) = 0;
  // Returns false when there is no part now. Called when the part before was sent.
  virtual bool next(HttpPart& part) = 0;
  // Whether the client may get no more: the connection ends then. Asked before each part.
  virtual bool is_over() { return false; }
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::shared_ptr<const std::string> body;
  const char* cache = "no-store";                            // Cache-Control
  std::vector<std::pair<std::string, std::string>> headers;  // besides those that all answers have
  std::unique_ptr<HttpStream> stream;                        // instead of `body`
  std::string error;        // the code of an error, "not_found"; empty: it is none
  bool embeddable = false;  // pages of other sites may show it
};

// Answers a request, once: now or later, on the server's thread. May be called when the client has
// gone, and after the server.
using HttpRespond = std::function<void(HttpResponse)>;

// What a server serves. Used by the server's thread alone.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // What a request is about, one of a few names: "/state". Never the path as it was sent.
  virtual const char* route(const HttpRequest& request) const = 0;
  // The answer to a request that is not allowed, by its header alone: its body is not read then.
  virtual std::optional<HttpResponse> refusal(const HttpRequest& request) = 0;
  // How many bytes the request's body may have; nothing: as many as HttpLimits say.
  virtual std::optional<std::size_t> body_limit(const HttpRequest& /*request*/) const {
    return std::nullopt;
  }
  // Called for requests that were not refused.
  virtual void handle(const HttpRequest& request, const HttpRespond& respond) = 0;
  // Called ten times a second while is_busy().
  virtual void poll() = 0;
  // Whether there are streams, or answers to come.
  virtual bool is_busy() const = 0;
};

// The route of what is no request, and of what is not served.
inline constexpr const char* kOtherRoute = "(other)";

// The query of a path, without its question mark: `fps=2&a` -> fps: 2, a: empty. Of several with
// one name the first counts.
std::map<std::string, std::string> parse_query(std::string_view text);

// The value of that name in what parse_query() returned, decoded as forms encode it: a + is a
// blank, %2B is a +. Nothing: there is none.
std::optional<std::string> query_value(const std::map<std::string, std::string>& query,
                                       const std::string& name);

// So many bytes for people: "8".
std::string megabytes(std::size_t bytes);

// `{"error":{"code":"not_found","message":"..."}}`
// `retry_after` is told with 429 and 503.
HttpResponse http_error(int status, const std::string& code, const std::string& message,
                        std::chrono::seconds retry_after = std::chrono::seconds(2));
// With `"about":"..."`, the name or number in the message that a translation needs; empty: none.
HttpResponse http_error(int status, const std::string& code, const std::string& message,
                        const std::string& about,
                        std::chrono::seconds retry_after = std::chrono::seconds(2));

// An answer with a body that nobody shares.
HttpResponse http_text(std::string type, std::string body);

}  // namespace lookout
