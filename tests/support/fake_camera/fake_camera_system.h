// The functions of the system behind those that fake_camera_preload.cpp replaces.
#pragma once

#include <dlfcn.h>
#include <poll.h>
#include <sys/types.h>

#include <cstddef>

namespace lookout {

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

inline int next_open(const char* path, int flags, mode_t mode) {
  static const auto function = next<int (*)(const char*, int, ...)>("open");
  return function(path, flags, mode);
}

inline int next_close(int fd) {
  static const auto function = next<int (*)(int)>("close");
  return function(fd);
}

inline int next_ioctl(int fd, unsigned long request, void* argument) {
  static const auto function = next<int (*)(int, unsigned long, ...)>("ioctl");
  return function(fd, request, argument);
}

inline void* next_mmap(void* address, std::size_t length, int protection, int flags, int fd,
                       off_t offset) {
  static const auto function = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
  return function(address, length, protection, flags, fd, offset);
}

inline int next_poll(pollfd* fds, nfds_t count, int timeout) {
  static const auto function = next<int (*)(pollfd*, nfds_t, int)>("poll");
  return function(fds, count, timeout);
}

}  // namespace lookout
