#include "platform/predict/multipart.h"

#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "pipeline/core/lower_case.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxBoundary = 70;  // RFC 2046, 5.1.1
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kBlanks = " \t";

// Takes what stands before `end` off the text, and `end`. Empty: there is no `end`.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return before;
}

// The character at `at` of a quoted string, of which `size` bytes are taken. Browsers
// write a quote and line ends as %22, %0D and %0A, and leave all else alone; Go and others write
// a backslash before a quote and a backslash.
std::string_view unescaped(std::string_view text, std::size_t at, std::size_t& size) {
  struct Escape {
    std::string_view written;
    std::string_view meant;
  };
  constexpr std::array<Escape, 5> kEscapes{
      {{"\\\"", "\""}, {"\\\\", "\\"}, {"%22", "\""}, {"%0A", "\n"}, {"%0D", "\r"}}};
  for (const Escape& escape : kEscapes) {
    if (text.substr(at, escape.written.size()) != escape.written) continue;
    size = escape.written.size();
    return escape.meant;
  }
  size = 1;
  return text.substr(at, 1);
}

// Takes a value off the text: a token up to `;`, or a quoted string, whose escapes it decodes.
std::string take_value(std::string_view& text) {
  text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  std::string value;
  if (text.empty() || text.front() != '"') {
    value = trimmed(text.substr(0, text.find(';')), kBlanks);
  } else {
    std::size_t at = 1;
    for (std::size_t size = 0; at < text.size() && text[at] != '"'; at += size) {
      value += unescaped(text, at, size);
    }
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  text.remove_prefix(std::min(text.find(';'), text.size()));
  return value;
}

// `form-data; name="file"; filename="a.jpg"`: "" -> form-data, name -> file, ... Names are in lower
// case; of several with one name the first counts.
std::map<std::string, std::string> parse_parameters(std::string_view text) {
  std::map<std::string, std::string> parameters;
  parameters.emplace("", lower_case(std::string(trimmed(text.substr(0, text.find(';')), kBlanks))));
  text.remove_prefix(std::min(text.find(';'), text.size()));
  while (!text.empty()) {
    text.remove_prefix(1);  // the semicolon
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) break;
    std::string name = lower_case(std::string(trimmed(text.substr(0, equals), kBlanks)));
    text.remove_prefix(equals + 1);
    parameters.emplace(std::move(name), take_value(text));
  }
  return parameters;
}

// `utf-8''caf%C3%A9.jpg` (RFC 5987).
std::string decode_extended(const std::string& value) {
  const auto language = value.find('\'');
  const auto end = language == std::string::npos ? language : value.find('\'', language + 1);
  std::string decoded;
  for (std::size_t i = end == std::string::npos ? 0 : end + 1; i < value.size(); ++i) {
    unsigned char byte = 0;
    const char* const hex = value.data() + i + 1;
    const bool escape = value[i] == '%' && i + 2 < value.size() &&
                        std::from_chars(hex, hex + 2, byte, 16).ptr == hex + 2;
    decoded += escape ? static_cast<char>(byte) : value[i];
    if (escape) i += 2;
  }
  return decoded;
}

// Takes the headers of a part off the text. Returns false when they are malformed.
bool take_headers(std::string_view& text, FormPart& part) {
  std::size_t bytes = 0;
  for (std::size_t lines = 0; lines <= FormPart::kMaxHeaderLines; ++lines) {
    const auto line = take_until(text, kLineEnd);
    if (!line) return false;
    if (line->empty()) return true;
    bytes += line->size();
    const auto colon = line->find(':');
    if (bytes > FormPart::kMaxHeader || colon == std::string_view::npos) return false;
    if (lower_case(std::string(line->substr(0, colon))) != "content-disposition") continue;
    auto parameters = parse_parameters(line->substr(colon + 1));
    if (parameters[""] != "form-data") return false;
    part.name = parameters["name"];
    if (const auto plain = parameters.find("filename"); plain != parameters.end()) {
      part.filename = plain->second;
    } else if (const auto extended = parameters.find("filename*"); extended != parameters.end()) {
      part.filename = decode_extended(extended->second);
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> boundary_of(std::string_view content_type) {
  const auto parameters = parse_parameters(content_type);
  const auto boundary = parameters.find("boundary");
  if (parameters.at("") != "multipart/form-data" || boundary == parameters.end()) {
    return std::nullopt;
  }
  const std::string& text = boundary->second;
  const bool is_plain = text.find_first_of("\r\n") == std::string::npos;
  if (text.empty() || text.size() > kMaxBoundary || !is_plain) return std::nullopt;
  return text;
}

std::optional<std::vector<FormPart>> parse_multipart(std::string_view body,
                                                     std::string_view boundary) {
  const std::string first = "--" + std::string(boundary);
  const std::string next = std::string(kLineEnd) + first;
  // What stands before the first boundary is no part of it.
  if (body.substr(0, first.size()) == first) {
    body.remove_prefix(first.size());
  } else if (!take_until(body, next)) {
    return std::nullopt;
  }
  std::vector<FormPart> parts;
  while (body.substr(0, 2) != "--") {
    const auto padding = take_until(body, kLineEnd);
    if (!padding || !trimmed(*padding, kBlanks).empty() || parts.size() == FormPart::kMax) {
      return std::nullopt;
    }
    FormPart& part = parts.emplace_back();
    if (!take_headers(body, part)) return std::nullopt;
    const auto content = take_until(body, next);
    if (!content) return std::nullopt;
    part.content = *content;
  }
  return parts;
}

}  // namespace lookout
