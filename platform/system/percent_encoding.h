// Percent-encoding, as URLs have it (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace lookout {

// Of a value in a query, or a name before a host: all but letters, digits and "-._~".
// `color bars` -> `color%20bars`
std::string percent_encoded(std::string_view text);
// `color%20bars+x` -> `color bars+x`. A `%` before anything else stays.
std::string percent_decoded(std::string_view text);

}  // namespace lookout
