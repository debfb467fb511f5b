#include "platform/sources/source_uri.h"

#include <fmt/format.h>
#include <uriparser/Uri.h>

#include <algorithm>
#include <array>
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

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kUsage, fmt::format(format, std::forward<Args>(args)...));
}

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

bool is_uri(std::string_view text) { return text.find("://") != std::string::npos; }

// "csi://" of csi://0, or the whole text.
std::string name_in(const std::string& text) {
  return is_uri(text) ? lower_case(text.substr(0, text.find("://") + 3)) : text;
}

// Null: none.
const SourceScheme* find_scheme(const std::string& text) {
  const auto& all = source_schemes();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name = name_in(text)](const auto& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

SourceUri parse_network(const std::string& text, const SourceOptions& asked);

bool is_network(const SourceScheme& scheme) { return scheme.parse == parse_network; }

template <typename Predicate>
std::vector<std::string_view> uri_schemes(Predicate predicate) {
  std::vector<std::string_view> names;
  for (const SourceScheme& scheme : source_schemes()) {
    if (is_uri(scheme.name) && predicate(scheme)) names.push_back(scheme.name);
  }
  return names;
}

// Told before anything else is: the port or password of such an address would be.
[[noreturn]] void refuse_scheme(const std::string& text) {
  constexpr std::array<std::string_view, 10> kOtherNetworks{
      "rtmp://", "rtmps://", "udp://", "rtp://", "tcp://",
      "srt://",  "ftp://",   "mms://", "ws://",  "wss://"};
  const std::string name = name_in(text);
  if (std::find(kOtherNetworks.begin(), kOtherNetworks.end(), name) != kOtherNetworks.end()) {
    auto known = uri_schemes(is_network);
    const std::string_view last = known.back();
    known.pop_back();
    refuse(
        "{}: of the network only {} and {} are read; pipe others: "
        "ffmpeg -i URL -c copy -f matroska - | lookout -",
        shown_url(text), joined(known, ", "), last);
  }
  const auto known = uri_schemes([](const SourceScheme& scheme) { return !scheme.help.empty(); });
  refuse("{}: unknown scheme {}; use {}, a path or -", shown_url(text), name, joined(known, ", "));
}

using UriOwner = std::unique_ptr<UriUriA, decltype(&uriFreeUriMembersA)>;

// `advice` ends the sentence for what cannot be parsed.
UriOwner parse(const std::string& text, UriUriA& parsed, const std::string& advice) {
  const char* error = nullptr;
  const int status = uriParseSingleUriA(&parsed, text.c_str(), &error);
  if (status != URI_SUCCESS) {
    const auto place = error == nullptr ? 0 : error - text.c_str();
    refuse("{} is not a valid URI, see its character {}{}", shown_url(text), place + 1, advice);
  }
  return {&parsed, uriFreeUriMembersA};
}

SourceUri parse_network(const std::string& text, const SourceOptions& /*asked*/) {
  UriUriA parsed{};
  const auto owner =
      parse(text, parsed, "; in a user name or password, @ is written %40, / %2F, # %23, : %3A");
  if (parsed.hostText.first == parsed.hostText.afterLast) {
    refuse("{}: the name or address of a host has to follow", shown_url(text));
  }
  if (parsed.portText.first != nullptr && parsed.portText.first == parsed.portText.afterLast) {
    refuse("{}: a port has to follow the ':'; in a password, / is written %2F", shown_url(text));
  }
  const std::string port = decode(parsed.portText);
  const auto number = parse_number<std::uint16_t>(port);
  if (!port.empty() && (!number || *number == 0)) {
    refuse("{}: the port {} is no number from 1 to 65535", shown_url(text), port);
  }
  if (parsed.fragment.first != nullptr) {
    refuse("{}: '#' has no meaning here; in a password it is %23", shown_url(text));
  }
  return NetworkUri{text};
}

Uri parse_uri(const std::string& text) {
  UriUriA parsed{};
  const auto owner = parse(text, parsed, "");
  if (parsed.fragment.first != nullptr || parsed.userInfo.first != nullptr ||
      parsed.portText.first != nullptr) {
    refuse("{}: '#', '@' and ports have no meaning here; '#' in a name is %23", shown_url(text));
  }
  return {text, lower_case(decode(parsed.scheme)), decode(parsed.hostText), decode_path(parsed),
          dissect_query(parsed.query)};
}

// The path of a URI that has nothing else.
std::string local_path(const Uri& uri) {
  if (!uri.host.empty() || uri.path.empty()) {
    refuse("{}: an absolute path has to follow, as in {}:///path", uri.text, uri.scheme);
  }
  if (!uri.query.empty()) {
    refuse("{}: there is no '{}' for {}://", uri.text, uri.query.front().first, uri.scheme);
  }
  return uri.path;
}

template <typename Number>
Number number_in(const Uri& uri, const std::string& key, const std::string& value, Number min,
                 Number max) {
  const auto number = parse_number<Number>(value);
  // Written so that not-a-number is out of range, too.
  if (number && *number >= min && *number <= max) return *number;
  refuse("{}: {} has to be a number from {} to {}, not '{}'", uri.text, key, min, max, value);
}

void parse_size(const Uri& uri, const std::string& value, TestSourceOptions& options) {
  const auto x = value.find('x');
  if (x == std::string::npos) {
    refuse("{}: size is written as in size=640x480, not '{}'", uri.text, value);
  }
  options.width = number_in(uri, "the width", value.substr(0, x), kMinTestSize, kMaxTestSize);
  options.height = number_in(uri, "the height", value.substr(x + 1), kMinTestSize, kMaxTestSize);
}

// 0, or kMinTestFps..kMaxTestFps.
bool is_test_fps(double fps) { return fps == 0 || (fps >= kMinTestFps && fps <= kMaxTestFps); }

double parse_fps(const Uri& uri, const std::string& value) {
  const auto fps = parse_number<double>(value);
  if (fps && is_test_fps(*fps)) return *fps;
  refuse("{}: fps has to be 0 (as fast as possible) or a number from {} to {}, not '{}'", uri.text,
         kMinTestFps, kMaxTestFps, value);
}

void apply(const Uri& uri, const std::string& key, const std::string& value,
           TestSourceOptions& options) {
  if (key == "size") {
    parse_size(uri, value, options);
  } else if (key == "fps") {
    options.fps = parse_fps(uri, value);
  } else if (key == "noise") {
    options.noise = number_in(uri, key, value, 0.0, kMaxTestNoise);
  } else if (key == "still") {
    options.still = number_in(uri, key, value, 0, 1) != 0;
  } else if (key == "hold") {
    options.hold = number_in(uri, key, value, 1, 1'000'000);
  } else if (key == "frames") {
    options.frames = number_in<std::uint64_t>(uri, key, value, 0, 1'000'000'000);
  } else {
    refuse("{}: there is no '{}', only size, fps, noise, still, hold and frames", uri.text, key);
  }
}

std::optional<Pattern> parse_pattern(const Uri& uri) {
  if (uri.host == "all") return std::nullopt;
  const auto pattern = find_pattern(uri.host);
  if (pattern) return pattern;
  if (uri.host.empty()) {
    refuse("the test patterns are all, {}; as in test://all", joined(kPatternNames, ", "));
  }
  refuse("{}: there is no test pattern '{}', only all, {}", uri.text, uri.host,
         joined(kPatternNames, ", "));
}

template <typename Number>
Number in_range(const char* option, Number value, Number min, Number max) {
  if (value >= min && value <= max) return value;
  refuse("{} has to be from {} to {} for a test pattern", option, min, max);
}

void apply(const SourceOptions& asked, TestSourceOptions& options) {
  if (asked.width)
    options.width = in_range("camera.width", *asked.width, kMinTestSize, kMaxTestSize);
  if (asked.height)
    options.height = in_range("camera.height", *asked.height, kMinTestSize, kMaxTestSize);
  if (!asked.framerate) return;
  if (!is_test_fps(*asked.framerate)) {
    refuse("camera.framerate has to be from {} to {} for a test pattern", kMinTestFps, kMaxTestFps);
  }
  options.fps = *asked.framerate;
}

SourceUri parse_test(const std::string& text, const SourceOptions& asked) {
  const Uri uri = parse_uri(text);
  if (!uri.path.empty() && uri.path != "/") {
    refuse("{}: nothing but a pattern's name may follow test://", uri.text);
  }
  TestSourceOptions options;
  options.pattern = parse_pattern(uri);
  apply(asked, options);
  for (const auto& [key, value] : uri.query) apply(uri, key, value, options);
  return options;
}

// csi://0, csi://imx708, csi:///base/soc/...
SourceUri parse_csi(const std::string& text, const SourceOptions& /*asked*/) {
  const Uri uri = parse_uri(text);
  std::string camera = uri.host + uri.path;
  if (camera.empty() || !uri.query.empty()) {
    refuse("{}: a camera's number or name has to follow, and nothing else, as in csi://0",
           uri.text);
  }
  return CsiUri{std::move(camera)};
}

template <typename Path>
SourceUri parse_path(const std::string& text, const SourceOptions& /*asked*/) {
  return Path{local_path(parse_uri(text))};
}

template <typename Word>
SourceUri parse_word(const std::string& /*text*/, const SourceOptions& /*asked*/) {
  return Word{};
}

void check_characters(const std::string& text) {
  if (text.empty()) refuse("the source is empty");
  // The system would cut the text off there.
  const bool uri_with_nul = is_uri(text) && text.find("%00") != std::string::npos;
  if (uri_with_nul || text.find('\0') != std::string::npos) {
    refuse("a source cannot hold a NUL character (%00)");
  }
}

}  // namespace

const std::vector<SourceScheme>& source_schemes() {
  using Group = SourceGroup;
  constexpr const char* kNetwork = "PrivateNetwork=no";
  static const std::vector<SourceScheme> schemes{
      {"test://", "test://all", "a test pattern (test://all?size=640x480&fps=30)", Group::kPattern,
       "", parse_test},
      {"v4l2://", "v4l2:///dev/video0", "/dev/video0", Group::kCamera,
       "DeviceAllow=char-video4linux", parse_path<V4l2Uri>},
      {"csi://", "csi://0", "csi://0", Group::kCamera, "DeviceAllow=char-dma_heap", parse_csi},
      {"rtsp://", "rtsp://camera/", "rtsp://HOST/...", Group::kCamera, kNetwork, parse_network},
      {"rtsps://", "rtsps://camera/", "", Group::kCamera, kNetwork, parse_network},
      {"http://", "http://camera/", "http://HOST/...", Group::kCamera, kNetwork, parse_network},
      {"https://", "https://camera/", "", Group::kCamera, kNetwork, parse_network},
      {"file://", "file:///a.jpg", "a picture, a folder of pictures, a video", Group::kFile, "",
       parse_path<LocalPath>},
      {"-", "-", "- (a stream on stdin), a FIFO", Group::kStream, "", parse_word<Stdin>},
      {"auto", "auto", "", Group::kNone, "", parse_word<AutoCamera>},
      {"none", "none", "", Group::kNone, "", parse_word<NoFrames>},
  };
  return schemes;
}

std::string source_help() {
  const auto texts_of = [](SourceGroup group) {
    std::vector<std::string_view> texts;
    for (const SourceScheme& scheme : source_schemes()) {
      if (scheme.group == group && !scheme.help.empty()) texts.push_back(scheme.help);
    }
    return joined(texts, ", ");
  };
  return fmt::format("a camera ({}), {}, {}, or {}", texts_of(SourceGroup::kCamera),
                     texts_of(SourceGroup::kFile), texts_of(SourceGroup::kStream),
                     texts_of(SourceGroup::kPattern));
}

SourceUri parse_source_uri(const std::string& text, const SourceOptions& asked) {
  check_characters(text);
  const SourceScheme* scheme = find_scheme(text);
  if (scheme != nullptr) return scheme->parse(text, asked);
  if (is_uri(text)) refuse_scheme(text);
  return LocalPath{text};
}

std::string shown_source(const std::string& text) {
  const SourceScheme* scheme = find_scheme(text);
  return scheme != nullptr && is_network(*scheme) ? shown_url(text) : text;
}

void check_source_text(const std::string& text) { parse_source_uri(text, {}); }

}  // namespace lookout
