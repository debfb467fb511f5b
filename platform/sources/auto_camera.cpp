#include "platform/sources/auto_camera.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "platform/cameras/libcamera_loader.h"

namespace lookout {
namespace {

bool is_camera(const CameraNode& node) {
  return node.problem.empty() && node.kind == NodeKind::kCamera;
}

struct Found {
  std::string source;
  std::string name;
};

std::vector<Found> usable(const Cameras& cameras) {
  std::vector<Found> found;
  for (std::size_t i = 0; i < cameras.csi.size(); ++i) {
    const LibcameraCamera& camera = cameras.csi[i];
    found.push_back({fmt::format("csi://{}", i), camera.model.empty() ? camera.id : camera.model});
  }
  for (const CameraNode& node : cameras.nodes) {
    if (is_camera(node)) found.push_back({node.path, node.info.card});
  }
  return found;
}

}  // namespace

Cameras find_cameras() {
  Cameras cameras;
  cameras.nodes = camera_nodes();
  try {
    cameras.csi = list_csi_cameras();
  } catch (const Error& error) {
    cameras.csi_problem = error.what();
  }
  return cameras;
}

std::string missed_csi(const Cameras& cameras) {
  const bool sign = std::any_of(cameras.nodes.begin(), cameras.nodes.end(),
                                [](const CameraNode& node) { return needs_libcamera(node.kind); });
  return sign ? cameras.csi_problem : std::string();
}

CameraChoice choose_camera(const Cameras& cameras) {
  const std::vector<Found> found = usable(cameras);
  const std::string missed = missed_csi(cameras);
  if (found.empty()) {
    throw Error(
        ErrorKind::kNoInput,
        missed.empty()
            ? "no camera: plug in a USB camera, or look after the cable of a CSI camera and, "
              "in /boot/firmware/config.txt, camera_auto_detect=1 or its dtoverlay=; lookout "
              "'test://all' needs none"
            : "no camera: " + missed);
  }
  CameraChoice choice{found.front().source, "", missed};
  std::vector<std::string> texts;
  texts.reserve(found.size());
  for (const Found& each : found) texts.push_back(fmt::format("{} ({})", each.source, each.name));
  choice.text = texts.front();
  if (texts.size() > 1) {
    choice.text +=
        fmt::format("; there is also {}",
                    joined(std::vector<std::string>(texts.begin() + 1, texts.end()), ", "));
  }
  return choice;
}

}  // namespace lookout
