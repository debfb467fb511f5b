// Who may ask the HTTP server: pure functions of a request's headers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/http/http_message.h"

namespace lookout {

struct HttpAccess {
  // Names by which the server may be called, besides localhost and IP addresses, and whose pages
  // may show what it says. Lower case.
  std::vector<std::string> hosts;
  std::string token;  // empty: none is asked for
  // As browsers call the server through a reverse proxy: see origin_of_url(). Empty: `http://` and
  // Host.
  std::string origin;
};

// The host and port of a URL: `camera.example:8123` of `https://camera.example:8123/path`, which
// the result is a part of. Empty: it is no URL of HTTP.
std::string_view authority_of_url(std::string_view url);

// The host alone, in lower case: `camera.example`. Empty: it is no URL of HTTP.
std::string name_of_url(std::string_view url);

// What a browser sends as the Origin of pages of that URL: `https://camera.example` of
// `https://Camera.Example:443/path`. Empty: it is no URL of HTTP, or has a user.
std::string origin_of_url(std::string_view url);

// A browser sends the name in its address bar as Host. A name that somebody else may point at this
// machine (DNS rebinding) is refused: then a foreign web page would read what this server says.
// `host`: with or without a port.
bool is_host_allowed(const HttpAccess& access, std::string_view host);

// `origin`: the header Origin, empty when there is none. Allowed are none, HttpAccess::origin,
// those of `host` with its port, and those of the names in HttpAccess on the ports of HTTP and
// HTTPS.
bool is_origin_allowed(const HttpAccess& access, std::string_view origin, std::string_view host);

// Whether the page that asks, of which the header Referer tells, may show the answer: one of the
// same host, whatever its port, or of a name in HttpAccess.
bool may_show(const HttpAccess& access, const HttpRequest& request);

// Browsers tell whether a page of another site asks: then only a link to this server is allowed,
// pages whose Origin is, and those that may show the answer. Other clients tell nothing, nor do
// browsers where they call this server neither by HTTPS nor on their own machine.
bool is_site_allowed(const HttpAccess& access, const HttpRequest& request);

// The answer to a request that may not change anything, whoever sends it; nothing: it may. It has
// to come from a page of this very server, scheme and port included (Origin, Sec-Fetch-Site), and
// to be what no form of a foreign page sends: it has the header `X-Lookout: 1`, and is JSON.
std::optional<HttpResponse> write_refusal(const HttpAccess& access, const HttpRequest& request);

// `authorization`: the header. Accepted are `Bearer TOKEN`, and `Basic` with any user and the token
// as the password. Compares in a time that depends on the lengths alone.
bool is_token_right(const HttpAccess& access, std::string_view authorization);

// The text of Base64; empty when it is not Base64.
std::string from_base64(std::string_view text);

}  // namespace lookout
