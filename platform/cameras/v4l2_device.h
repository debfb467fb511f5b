// A node of the kernel's V4L2 interface, its kind and its formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/error.h"
#include "platform/cameras/camera_mode.h"

namespace lookout {

enum class NodeKind {
  kCamera,
  kBayer,           // a camera whose pictures need libcamera: csi://0
  kPipeline,        // a camera once the media controller is set up, as libcamera does
  kCodec,           // encodes, decodes or scales pictures of a program
  kImageProcessor,  // a part of libcamera's image processing
  kMetadata,        // data about a camera's pictures
  kOther,           // outputs, radios, ...
};

// "a camera", "a codec"
const char* to_text(NodeKind kind);

// Whether it belongs to a camera that only libcamera can use.
bool needs_libcamera(NodeKind kind);

struct NodeInfo {
  std::string card;                // "HD Pro Webcam C920"
  std::string driver;              // "uvcvideo"
  std::string bus;                 // where it is plugged in: "usb-0000:01:00.0-1.3"
  std::uint32_t capabilities = 0;  // V4L2_CAP_..., of this node
};

// Whether the media controller sets it up (V4L2_CAP_IO_MC). Such a node lists every format of its
// driver, also those that the sensor does not give.
bool is_in_pipeline(const NodeInfo& info);

// Whether a driver, or a camera by libcamera's id, has no sensor: its pictures may be equal.
bool is_virtual(std::string_view name);

// `formats`: the node's.
NodeKind kind_of(const NodeInfo& info, const std::vector<CameraFormat>& formats);

// An open node. Used by one thread at a time.
class V4l2Device {
 public:
  // Throws Error(kNoInput) when there is no such device, UnusableDevice when it is not a V4L2
  // device, Error(kPermission), Error(kDeviceLost) when it is in use.
  explicit V4l2Device(const std::string& path);
  ~V4l2Device();
  V4l2Device(const V4l2Device&) = delete;
  V4l2Device& operator=(const V4l2Device&) = delete;

  const NodeInfo& info() const { return info_; }

  // Asks the driver for its formats, sizes and rates. The rates of a grid are those of its smallest
  // size.
  std::vector<CameraFormat> formats() const;

  // Whether another program captures from the node.
  bool in_use() const;

  // Calls ioctl(), which does not block. Returns false with errno set on failure.
  bool control(unsigned long request, void* argument) const;

  // Closed by the destructor.
  int fd() const { return fd_; }

 private:
  std::vector<CameraSize> sizes(std::uint32_t fourcc) const;
  void read_rates(std::uint32_t fourcc, CameraSize& size) const;

  int fd_;
  NodeInfo info_;
};

// The named device exists and stays what it is: a codec, a metadata node, a sensor that only
// libcamera can read, a camera without a readable format. Waiting for it does not help, unlike for
// other errors of kind kNoInput. The kind is the same, since the user named the wrong input.
class UnusableDevice : public Error {
 public:
  explicit UnusableDevice(const std::string& sentence) : Error(ErrorKind::kNoInput, sentence) {}
};

// The errors of V4l2Device, for other code that opens cameras.
Error camera_in_use(const std::string& path);
UnusableDevice not_a_camera(const std::string& path, NodeKind kind);

}  // namespace lookout
