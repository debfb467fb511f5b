#include "platform/gpio/gpio_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/gpio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr const char* kGpioConsumer = "lookout";

std::string system_words(int error) { return std::generic_category().message(error); }

// Texts of the kernel, which end with their array at the latest.
template <std::size_t N>
std::string kernel_text(const char (&text)[N]) {  // NOLINT(modernize-avoid-c-arrays)
  return printable(
      std::string(std::begin(text), std::find(std::begin(text), std::end(text), '\0')));
}

Error cannot_open_chip(const std::string& chip, int error) {
  if (error == EACCES || error == EPERM) {
    return {
        ErrorKind::kPermission,
        fmt::format("no permission to open gpio.chip {}; on Raspberry Pi OS this helps, after a "
                    "new login: sudo usermod -aG gpio USER",
                    chip)};
  }
  return {ErrorKind::kNoInput,
          fmt::format("gpio.chip {} cannot be opened: {}", chip, system_words(error))};
}

Error line_in_use(const GpioLineOptions& options, const std::string& consumer) {
  return {ErrorKind::kDeviceLost,
          fmt::format("gpio.line {} of {} is in use by {}", options.line, options.chip,
                      consumer.empty() ? "another program" : "\"" + consumer + "\"")};
}

// The file of a chip, closed at the end.
class Chip {
 public:
  Chip(const GpioLineOptions& options, const GpioCalls& calls)
      : options_(options), calls_(calls), fd_(calls.open(options.chip.c_str())) {
    if (fd_ < 0) throw cannot_open_chip(options.chip, errno);
  }
  ~Chip() { calls_.close(fd_); }
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  int call(unsigned long request, void* argument) const {
    return calls_.ioctl(fd_, request, argument);
  }

  // Throws unless the line is there and free.
  std::string describe() const {
    gpiochip_info chip{};
    if (call(GPIO_GET_CHIPINFO_IOCTL, &chip) < 0) {
      throw Error(ErrorKind::kConfig, fmt::format("gpio.chip {} is no GPIO chip: {}", options_.chip,
                                                  system_words(errno)));
    }
    if (options_.line >= chip.lines) {
      throw Error(ErrorKind::kConfig, fmt::format("gpio.line {}: {} has the lines 0 to {}",
                                                  options_.line, options_.chip, chip.lines - 1));
    }
    gpio_v2_line_info line{};
    line.offset = options_.line;
    if (call(GPIO_V2_GET_LINEINFO_IOCTL, &line) < 0) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("gpio.chip {}: {}; GPIO needs Linux 5.10 or later", options_.chip,
                              system_words(errno)));
    }
    if ((line.flags & GPIO_V2_LINE_FLAG_USED) != 0) {
      throw line_in_use(options_, kernel_text(line.consumer));
    }
    const std::string name = kernel_text(line.name);
    return fmt::format("line {}{} of {} ({})", options_.line, name.empty() ? "" : " (" + name + ")",
                       options_.chip, kernel_text(chip.label));
  }

 private:
  const GpioLineOptions& options_;
  const GpioCalls& calls_;
  const int fd_;
};

}  // namespace

GpioCalls system_gpio_calls() {
  return {
      [](const char* path) { return ::open(path, O_RDWR | O_CLOEXEC); },
      [](int fd, unsigned long request, void* argument) { return ::ioctl(fd, request, argument); },
      [](int fd) { ::close(fd); }};
}

GpioLine::GpioLine(const GpioLineOptions& options, GpioCalls calls) : calls_(std::move(calls)) {
  const Chip chip(options, calls_);
  chip.describe();
  gpio_v2_line_request request{};
  request.offsets[0] = options.line;
  request.num_lines = 1;
  std::strncpy(request.consumer, kGpioConsumer, sizeof request.consumer - 1);
  request.config.flags = GPIO_V2_LINE_FLAG_OUTPUT;
  if (options.active_low) request.config.flags |= GPIO_V2_LINE_FLAG_ACTIVE_LOW;
  request.config.num_attrs = 1;
  request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
  request.config.attrs[0].attr.values = 0;
  request.config.attrs[0].mask = 1;
  if (chip.call(GPIO_V2_GET_LINE_IOCTL, &request) < 0) {
    if (errno == EBUSY) throw line_in_use(options, "");
    throw Error(ErrorKind::kConfig, fmt::format("gpio.line {} of {} cannot be an output: {}",
                                                options.line, options.chip, system_words(errno)));
  }
  fd_ = request.fd;
}

GpioLine::~GpioLine() {
  set(false);
  calls_.close(fd_);
}

std::string GpioLine::set(bool active) {
  gpio_v2_line_values values{};
  values.mask = 1;
  values.bits = active ? 1 : 0;
  if (calls_.ioctl(fd_, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0) return system_words(errno);
  return {};
}

std::string describe_gpio_line(const GpioLineOptions& options, const GpioCalls& calls) {
  return Chip(options, calls).describe();
}

}  // namespace lookout
