// Addresses of cameras on the network, and what of them may be shown.
#pragma once

#include <string>

namespace lookout {

// What logs, results and pages show of an address: no user name, no password, no query, and no path
// with a '=', where some cameras expect them. "rtsp://***@camera:554/stream".
std::string shown_url(const std::string& url);

// "camera" of rtsp://user:password@camera:554/stream, "[::1]" of http://[::1]/.
std::string host_of(const std::string& url);

// A line in which each address is shown so.
std::string hide_secrets(const std::string& line);

// The address with a user name and password, given as USER:PASSWORD, on the first line of
// `content`. Throws Error(kUsage) when that is none, or when the address has its own; no sentence
// shows them.
std::string with_credentials(const std::string& url, const std::string& content);

// The address without user name and password. When it has them, they are put into `credentials`, as
// USER:PASSWORD and not escaped; else `credentials` stay.
std::string without_credentials(const std::string& url, std::string& credentials);

}  // namespace lookout
