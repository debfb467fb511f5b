#include "platform/http/http_connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/lower_case.h"
#include "platform/http/http_access.h"

namespace lookout {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kMaxHeader = 8 * 1024;
constexpr std::size_t kMaxBuffer = 2 * kMaxHeader;  // a header and a piece of what follows
constexpr std::size_t kFirstRead = 1024;            // of most requests all
constexpr int kMaxEmptyLines = 4;                   // before a request, that are ignored
constexpr std::chrono::seconds kLinger{1};
constexpr std::size_t kMaxTarget = 4 * 1024;
constexpr unsigned int kHttp11 = 11;
// The headers of every answer. The page's files come from this server alone.
constexpr const char* kCommonHeaders =
    "Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n";
constexpr int kNoContent = 204;

template <typename Text>
std::string to_string(const Text& text) {
  return {text.data(), text.size()};
}

// Whether each such header has this value, if there are any.
bool has_value(const http::request_header<>& header, http::field field, const char* value) {
  const auto [begin, end] = header.equal_range(field);
  return std::all_of(begin, end, [value](const auto& line) {
    return lower_case(to_string(line.value())) == value;
  });
}

// The target without scheme and authority.
std::string path_and_query_of(const std::string& target, std::string_view authority) {
  if (authority.empty()) return target;
  const std::string rest = target.substr(target.find("://") + 3 + authority.size());
  return rest.empty() || rest.front() == '?' ? "/" + rest : rest;
}

std::optional<HttpResponse> mistake_of_target(const http::request_header<>& header) {
  const std::string target = to_string(header.target());
  if (target.size() > kMaxTarget) return http_error(414, "long_target", "the path is too long");
  // RFC 9112, 3.2: an absolute target has no fragment.
  const std::string path = path_and_query_of(target, authority_of_url(target));
  if (path.rfind('/', 0) == 0) return std::nullopt;
  return http_error(400, "bad_target", "the path has to begin with /");
}

// A second one could be what somebody else's check did not see.
std::optional<HttpResponse> mistake_of_access(const http::request_header<>& header) {
  if (header.count(http::field::host) > 1) {
    return http_error(400, "bad_host", "there is more than one header Host");
  }
  for (const char* name : {"Origin", "Authorization", "Sec-Fetch-Site", "Sec-Fetch-Mode",
                           "Sec-Fetch-Dest", "X-Lookout"}) {
    if (header.count(name) <= 1) continue;
    return http_error(400, "repeated_header",
                      fmt::format("there is more than one header {}", name));
  }
  return std::nullopt;
}

// Whether there is a Transfer-Encoding.
bool is_coded(const http::request_header<>& header) {
  return header.count(http::field::transfer_encoding) > 0;
}

std::optional<HttpResponse> mistake_of_body(const http::request_header<>& header) {
  if (is_coded(header)) {
    if (header.version() < kHttp11) {
      return http_error(400, "bad_coding", "HTTP/1.0 has no Transfer-Encoding");
    }
    const bool is_chunked = header.count(http::field::transfer_encoding) == 1 &&
                            has_value(header, http::field::transfer_encoding, "chunked");
    if (!is_chunked) {
      return http_error(501, "unknown_coding",
                        "the only Transfer-Encoding that is read is chunked");
    }
  }
  if (header.version() < kHttp11 || has_value(header, http::field::expect, "100-continue")) {
    return std::nullopt;
  }
  return http_error(417, "unknown_expectation", "the only Expect that is met is 100-continue");
}

// Without the body. `http://localhost/state` is a path and its host (RFC 9112, 3.2.2).
HttpRequest to_request(const http::request_header<>& header) {
  HttpRequest request;
  request.method = to_string(header.method_string());
  const std::string url = to_string(header.target());
  const std::string_view authority = authority_of_url(url);
  const std::string target = path_and_query_of(url, authority);
  const auto question = std::min(target.find('?'), target.size());
  const std::string_view path_and_query = target;
  request.path = target.substr(0, question);
  request.query = parse_query(path_and_query.substr(std::min(question + 1, target.size())));
  request.host = to_string(header[http::field::host]);
  // HTTP/1.1 requires a Host besides, whose content does not count then.
  if (!authority.empty() && (!request.host.empty() || header.version() < kHttp11)) {
    request.host = authority;
  }
  request.origin = to_string(header[http::field::origin]);
  request.referer = to_string(header[http::field::referer]);
  request.fetch_site = to_string(header["Sec-Fetch-Site"]);
  request.fetch_mode = to_string(header["Sec-Fetch-Mode"]);
  request.fetch_dest = to_string(header["Sec-Fetch-Dest"]);
  request.authorization = to_string(header[http::field::authorization]);
  request.content_type = to_string(header[http::field::content_type]);
  if (header.count(http::field::cookie) == 1) {
    request.cookie = to_string(header[http::field::cookie]);
  }
  request.x_lookout = to_string(header["X-Lookout"]);
  request.last_event_id = to_string(header["Last-Event-ID"]);
  return request;
}

// What is wrong with a header that was parsed; empty when nothing is.
std::optional<HttpResponse> mistake_of(const http::request_header<>& header) {
  if (auto mistake = mistake_of_target(header)) return mistake;
  if (auto mistake = mistake_of_access(header)) return mistake;
  return mistake_of_body(header);
}

// The header of an answer, with the empty line at its end.
std::string header_text(const HttpResponse& response, bool keep_alive) {
  const auto reason =
      http::obsolete_reason(http::int_to_status(static_cast<unsigned int>(response.status)));
  std::string header = fmt::format("HTTP/1.1 {} {}\r\n", response.status,
                                   std::string_view(reason.data(), reason.size()));
  if (response.status != kNoContent) header += fmt::format("Content-Type: {}\r\n", response.type);
  header += kCommonHeaders;
  header += fmt::format("Cache-Control: {}\r\nCross-Origin-Resource-Policy: {}\r\n", response.cache,
                        response.embeddable ? "cross-origin" : "same-site");
  if (response.stream) {
    header += "X-Accel-Buffering: no\r\n";
  } else if (response.status != kNoContent) {  // RFC 9110, 8.6
    header += fmt::format("Content-Length: {}\r\n", response.body ? response.body->size() : 0);
  }
  for (const auto& [name, value] : response.headers) {
    header += fmt::format("{}: {}\r\n", name, value);
  }
  header += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return header;
}

// What came is not HTTP; else the connection ended or failed.
bool is_malformed(const boost::system::error_code& error) {
  return error.category() == make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

HttpResponse large_body(std::size_t max, const HttpLimits& limits) {
  if (max != limits.upload) {
    return http_error(413, "too_large", fmt::format("such a request has at most {} bytes", max));
  }
  return http_error(413, "too_large",
                    fmt::format("a request has at most {} MB: send a smaller picture, or raise "
                                "http.max-upload of the server",
                                megabytes(max)));
}

bool has_body(const HttpRequest& request) {
  const std::string& method = request.method;
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

// A body whose share of the budget ends with it.
std::shared_ptr<const std::string> to_body(std::string text, std::unique_ptr<UploadShare> share) {
  using Body = std::pair<std::string, std::unique_ptr<UploadShare>>;
  const auto body = std::make_shared<Body>(std::move(text), std::move(share));
  return {body, &body->first};
}

}  // namespace

HttpConnection::HttpConnection(Socket socket, std::string address, const Owner& owner)
    : socket_(std::move(socket)),
      address_(std::move(address)),
      owner_(owner),
      timer_(socket_.get_executor()),
      buffer_(kMaxBuffer) {}

void HttpConnection::refuse() {
  phase_ = Phase::kHandling;
  answer(http_error(503, kTooManyClients, "as many clients as allowed are connected"));
}

void HttpConnection::close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  *gone_ = true;
  clear_deadline();
  stream_.reset();
  Error ignored;
  socket_.close(ignored);
  owner_.closed(this);
}

void HttpConnection::stop() {
  keep_alive_ = false;
  if (phase_ != Phase::kAnswer) close();
}

void HttpConnection::set_deadline(std::chrono::milliseconds time) {
  timed_out_ = false;
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this(), generation = ++generation_](const Error&) {
    if (generation == self->generation_) self->on_deadline();
  });
}

