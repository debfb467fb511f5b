// The wishes of the user and the model, and how long to wait for a camera.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/core/frame_hint.h"
#include "pipeline/core/wake_event.h"
#include "platform/cameras/camera_controls.h"

namespace lookout {

inline constexpr std::int64_t kDefaultMaxPixels = 100'000'000;

struct SourceOptions {
  // By the user.
  std::optional<int> width;         // pixels
  std::optional<int> height;        // pixels
  std::optional<double> framerate;  // frames a second
  CameraControls controls;          // of CSI cameras
  // By the model: the smallest picture that it can use in full. Decides where the user does not.
  int needed_width = 224;
  int needed_height = 224;
  FrameHint* frame_hint = nullptr;             // outlives the source; null: there is none
  std::chrono::milliseconds give_up_after{0};  // after the loss of a camera; 0: never
  bool wait = false;        // for a camera that is absent at the start, which is an error otherwise
  bool live = false;        // of a stream, the newest frame wins
  bool recursive = false;   // enter the folders of a folder
  std::string credentials;  // of a network camera, a file with USER:PASSWORD; empty: none
  bool rtsp_udp = false;    // the packets of RTSP come by UDP, else by TCP
  std::int64_t max_pixels = kDefaultMaxPixels;  // of a picture, or of a frame of a video
  // By the run: ends the waits of a source without a camera; null: nothing does. Outlives the
  // source.
  const WakeEvent* wake = nullptr;
};

}  // namespace lookout
