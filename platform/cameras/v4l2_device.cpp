#include "platform/cameras/v4l2_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/videodev2.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <system_error>

#include "pipeline/core/append_format.h"
#include "platform/cameras/camera_nodes.h"

namespace lookout {
namespace {

constexpr int kLargest = 8192;          // pixels; for drivers that report no sizes
constexpr std::uint32_t kMany = 1'000;  // ends the enumeration of a faulty driver

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr ? "USER" : user->pw_name;
}

Error absent(const std::string& path) {
  const auto devices = video_devices();
  const std::string there = devices.empty() ? "there is no /dev/video* at all"
                                            : fmt::format("there is {}", joined(devices, ", "));
  return {ErrorKind::kNoInput, fmt::format("no such device, file or folder: {}; {}", path, there)};
}

Error cannot_open(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absent(path);
    case EACCES:
    case EPERM:
      return {ErrorKind::kPermission,
              fmt::format("no permission to open {}; for cameras this helps, after a new login: "
                          "sudo usermod -aG video {}",
                          path, user_name())};
    case EBUSY:
      return camera_in_use(path);
    default:
      return {ErrorKind::kNoInput,
              fmt::format("{} cannot be opened: {}", path, std::generic_category().message(error))};
  }
}

template <std::size_t N>
std::string field_text(const __u8 (&text)[N]) {  // NOLINT(modernize-avoid-c-arrays): the kernel's
  const auto* start = reinterpret_cast<const char*>(text);
  return {start, strnlen(start, N)};
}

double rate_of_interval(const v4l2_fract& interval) {
  return rate_of(FrameInterval{interval.numerator, interval.denominator});
}

bool is_image_processor(const std::string& driver) {
  return driver == "bcm2835-isp" || driver == "pispbe" || driver.rfind("rkisp", 0) == 0;
}

}  // namespace

const char* to_text(NodeKind kind) {
  static constexpr std::array<const char*, 7> kTexts{
      "a camera", "a raw Bayer sensor", "a part of a CSI camera",
      "a codec",  "an image processor", "a camera's metadata",
      "no camera"};
  return kTexts.at(static_cast<std::size_t>(kind));
}

bool needs_libcamera(NodeKind kind) {
  return kind == NodeKind::kBayer || kind == NodeKind::kPipeline ||
         kind == NodeKind::kImageProcessor;
}

bool is_in_pipeline(const NodeInfo& info) { return (info.capabilities & V4L2_CAP_IO_MC) != 0; }

