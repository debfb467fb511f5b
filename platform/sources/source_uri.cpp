#include "platform/sources/source_uri.h"

#include <fmt/format.h>
#include <uriparser/Uri.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "platform/sources/network_url.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

Error usage(const std::string& sentence) { return {ErrorKind::kUsage, sentence}; }

struct Uri {
  std::string text;    // as given
  std::string scheme;  // in lower case
  std::string host;
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;
};

// "%20" becomes a space.
std::string decode(const UriTextRangeA& range) {
  if (range.first == nullptr) return {};
  std::string text(range.first, range.afterLast);
  const char* end = uriUnescapeInPlaceA(text.data());
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

std::string decode_path(const UriUriA& uri) {
  std::string path;
  for (const auto* segment = uri.pathHead; segment != nullptr; segment = segment->next) {
    path += "/" + decode(segment->text);
  }
  return path;
}

std::vector<std::pair<std::string, std::string>> dissect_query(const UriTextRangeA& range) {
  std::vector<std::pair<std::string, std::string>> query;
  if (range.first == range.afterLast) return query;
  UriQueryListA* list = nullptr;
  if (uriDissectQueryMallocA(&list, nullptr, range.first, range.afterLast) != URI_SUCCESS) {
    throw Error(ErrorKind::kInternal, "out of memory");
  }
  const std::unique_ptr<UriQueryListA, decltype(&uriFreeQueryListA)> owner(list, uriFreeQueryListA);
  for (const auto* item = owner.get(); item != nullptr; item = item->next) {
    query.emplace_back(item->key, item->value == nullptr ? "" : item->value);
  }
  return query;
}

bool is_one_of(const std::vector<std::string>& schemes, const std::string& scheme) {
  return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
}

bool is_network_scheme(const std::string& scheme) {
  return is_one_of({"rtsp", "rtsps", "http", "https"}, scheme);
}

std::string scheme_of(const std::string& text) {
  return lower_case(text.substr(0, text.find("://")));
}

// Told before anything else is: its port or password would be.
void check_scheme(const std::string& text) {
  const std::string scheme = scheme_of(text);
  if (is_one_of({"test", "v4l2", "csi", "file"}, scheme)) return;
  if (is_one_of({"rtmp", "rtmps", "udp", "rtp", "tcp", "srt", "ftp", "mms", "ws", "wss"}, scheme)) {
    throw usage(fmt::format(
        "{}: of the network only rtsp://, rtsps://, http:// and https:// are read; pipe others: "
        "ffmpeg -i URL -c copy -f matroska - | lookout -",
        shown_url(text)));
  }
  throw usage(fmt::format(
      "{}: unknown scheme {}://; use test://, v4l2://, csi://, rtsp://, http://, file://, a path "
      "or -",
      shown_url(text), scheme));
}

using UriOwner = std::unique_ptr<UriUriA, decltype(&uriFreeUriMembersA)>;

// `advice` ends the sentence for what cannot be parsed.
UriOwner parse(const std::string& text, UriUriA& parsed, const std::string& advice) {
  const char* error = nullptr;
  const int status = uriParseSingleUriA(&parsed, text.c_str(), &error);
  if (status != URI_SUCCESS) {
    const auto place = error == nullptr ? 0 : error - text.c_str();
    throw usage(fmt::format("{} is not a valid URI, see its character {}{}", shown_url(text),
                            place + 1, advice));
  }
  return {&parsed, uriFreeUriMembersA};
}

NetworkUri parse_network(const std::string& text) {
  UriUriA parsed{};
  const auto owner =
      parse(text, parsed, "; in a user name or password, @ is written %40, / %2F, # %23, : %3A");
  if (parsed.hostText.first == parsed.hostText.afterLast) {
    throw usage(fmt::format("{}: the name or address of a host has to follow", shown_url(text)));
  }
  if (parsed.portText.first != nullptr && parsed.portText.first == parsed.portText.afterLast) {
    throw usage(fmt::format("{}: a port has to follow the ':'; in a password, / is written %2F",
                            shown_url(text)));
  }
  if (parsed.fragment.first != nullptr) {
    throw usage(
        fmt::format("{}: '#' has no meaning here; in a password it is %23", shown_url(text)));
  }
  return {text};
}

Uri parse_uri(const std::string& text) {
  check_scheme(text);
  UriUriA parsed{};
  const auto owner = parse(text, parsed, "");
  if (parsed.fragment.first != nullptr || parsed.userInfo.first != nullptr ||
      parsed.portText.first != nullptr) {
    throw usage(fmt::format("{}: '#', '@' and ports have no meaning here; '#' in a name is %23",
                            shown_url(text)));
  }
  return {text, lower_case(decode(parsed.scheme)), decode(parsed.hostText), decode_path(parsed),
          dissect_query(parsed.query)};
}

bool is_uri(const std::string& text) { return text.find("://") != std::string::npos; }

// The path of a URI that has nothing else.
std::string local_path(const Uri& uri) {
  if (!uri.host.empty() || uri.path.empty()) {
    throw usage(
        fmt::format("{}: an absolute path has to follow, as in {}:///path", uri.text, uri.scheme));
  }
  if (!uri.query.empty()) {
    throw usage(fmt::format("{}: there is no '{}' for {}://", uri.text, uri.query.front().first,
                            uri.scheme));
  }
  return uri.path;
}

template <typename Number>
Number number_in(const Uri& uri, const std::string& key, const std::string& value, Number min,
                 Number max) {
  const auto number = parse_number<Number>(value);
  // Written so that not-a-number is out of range, too.
  if (number && *number >= min && *number <= max) return *number;
  throw usage(fmt::format("{}: {} has to be a number from {} to {}, not '{}'", uri.text, key, min,
                          max, value));
}

void parse_size(const Uri& uri, const std::string& value, TestSourceOptions& options) {
  const auto x = value.find('x');
  if (x == std::string::npos) {
    throw usage(fmt::format("{}: size is written as in size=640x480, not '{}'", uri.text, value));
  }
  options.width = number_in(uri, "the width", value.substr(0, x), kMinTestSize, kMaxTestSize);
  options.height = number_in(uri, "the height", value.substr(x + 1), kMinTestSize, kMaxTestSize);
}

// 0, or kMinTestFps..kMaxTestFps.
bool is_test_fps(double fps) { return fps == 0 || (fps >= kMinTestFps && fps <= kMaxTestFps); }

double parse_fps(const Uri& uri, const std::string& value) {
  const auto fps = parse_number<double>(value);
  if (fps && is_test_fps(*fps)) return *fps;
  throw usage(
      fmt::format("{}: fps has to be 0 (as fast as possible) or a number from {} to {}, not '{}'",
                  uri.text, kMinTestFps, kMaxTestFps, value));
}

void apply(const Uri& uri, const std::string& key, const std::string& value,
           TestSourceOptions& options) {
  if (key == "size") {
    parse_size(uri, value, options);
  } else if (key == "fps") {
    options.fps = parse_fps(uri, value);
  } else if (key == "noise") {
    options.noise = number_in(uri, key, value, 0.0, kMaxTestNoise);
  } else if (key == "hold") {
    options.hold = number_in(uri, key, value, 1, 1'000'000);
  } else if (key == "frames") {
    options.frames = number_in<std::uint64_t>(uri, key, value, 0, 1'000'000'000);
  } else {
    throw usage(
        fmt::format("{}: there is no '{}', only size, fps, noise, hold and frames", uri.text, key));
  }
}

std::optional<Pattern> parse_pattern(const Uri& uri) {
  if (uri.host == "all") return std::nullopt;
  const auto pattern = find_pattern(uri.host);
  if (pattern) return pattern;
  if (uri.host.empty()) {
    throw usage(fmt::format("the test patterns are all, {}; as in test://all",
                            joined(kPatternNames, ", ")));
  }
  throw usage(fmt::format("{}: there is no test pattern '{}', only all, {}", uri.text, uri.host,
                          joined(kPatternNames, ", ")));
}

template <typename Number>
Number in_range(const char* option, Number value, Number min, Number max) {
  if (value >= min && value <= max) return value;
  throw usage(fmt::format("{} has to be from {} to {} for a test pattern", option, min, max));
}

void apply(const SourceOptions& asked, TestSourceOptions& options) {
  if (asked.width)
    options.width = in_range("camera.width", *asked.width, kMinTestSize, kMaxTestSize);
  if (asked.height)
    options.height = in_range("camera.height", *asked.height, kMinTestSize, kMaxTestSize);
  if (!asked.framerate) return;
  if (!is_test_fps(*asked.framerate)) {
    throw usage(fmt::format("camera.framerate has to be from {} to {} for a test pattern",
                            kMinTestFps, kMaxTestFps));
  }
  options.fps = *asked.framerate;
}

TestSourceOptions parse_test(const Uri& uri, const SourceOptions& asked) {
  if (!uri.path.empty() && uri.path != "/") {
    throw usage(fmt::format("{}: nothing but a pattern's name may follow test://", uri.text));
  }
  TestSourceOptions options;
  options.pattern = parse_pattern(uri);
  apply(asked, options);
  for (const auto& [key, value] : uri.query) apply(uri, key, value, options);
  return options;
}

// csi://0, csi://imx708, csi:///base/soc/...
CsiUri parse_csi(const Uri& uri) {
  std::string camera = uri.host + uri.path;
  if (camera.empty() || !uri.query.empty()) {
    throw usage(fmt::format(
        "{}: a camera's number or name has to follow, and nothing else, as in csi://0", uri.text));
  }
  return {std::move(camera)};
}

void check_characters(const std::string& text) {
  if (text.empty()) throw usage("the source is empty");
  // The system would cut the text off there.
  const bool uri_with_nul = is_uri(text) && text.find("%00") != std::string::npos;
  if (uri_with_nul || text.find('\0') != std::string::npos) {
    throw usage("a source cannot hold a NUL character (%00)");
  }
}

}  // namespace

SourceUri parse_source_uri(const std::string& text, const SourceOptions& asked) {
  check_characters(text);
  if (text == "-") return Stdin{};
  if (text == "auto") return AutoCamera{};
  if (text == "none") return NoFrames{};
  if (!is_uri(text)) return LocalPath{text};
  if (is_network_scheme(scheme_of(text))) return parse_network(text);
  const Uri uri = parse_uri(text);
  if (uri.scheme == "test") return parse_test(uri, asked);
  if (uri.scheme == "v4l2") return V4l2Uri{local_path(uri)};
  return uri.scheme == "csi" ? SourceUri(parse_csi(uri)) : LocalPath{local_path(uri)};
}

std::string shown_source(const std::string& text) {
  return is_uri(text) && is_network_scheme(scheme_of(text)) ? shown_url(text) : text;
}

void check_source_text(const std::string& text) { parse_source_uri(text, {}); }

}  // namespace lookout
