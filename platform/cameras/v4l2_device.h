// A node of the kernel's V4L2 interface: what it is, and what it offers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/error.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/unusable_device.h"

namespace lookout {

enum class NodeKind {
  kCamera,
  kBayer,           // a camera whose pictures need libcamera: csi://0
  kPipeline,        // a camera if somebody set it up by the media controller, as libcamera does
  kCodec,           // encodes, decodes or scales what a program gives it
  kImageProcessor,  // a part of what libcamera makes pictures with
  kMetadata,        // what a camera says of its pictures
  kOther,           // outputs, radios, ...
};

// "a camera", "a codec"
const char* to_text(NodeKind kind);

struct NodeInfo {
  std::string card;                // "HD Pro Webcam C920"
  std::string driver;              // "uvcvideo"
  std::string bus;                 // where it is plugged: "usb-0000:01:00.0-1.3"
  std::uint32_t capabilities = 0;  // V4L2_CAP_..., of this node
};

// Whether the media controller sets it up (V4L2_CAP_IO_MC). Such a node offers every format that
// its driver knows, whatever the sensor gives.
bool is_in_pipeline(const NodeInfo& info);

// `formats`: those of the node.
NodeKind kind_of(const NodeInfo& info, const std::vector<CameraFormat>& formats);

// An open node. Not for several threads at a time.
class V4l2Device {
 public:
  // Throws Error(kNoInput) when there is no such device, UnusableDevice when it is not of V4L2,
  // Error(kPermission), Error(kDeviceLost) when it is in use.
  explicit V4l2Device(const std::string& path);
  ~V4l2Device();
  V4l2Device(const V4l2Device&) = delete;
  V4l2Device& operator=(const V4l2Device&) = delete;

  const NodeInfo& info() const { return info_; }

  // Asks the driver for every format, size and rate that it captures in. Of a grid of sizes the
  // rates are those of the least.
  std::vector<CameraFormat> formats() const;

  // Whether another program captures from it.
  bool in_use() const;

  // An ioctl() of the node, which does not block; false with errno set.
  bool control(unsigned long request, void* argument) const;

  // Stays the device's.
  int fd() const { return fd_; }

 private:
  std::vector<CameraSize> sizes(std::uint32_t fourcc) const;
  void read_rates(std::uint32_t fourcc, CameraSize& size) const;

  int fd_;
  NodeInfo info_;
};

// The sentences of V4l2Device, for others that open cameras.
Error camera_in_use(const std::string& path);
UnusableDevice not_a_camera(const std::string& path, NodeKind kind);

}  // namespace lookout
