#include "platform/cameras/camera_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

std::optional<NodeInfo> ask_node(const std::string& path) {
  try {
    return V4l2Device(path).info();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The node that `path` leads to; empty when it leads nowhere.
std::string target_of(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? std::string() : target.string();
}

// The node's link in /dev/v4l/by-id; empty when udev made none.
std::string by_id_link(const std::string& device, const fs::path& root) {
  for (const std::string& link : links_to(device, root)) {
    if (fs::path(link).parent_path().filename() == "by-id") return link;
  }
  return {};
}

CameraNode look_at(const std::string& path, const fs::path& root) {
  CameraNode node;
  node.path = path;
  node.links = links_to(path, root);
  try {
    const V4l2Device device(path);
    node.info = device.info();
    node.formats = device.formats();
    node.kind = kind_of(node.info, node.formats);
  } catch (const Error& error) {
    node.problem = error.what();
  }
  return node;
}

}  // namespace

std::vector<std::string> video_devices(const fs::path& root) {
  std::vector<std::string> devices;
  for (const fs::path& path : paths_in(root / "dev")) {
    if (path.filename().string().rfind("video", 0) == 0) devices.push_back(path);
  }
  std::sort(devices.begin(), devices.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return devices;
}

std::vector<CameraNode> camera_nodes(const fs::path& root) {
  std::vector<CameraNode> nodes;
  for (const std::string& path : video_devices(root)) nodes.push_back(look_at(path, root));
  return nodes;
}

std::vector<std::string> links_to(const std::string& device, const fs::path& root) {
  std::vector<std::string> links;
  const std::string target = target_of(device);
  for (const char* folder : {"by-id", "by-path"}) {
    std::vector<std::string> found;
    for (const fs::path& path : paths_in(root / "dev/v4l" / folder)) {
      if (!target.empty() && target_of(path) == target) found.push_back(path);
    }
    std::sort(found.begin(), found.end());
    links.insert(links.end(), found.begin(), found.end());
  }
  return links;
}

KnownCamera::KnownCamera(std::string path, fs::path root, Ask ask)
    : path_(std::move(path)), root_(std::move(root)), ask_(ask ? std::move(ask) : ask_node) {}

void KnownCamera::remember() {
  if (remembered_) return;
  remembered_ = true;
  std::error_code error;
  if (fs::is_symlink(path_, error)) return;
  info_ = ask_(path_);
  if (info_ && info_->bus.empty()) info_.reset();
  if (!has_nameless_twin()) link_ = by_id_link(path_, root_);
}

std::string KnownCamera::find() const {
  const std::string target = link_.empty() ? std::string() : target_of(link_);
  if (info_) {
    // The link first: of a camera with two nodes for pictures both match.
    for (const std::string& path : {target, path_}) {
      if (!path.empty() && is_here(path)) return path;
    }
    for (const std::string& path : video_devices(root_)) {
      if (is_here(path)) return path;
    }
  }
  if (!target.empty()) return target;  // now at another port
  if (!link_.empty()) {
    throw Error(ErrorKind::kNoInput, fmt::format("camera {} is not there", link_));
  }
  if (!info_) return path_;
  throw Error(ErrorKind::kNoInput,
              fmt::format("camera {} ({}) is not there", info_->card, info_->bus));
}

// Cameras that udev cannot distinguish share one link, which leads to any of them.
bool KnownCamera::has_nameless_twin() const {
  if (!info_) return false;
  const auto paths = video_devices(root_);
  return std::any_of(paths.begin(), paths.end(), [this](const std::string& path) {
    const auto other = ask_(path);
    return other && other->card == info_->card && other->bus != info_->bus &&
           by_id_link(path, root_).empty();
  });
}

// The other nodes of the same camera, metadata for instance, have other capabilities.
bool KnownCamera::is_here(const std::string& path) const {
  const auto now = ask_(path);
  return now && now->bus == info_->bus && now->card == info_->card &&
         now->capabilities == info_->capabilities;
}

}  // namespace lookout
