// The headers of requests and answers. Includes Boost: for the server's own files alone.
#pragma once

#include <cstdint>  // Boost 1.83 lacks it

#include <boost/beast/http/message.hpp>
#include <optional>
#include <string>

#include "platform/http/http_message.h"

namespace lookout {

// Without the body. `http://localhost/state` is a path and its host (RFC 9112, 3.2.2).
HttpRequest to_request(const boost::beast::http::request_header<>& header);

// What is wrong with a header that was parsed; empty when nothing is.
std::optional<HttpResponse> mistake_of(const boost::beast::http::request_header<>& header);

// Whether there is a Transfer-Encoding.
bool is_coded(const boost::beast::http::request_header<>& header);

// Whether the client waits for `100 Continue`; one of HTTP/1.0 does not (RFC 9110, 10.1.1).
bool wants_continue(const boost::beast::http::request_header<>& header);

// The header of an answer, with the empty line at its end.
std::string header_text(const HttpResponse& response, bool keep_alive);

}  // namespace lookout
