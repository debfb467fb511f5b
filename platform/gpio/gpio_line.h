// One line of a GPIO chip as an output, by the kernel's interface for character devices
// (linux/gpio.h, version 2, since Linux 5.10).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lookout {

struct GpioLineOptions {
  std::string chip = "/dev/gpiochip0";
  std::uint32_t line = 0;   // its offset on the chip
  bool active_low = false;  // active is 0 V
};

// Calls of the system: -1 and errno when they fail. Tests pass others.
struct GpioCalls {
  std::function<int(const char* path)> open;
  std::function<int(int fd, unsigned long request, void* argument)> ioctl;
  std::function<void(int fd)> close;
};

GpioCalls system_gpio_calls();

// Used by one thread at a time.
class GpioLine {
 public:
  // Takes the line and makes it an inactive output. Throws Error: kNoInput when there is no chip,
  // kPermission, kConfig when the file is no chip or has no such line, kDeviceLost when somebody
  // else has the line.
  explicit GpioLine(const GpioLineOptions& options, GpioCalls calls = system_gpio_calls());
  // Makes it inactive and gives it back. What it then does is the chip's.
  ~GpioLine();
  GpioLine(const GpioLine&) = delete;
  GpioLine& operator=(const GpioLine&) = delete;

  // Takes microseconds on the chip of a board. Returns an empty text, or why it did not work.
  std::string set(bool active);

 private:
  const GpioCalls calls_;
  int fd_ = -1;
};

// "line 17 (GPIO17) of /dev/gpiochip0 (pinctrl-bcm2711)". Throws as the constructor would, but
// takes nothing.
std::string describe_gpio_line(const GpioLineOptions& options,
                               const GpioCalls& calls = system_gpio_calls());

}  // namespace lookout
