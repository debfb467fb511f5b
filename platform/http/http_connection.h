// A client of the HTTP server. Includes Boost: for the server's own files alone.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "platform/http/http_message.h"
#include "platform/http/http_metrics.h"
#include "platform/http/http_server.h"
#include "platform/http/upload_budget.h"

namespace lookout {

// Reads requests and writes answers, one at a time. The server's thread alone.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  static constexpr const char* kTooManyClients = "too_many_clients";

  struct Owner {
    HttpHandler& handler;
    const HttpLimits& limits;
    HttpMetrics& metrics;
    std::function<void()> handled;                // after each request
    std::function<void(HttpConnection*)> closed;  // once
    // Shared, since a body may outlive the server.
    std::shared_ptr<UploadBudget> uploads =
        std::make_shared<UploadBudget>(limits.uploads, limits.uploads / 4);
  };

  // `address`: HttpRequest's. `owner` outlives this.
  HttpConnection(Socket socket, std::string address, const Owner& owner);

  void start() { read_header(); }
  // Answers 503 instead.
  void refuse();
  void close();
  // Closes unless an answer is being written, which then is the last one.
  void stop();
  // Whether no complete request came since the last answer.
  bool is_waiting() const {
    return phase_ == Phase::kHeader || phase_ == Phase::kBody || phase_ == Phase::kIdle;
  }

 private:
  using Error = boost::system::error_code;
  enum class Phase { kIdle, kHeader, kBody, kHandling, kAnswer, kStream, kLinger, kClosed };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void set_deadline(std::chrono::milliseconds time);
  void clear_deadline();
  void on_deadline();
  void wait_for_request();
  void read_header();
  void read_first_line();
  void skip_empty_lines();
  std::string_view buffered() const;
  void on_header(const Error& error);
  void on_bad_header(const Error& error);
  void begin_body();
  void read_body();
  void on_body(const Error& error);
  void handle();
  void watch();
  void answer(HttpResponse response);
  void on_answered(const Error& error);
  void send_part();
  void discard();
  void linger();

  Socket socket_;
  const std::string address_;
  const Owner& owner_;
  boost::asio::steady_timer timer_;
  unsigned int generation_ = 0;  // of the deadline; one of an older one came too late
  bool timed_out_ = false;
  Phase phase_ = Phase::kHeader;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  HttpRequest request_;
  std::string route_ = kOtherRoute;
  Clock::time_point asked_ = Clock::now();  // when the request was complete
  std::unique_ptr<UploadShare> upload_;     // of the body that comes
  std::size_t max_body_ = 0;                // of the request
  int empty_lines_ = 0;                     // before the request
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool writing_ = false;
  std::string header_;
  std::shared_ptr<const std::string> body_;
  std::unique_ptr<HttpStream> stream_;
  HttpPart part_;
  std::array<char, 1024> discarded_{};
};

}  // namespace lookout
