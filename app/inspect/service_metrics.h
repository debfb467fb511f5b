// The figures of a service that runs on this machine.
#pragma once

#include <string>

namespace lookout {

// What the server at the address answers to GET /metrics: the body of 200, else a sentence.
// `address`: as parse_http_address(), one of this machine. `bearer`: a token or metrics_key();
// empty: none. Takes five seconds at most. Throws Error when there is no answer.
std::string metrics_at(const std::string& address, const std::string& bearer);

}  // namespace lookout