void HttpConnection::clear_deadline() {
  ++generation_;
  timer_.cancel();
}

void HttpConnection::on_deadline() {
  if (phase_ != Phase::kHeader && phase_ != Phase::kBody) return close();
  timed_out_ = true;
  Error ignored;
  socket_.cancel(ignored);  // on_header() or on_body() follows
}

void HttpConnection::wait_for_request() {
  skip_empty_lines();
  if (buffer_.size() > 0) return read_header();
  phase_ = Phase::kIdle;
  set_deadline(owner_.limits.keep_alive);
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const Error& error) {
    if (self->phase_ != Phase::kIdle) return;
    if (error) {
      self->close();
    } else {
      self->read_header();
    }
  });
}

void HttpConnection::read_header() {
  phase_ = Phase::kHeader;
  set_deadline(owner_.limits.header);
  parser_.emplace();
  parser_->header_limit(kMaxHeader);
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
  empty_lines_ = 0;
  read_first_line();
}

// Beast takes no empty line before a request, which RFC 9112, 2.2 lets a client send.
void HttpConnection::read_first_line() {
  skip_empty_lines();
  const std::string_view text = buffered();
  if (!text.empty() && text != "\r") {
    http::async_read_header(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](const Error& error, std::size_t) { self->on_header(error); });
    return;
  }
  socket_.async_read_some(buffer_.prepare(kFirstRead),
                          [self = shared_from_this()](const Error& error, std::size_t bytes) {
                            if (self->phase_ != Phase::kHeader) return;
                            self->buffer_.commit(bytes);
                            if (error) {
                              self->on_header(error);
                            } else {
                              self->read_first_line();
                            }
                          });
}

