// The headers of requests and answers. Includes Boost: for the server's own files alone.
#pragma once

#include <cstdint>  // Boost 1.83 lacks it

#include <boost/beast/http/message.hpp>
#include <optional>
#include <string>

#include "platform/http/http_message.h"

namespace lookout {

// Without the body.
HttpRequest to_request(const boost::beast::http::request_header<>& header);

// What is wrong with a header that was parsed; empty when nothing is.
std::optional<HttpResponse> mistake_of(const boost::beast::http::request_header<>& header);

// The header of an answer, with the empty line at its end.
std::string header_text(const HttpResponse& response, bool keep_alive);

}  // namespace lookout
