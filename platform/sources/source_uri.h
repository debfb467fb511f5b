// What the user's text names as a source. Pure: nothing is opened or looked at.
#pragma once

#include <string>
#include <variant>

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
  std::string path;  // of a camera, a picture, a folder or a video; absolute if it came as a URI
};

using SourceUri = std::variant<TestSourceOptions, V4l2Uri, CsiUri, LocalPath>;

// `text` as open_source() describes it. `asked` applies to test:// where the text says nothing.
//
// Throws Error(kUsage) for a text that cannot be understood, and for what was asked of test:// but
// is out of range.
SourceUri parse_source_uri(const std::string& text, const SourceOptions& asked);

}  // namespace lookout
