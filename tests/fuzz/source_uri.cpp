// Parses bytes as a source, with and without options: succeeds as documented or throws
// Error(kUsage).
#include "platform/sources/source_uri.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "pipeline/core/error.h"
#include "platform/sources/network_url.h"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

bool is_sound(const std::string& text) {
  return !text.empty() && text.find('\0') == std::string::npos;
}

struct Check {
  void operator()(const lookout::TestSourceOptions& test) const {
    for (const int size : {test.width, test.height}) {
      require(size >= lookout::kMinTestSize && size <= lookout::kMaxTestSize);
    }
    require(test.fps >= 0 && test.fps <= lookout::kMaxTestFps);
    require(test.noise >= 0 && test.noise <= lookout::kMaxTestNoise);
    require(test.hold >= 1);
  }
  void operator()(const lookout::V4l2Uri& v4l2) const {
    require(is_sound(v4l2.path) && v4l2.path[0] == '/');
  }
  void operator()(const lookout::CsiUri& csi) const { require(is_sound(csi.camera)); }
  void operator()(const lookout::Stdin& /*stdin*/) const {}
  void operator()(const lookout::AutoCamera& /*camera*/) const {}
  void operator()(const lookout::NoFrames& /*none*/) const {}
  void operator()(const lookout::NetworkUri& network) const {
    require(is_sound(network.url) && !lookout::host_of(network.url).empty());
    const std::string shown = lookout::shown_url(network.url);
    // A user name is before the only '@', and the '?' ends what is shown.
    const auto at = shown.find('@');
    require(at == std::string::npos || shown.substr(at - 3, 3) == "***");
    const auto query = shown.find('?');
    require(query == std::string::npos || shown.substr(query) == "?***");
    require(lookout::hide_secrets(shown) == shown);
    try {
      const std::string whole = lookout::with_credentials(network.url, "user:se/cr@et");
      require(lookout::host_of(whole) == lookout::host_of(network.url));
    } catch (const lookout::Error& error) {
      require(error.kind() == lookout::ErrorKind::kUsage);
    }
  }
  void operator()(const lookout::LocalPath& local) const { require(is_sound(local.path)); }
};

void try_to(const std::string& text, const lookout::SourceOptions& asked) {
  try {
    std::visit(Check{}, lookout::parse_source_uri(text, asked));
  } catch (const lookout::Error& error) {
    require(error.kind() == lookout::ErrorKind::kUsage);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_to(text, {});
  lookout::SourceOptions asked;
  asked.width = 100;
  asked.framerate = 5;
  try_to(text, asked);
  return 0;
}
