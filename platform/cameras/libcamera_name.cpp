#include "platform/cameras/libcamera_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/core/append_format.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

// The only camera for which `matches` is true.
template <typename Matches>
std::optional<std::size_t> only(const std::vector<LibcameraCamera>& cameras, Matches matches) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    if (!matches(cameras[i])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

std::vector<LibcameraCamera> order_cameras(std::vector<LibcameraCamera> cameras) {
  const auto is_usb = [](const LibcameraCamera& camera) {
    return camera.id.find("/usb") != std::string::npos;
  };
  cameras.erase(std::remove_if(cameras.begin(), cameras.end(), is_usb), cameras.end());
  std::sort(cameras.begin(), cameras.end(),
            [](const LibcameraCamera& a, const LibcameraCamera& b) { return a.id > b.id; });
  return cameras;
}

std::optional<std::size_t> find_camera(const std::vector<LibcameraCamera>& cameras,
                                       const std::string& name) {
  if (const auto number = parse_number<std::size_t>(name)) {
    return *number < cameras.size() ? number : std::nullopt;
  }
  auto found = only(cameras, [&](const auto& c) { return c.id == name || c.model == name; });
  if (!found) {
    found = only(cameras, [&](const auto& c) {
      return c.id.find(name) != std::string::npos || c.model.find(name) != std::string::npos;
    });
  }
  return found;
}

std::string to_text(const std::vector<LibcameraCamera>& cameras) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    texts.push_back(fmt::format("{} {} ({})", i, cameras[i].model, cameras[i].id));
  }
  return joined(texts, ", ");
}

}  // namespace lookout