void HttpConnection::skip_empty_lines() {
  while (buffered().substr(0, 2) == "\r\n" && empty_lines_ < kMaxEmptyLines) {
    buffer_.consume(2);
    ++empty_lines_;
  }
}

std::string_view HttpConnection::buffered() const {
  const auto data = buffer_.cdata();
  return {static_cast<const char*>(data.data()), data.size()};
}

void HttpConnection::on_header(const Error& error) {
  if (phase_ != Phase::kHeader) return;
  clear_deadline();
  phase_ = Phase::kHandling;
  asked_ = Clock::now();
  route_ = kOtherRoute;
  if (error) return on_bad_header(error);
  const http::request_header<>& header = parser_->get();
  head_only_ = header.method() == http::verb::head;
  // What follows a body that is not read cannot be understood.
  keep_alive_ = parser_->is_done() && parser_->keep_alive() && !is_coded(header);
  if (auto mistake = mistake_of(header)) return answer(std::move(*mistake));
  request_ = to_request(header);
  request_.address = address_;
  request_.gone = gone_;
  route_ = owner_.handler.route(request_);
  if (!parser_->is_done() && has_body(request_)) {
    begin_body();
  } else {
    handle();
  }
}

void HttpConnection::on_bad_header(const Error& error) {
  head_only_ = false;
  keep_alive_ = false;
  if (timed_out_ && parser_->got_some()) {
    answer(http_error(408, "too_slow", "the request did not come in time"));
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    answer(http_error(431, "large_header", "the header is too large"));
  } else if (is_malformed(error)) {
    answer(http_error(400, "bad_request", "this is not an HTTP request"));
  } else {
    close();
  }
}

void HttpConnection::begin_body() {
  const HttpLimits& limits = owner_.limits;
  if (auto refused = owner_.handler.refusal(request_)) return answer(std::move(*refused));
  const auto length = parser_->content_length();
  max_body_ = owner_.handler.body_limit(request_).value_or(limits.upload);
  if (length && *length > max_body_) return answer(large_body(max_body_, limits));
  upload_ = std::make_unique<UploadShare>(owner_.uploads, address_);
  parser_->eager(true);
  parser_->body_limit(max_body_);
  buffer_.reserve(kMaxBuffer);  // else Beast reads 512 bytes at a time
  phase_ = Phase::kBody;
  set_deadline(limits.body);
  const http::request_header<>& header = parser_->get();
  // A client of HTTP/1.0 does not wait for `100 Continue` (RFC 9110, 10.1.1).
  if (header.version() < kHttp11 || header.count(http::field::expect) == 0) {
    read_body();
    return;
  }
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kContinue.data(), kContinue.size()),
                    [self = shared_from_this()](const Error&, std::size_t) {
                      if (self->phase_ == Phase::kBody) self->read_body();
                    });
}

void HttpConnection::read_body() {
  http::async_read_some(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](const Error& error, std::size_t) { self->on_body(error); });
}

