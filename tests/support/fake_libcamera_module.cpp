// A module that only loads.
#include "platform/libcamera/libcamera_module.h"

const LookoutLibcamera* lookout_libcamera() {
  static const LookoutLibcamera module = [] {
    LookoutLibcamera table{};
    table.interface = LOOKOUT_LIBCAMERA_INTERFACE;
    table.version = [] { return "fake"; };
    return table;
  }();
  return &module;
}
