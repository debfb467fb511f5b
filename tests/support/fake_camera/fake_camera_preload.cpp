// The functions that stand before the system's. See fake_camera.h.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cstdarg>
#include <cstddef>

#include "tests/support/fake_camera/fake_camera.h"
#include "tests/support/fake_camera/fake_camera_system.h"

#define FAKE_CAMERA_API __attribute__((visibility("default")))

using lookout::FakeCamera;

extern "C" {

FAKE_CAMERA_API int open(const char* file, int oflag, ...) {
  if (FakeCamera::instance().is_at(file)) return FakeCamera::instance().open(oflag);
  va_list arguments;
  va_start(arguments, oflag);
  const mode_t mode = (oflag & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return lookout::next_open(file, oflag, mode);
}

FAKE_CAMERA_API int close(int fd) {
  FakeCamera::instance().close(fd);
  return lookout::next_close(fd);
}

FAKE_CAMERA_API int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (FakeCamera::instance().has(fd)) return FakeCamera::instance().ioctl(fd, request, argument);
  return lookout::next_ioctl(fd, request, argument);
}

FAKE_CAMERA_API void* mmap(void* addr, std::size_t len, int prot, int flags, int fd,
                           off_t offset) noexcept {
  if (fd >= 0 && FakeCamera::instance().has(fd)) fd = FakeCamera::instance().memory();
  return lookout::next_mmap(addr, len, prot, flags, fd, offset);
}

FAKE_CAMERA_API int poll(pollfd* fds, nfds_t nfds, int timeout) {
  for (nfds_t i = 0; i < nfds; ++i) {
    if (!FakeCamera::instance().has(fds[i].fd)) continue;
    const short events = FakeCamera::instance().events();
    if (events == 0) break;
    for (nfds_t other = 0; other < nfds; ++other) fds[other].revents = 0;
    fds[i].revents = events;
    return 1;
  }
  return lookout::next_poll(fds, nfds, timeout);
}

}  // extern "C"