void HttpConnection::on_body(const Error& error) {
  if (phase_ != Phase::kBody) return;
  const bool has_room = upload_->grow_to(parser_->get().body().size());
  if (!error && has_room && !parser_->is_done()) return read_body();
  clear_deadline();
  phase_ = Phase::kHandling;
  asked_ = Clock::now();
  auto upload = std::move(upload_);
  if (!has_room) {
    answer(http_error(503, "busy", "too many uploads at the same time", std::chrono::seconds(1)));
  } else if (!error) {
    keep_alive_ = parser_->keep_alive();
    request_.body = to_body(std::move(parser_->get().body()), std::move(upload));
    handle();
  } else if (timed_out_) {
    answer(http_error(408, "too_slow", "the request did not come in time"));
  } else if (error == http::error::body_limit) {
    answer(large_body(max_body_, owner_.limits));
  } else if (is_malformed(error)) {
    answer(http_error(400, "bad_request", "the body is malformed"));
  } else {
    close();
  }
}

void HttpConnection::handle() {
  const auto respond = [weak = weak_from_this()](HttpResponse response) {
    if (const auto self = weak.lock()) self->answer(std::move(response));
  };
  try {
    owner_.handler.handle(std::exchange(request_, {}), respond);
  } catch (const std::exception& error) {
    log_error("http: {}", error.what());
    answer(http_error(500, "internal", "this server made a mistake"));
  }
  if (phase_ == Phase::kHandling) watch();
  owner_.handled();
}

// Notices the end of a client that waits for its answer. It does not notice that of a client that
// sends on.
void HttpConnection::watch() {
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const Error&) {
    if (self->phase_ != Phase::kHandling) return;
    char byte = 0;
    const auto count = ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool is_at_end = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (!is_at_end) return;
    self->owner_.metrics.count_rejected("client_gone");
    self->close();
  });
}

void HttpConnection::answer(HttpResponse response) {
  if (phase_ != Phase::kHandling) return;
  phase_ = Phase::kAnswer;
  owner_.metrics.count(route_, response, Clock::now() - asked_);
  if (response.stream) keep_alive_ = false;
  header_ = header_text(response, keep_alive_);
  body_ = head_only_ ? nullptr : std::move(response.body);
  stream_ = head_only_ ? nullptr : std::move(response.stream);
  std::array<asio::const_buffer, 2> buffers{asio::buffer(header_)};
  if (body_) buffers[1] = asio::buffer(*body_);
  set_deadline(owner_.limits.answer);
  asio::async_write(socket_, buffers, [self = shared_from_this()](const Error& error, std::size_t) {
    self->on_answered(error);
  });
}

void HttpConnection::on_answered(const Error& error) {
  if (phase_ != Phase::kAnswer) return;
  clear_deadline();
  if (error) {
    close();
  } else if (stream_) {
    phase_ = Phase::kStream;
    stream_->on_ready([this] { send_part(); });
    discard();
    send_part();
  } else if (keep_alive_) {
    wait_for_request();
  } else {
    linger();
  }
}

void HttpConnection::send_part() {
  if (phase_ != Phase::kStream || writing_) return;
  if (stream_->is_over()) {  // it may be what calls this
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
    return;
  }
  if (!stream_->next(part_)) return;
  writing_ = true;
  std::array<asio::const_buffer, 3> buffers{asio::buffer(part_.head), asio::const_buffer(),
                                            asio::buffer(part_.tail)};
  if (part_.body) buffers[1] = asio::buffer(*part_.body);
  set_deadline(owner_.limits.part);
  asio::async_write(socket_, buffers, [self = shared_from_this()](const Error& error, std::size_t) {
    self->writing_ = false;
    if (self->phase_ != Phase::kStream) return;
    self->clear_deadline();
    if (error) {
      self->close();
    } else {
      self->send_part();
    }
  });
}

// Reads what a client sends that is not asked for more: so its end is noticed.
void HttpConnection::discard() {
  socket_.async_read_some(asio::buffer(discarded_),
                          [self = shared_from_this()](const Error& error, std::size_t) {
                            if (self->phase_ == Phase::kClosed) return;
                            if (error) {
                              self->close();
                            } else {
                              self->discard();
                            }
                          });
}

// A socket that is closed before all was read takes back what was sent.
void HttpConnection::linger() {
  phase_ = Phase::kLinger;
  Error error;
  socket_.shutdown(Socket::shutdown_send, error);
  set_deadline(kLinger);
  discard();
}

}  // namespace lookout
