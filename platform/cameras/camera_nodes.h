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
  std::string problem;  // a sentence: why nothing of the above is known; else empty
};

// Every /dev/video*, in the order of numbers. Nothing is changed on them.
std::vector<CameraNode> camera_nodes();

// Links in ROOT/dev/v4l/by-id, then by-path, whose target is `device`.
std::vector<std::string> links_to(const std::string& device,
                                  const std::filesystem::path& root = "/");

// Finds a camera again whose number has changed.
//
// It is known by its card and the port that it is plugged into, and at another port by its link in
// /dev/v4l/by-id, unless another camera of the same card was there that had no link of its own:
// identical cameras without serial numbers share one. What was given as a link is left to whoever
// made the link.
class KnownCamera {
 public:
  // The card and port of a node; nothing when it cannot be opened. A test has its own.
  using Ask = std::function<std::optional<NodeInfo>(const std::string& path)>;

  explicit KnownCamera(std::string path, std::filesystem::path root = "/", Ask ask = {});

  // Where the camera is now: the given path until remember() was called. Throws Error(kNoInput)
  // when it is not there, whoever has its number now.
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
  std::string link_;  // that is this camera's alone; empty: none
  std::optional<NodeInfo> info_;
};

}  // namespace lookout
