// Forms and their types, as a client may send them.
#include "platform/predict/multipart.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

// The first line is the Content-Type, the rest the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = text.find('\n');
  const auto boundary = lookout::boundary_of(text.substr(0, line));
  if (line == std::string_view::npos || !boundary) return 0;
  const std::string_view body = text.substr(line + 1);
  const auto parts = lookout::parse_multipart(body, *boundary);
  if (!parts) return 0;
  if (parts->size() > lookout::FormPart::kMax) std::abort();
  for (const lookout::FormPart& part : *parts) {
    const bool inside = part.content.data() >= body.data() &&
                        part.content.data() + part.content.size() <= body.data() + body.size();
    if (!inside || part.content.find("\r\n--" + *boundary) != std::string_view::npos) std::abort();
  }
  return 0;
}