bool is_virtual(std::string_view name) {
  for (const char* part : {"vivid", "vimc", "loopback", "Virtual"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

NodeKind kind_of(const NodeInfo& info, const std::vector<CameraFormat>& formats) {
  const auto has = [&info](std::uint32_t capability) {
    return (info.capabilities & capability) != 0;
  };
  if (has(V4L2_CAP_VIDEO_M2M | V4L2_CAP_VIDEO_M2M_MPLANE)) return NodeKind::kCodec;
  if (is_image_processor(info.driver)) return NodeKind::kImageProcessor;
  if (has(V4L2_CAP_VIDEO_CAPTURE)) {
    if (!has(V4L2_CAP_STREAMING)) return NodeKind::kOther;
    const bool readable = std::any_of(formats.begin(), formats.end(),
                                      [](const CameraFormat& f) { return can_be_read(f.fourcc); });
    const bool bayer = std::any_of(formats.begin(), formats.end(), is_bayer);
    if (bayer && !readable) return NodeKind::kBayer;
    return is_in_pipeline(info) ? NodeKind::kPipeline : NodeKind::kCamera;
  }
  return has(V4L2_CAP_META_CAPTURE) ? NodeKind::kMetadata : NodeKind::kOther;
}

Error camera_in_use(const std::string& path) {
  return {ErrorKind::kDeviceLost, fmt::format("camera {} is in use by another program", path)};
}

UnusableDevice not_a_camera(const std::string& path, NodeKind kind) {
  switch (kind) {
    case NodeKind::kBayer:
      return UnusableDevice(fmt::format(
          "{} is an image sensor whose raw pictures libcamera has to process: use csi://0", path));
    case NodeKind::kPipeline:
      return UnusableDevice(fmt::format(
          "{} is a part of a CSI camera and gives no pictures as it is set up: use csi://0", path));
    case NodeKind::kCodec:
    case NodeKind::kImageProcessor:
    case NodeKind::kMetadata:
      return UnusableDevice(
          fmt::format("{} is not a camera but {}; lookout list-cameras shows which node is one",
                      path, to_text(kind)));
    default:
      return UnusableDevice(fmt::format("{} is not a camera", path));
  }
}

bool V4l2Device::control(unsigned long request, void* argument) const {
  int result = 0;
  do {
    result = ::ioctl(fd_, request, argument);
  } while (result < 0 && errno == EINTR);
  return result == 0;
}

V4l2Device::V4l2Device(const std::string& path)
    : fd_(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
  if (fd_ < 0) throw cannot_open(path, errno);
  v4l2_capability capability{};
  if (!control(VIDIOC_QUERYCAP, &capability)) {
    const int error = errno;
    ::close(fd_);
    // ENOSYS: qemu-user, which does not know V4L2's calls.
    if (error == ENOTTY || error == EINVAL || error == ENOSYS)
      throw not_a_camera(path, NodeKind::kOther);
    throw cannot_open(path, error);  // it has just gone away
  }
  const bool has_own = (capability.capabilities & V4L2_CAP_DEVICE_CAPS) != 0;
  info_.card = field_text(capability.card);
  info_.driver = field_text(capability.driver);
  info_.bus = field_text(capability.bus_info);
  info_.capabilities = has_own ? capability.device_caps : capability.capabilities;
}

V4l2Device::~V4l2Device() { ::close(fd_); }

std::vector<CameraFormat> V4l2Device::formats() const {
  std::vector<CameraFormat> formats;
  v4l2_fmtdesc description{};
  description.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; description.index < kMany && control(VIDIOC_ENUM_FMT, &description); ++description.index) {
    CameraFormat format;
    format.fourcc = description.pixelformat;
    format.description = field_text(description.description);
    format.sizes = sizes(format.fourcc);
    formats.push_back(std::move(format));
  }
  return formats;
}

std::vector<CameraSize> V4l2Device::sizes(std::uint32_t fourcc) const {
  std::vector<CameraSize> sizes;
  v4l2_frmsizeenum found{};
  found.pixel_format = fourcc;
  for (; found.index < kMany && control(VIDIOC_ENUM_FRAMESIZES, &found); ++found.index) {
    CameraSize size;
    if (found.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
      size.width = size.max_width = static_cast<int>(found.discrete.width);
      size.height = size.max_height = static_cast<int>(found.discrete.height);
    } else {
      const v4l2_frmsize_stepwise& grid = found.stepwise;
      size.width = static_cast<int>(grid.min_width);
      size.height = static_cast<int>(grid.min_height);
      size.max_width = static_cast<int>(grid.max_width);
      size.max_height = static_cast<int>(grid.max_height);
      size.width_step = std::max(1, static_cast<int>(grid.step_width));
      size.height_step = std::max(1, static_cast<int>(grid.step_height));
    }
    read_rates(fourcc, size);
    sizes.push_back(std::move(size));
    if (found.type != V4L2_FRMSIZE_TYPE_DISCRETE) break;  // one entry describes the whole grid
  }
  if (sizes.empty()) {
    CameraSize unreported;
    unreported.width = unreported.height = 1;
    unreported.max_width = unreported.max_height = kLargest;
    sizes.push_back(unreported);
  }
  return sizes;
}

void V4l2Device::read_rates(std::uint32_t fourcc, CameraSize& size) const {
  v4l2_frmivalenum found{};
  found.pixel_format = fourcc;
  found.width = static_cast<std::uint32_t>(size.width);
  found.height = static_cast<std::uint32_t>(size.height);
  for (; found.index < kMany && control(VIDIOC_ENUM_FRAMEINTERVALS, &found); ++found.index) {
    if (found.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
      size.rates.push_back(rate_of_interval(found.discrete));
      continue;
    }
    size.any_rate = true;
    size.rates = {rate_of_interval(found.stepwise.min), rate_of_interval(found.stepwise.max)};
    break;
  }
  std::sort(size.rates.begin(), size.rates.end(), std::greater<>());
}

// The driver refuses to free this handle's buffers, of which there are none, while another handle
// has some.
bool V4l2Device::in_use() const {
  v4l2_requestbuffers none{};
  none.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  none.memory = V4L2_MEMORY_MMAP;
  return !control(VIDIOC_REQBUFS, &none) && errno == EBUSY;
}

}  // namespace lookout
