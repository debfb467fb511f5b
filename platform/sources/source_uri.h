// Parses the text that names a source. Pure: no file or device is touched.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "platform/cameras/source_options.h"
#include "platform/sources/test_source.h"

namespace lookout {

// No string of these is empty or holds a NUL character; escapes (%20) are decoded.
struct V4l2Uri {
  std::string path;  // absolute
};
struct CsiUri {
  std::string camera;  // its number, model or id
};
struct LocalPath {
  // The path of a camera, a picture, a folder, a video or a FIFO; absolute if it came as a URI.
  std::string path;
};
struct Stdin {};
struct AutoCamera {};
struct NoFrames {};
struct NetworkUri {
  std::string url;  // as given; shown_url() is what may be shown
};

using SourceUri = std::variant<TestSourceOptions, V4l2Uri, CsiUri, LocalPath, Stdin, AutoCamera,
                               NoFrames, NetworkUri>;

// `text`: see source_schemes(); anything else is a path. `asked` supplies the size and rate of a
// test pattern where the text does not.
//
// Throws Error(kUsage), which never shows a user's name or password, when the text cannot be
// parsed, or when `asked` is out of range for a test pattern.
SourceUri parse_source_uri(const std::string& text, const SourceOptions& asked);

// The text as logs, results and pages show it: an address on the network as shown_url() does.
std::string shown_source(const std::string& text);

// Throws Error(kUsage) for a text that names no source, as parse_source_uri() does: an unknown
// scheme, a bad URI, an unknown test pattern. Whether the device or file exists is not checked.
void check_source_text(const std::string& text);

enum class SourceGroup { kCamera, kFile, kStream, kPattern, kNone };

// A way to name a source. Texts that are none of these are paths.
struct SourceScheme {
  std::string_view name;     // "csi://" of csi://0; or the whole text: "auto"
  std::string_view example;  // a text that can be parsed
  std::string_view help;     // in the help of camera.source; empty: another one's says it
  SourceGroup group = SourceGroup::kNone;
  // What the service needs for it: the start of a line of deploy/lookout.service.in, or of
  // deploy/network-camera.conf; empty: nothing.
  std::string_view service;
  SourceUri (*parse)(const std::string& text, const SourceOptions& asked) = nullptr;
};

// All of them: texts and checks that are about each one are made of these. One that is added needs
// its type in SourceUri, and a case in open_source(), which does not compile without.
const std::vector<SourceScheme>& source_schemes();

// What a source can be, for the help of camera.source: "a camera (/dev/video0, ...), ..., or a test
// pattern (...)".
std::string source_help();

}  // namespace lookout
