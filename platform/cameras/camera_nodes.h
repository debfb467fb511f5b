// The machine's V4L2 nodes and the names that udev gives them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/cameras/camera_mode.h"
#include "platform/cameras/v4l2_device.h"

namespace lookout {

struct CameraNode {
  std::string path;                // /dev/video0
  std::vector<std::string> links;  // to it: /dev/v4l/by-id/..., then /dev/v4l/by-path/...
  NodeKind kind = NodeKind::kOther;
  NodeInfo info;
  std::vector<CameraFormat> formats;
  std::string problem;  // a sentence: why the node could not be asked; else empty
};

// Devices named video* in ROOT/dev, video2 before video10.
std::vector<std::string> video_devices(const std::filesystem::path& root = "/");

// All of them in that order. Only asks the drivers, changes nothing.
std::vector<CameraNode> camera_nodes(const std::filesystem::path& root = "/");

// Links in ROOT/dev/v4l/by-id, then by-path, whose target is `device`.
std::vector<std::string> links_to(const std::string& device,
                                  const std::filesystem::path& root = "/");

// Finds a camera again whose number has changed.
//
// It is recognized by its card and port. At another port it is recognized by its link in
// /dev/v4l/by-id, unless a second camera of the same card was there without a link of its own:
// identical cameras without serial numbers share one. A camera that was given as a link is wherever
// that link leads.
class KnownCamera {
 public:
  // The card and port of a node; nothing when it cannot be opened. Tests pass their own.
  using Ask = std::function<std::optional<NodeInfo>(const std::string& path)>;

  explicit KnownCamera(std::string path, std::filesystem::path root = "/", Ask ask = {});

  // The camera's path now; the given one until remember() was called. Throws Error(kNoInput) when
  // the camera is absent, even if another device has its number.
  std::string find() const;

  // Call after the camera was opened at find(). Later calls are ignored.
  void remember();

 private:
  bool is_here(const std::string& path) const;
  bool has_nameless_twin() const;

  std::string path_;
  std::filesystem::path root_;
  Ask ask_;
  bool remembered_ = false;
  std::string link_;  // of this camera alone; empty: none
  std::optional<NodeInfo> info_;
};

}  // namespace lookout
