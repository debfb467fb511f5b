// Where frames come from. Implemented by cameras and files in platform/, and by fakes in tests/.
#pragma once

#include <chrono>
#include <string>

#include "pipeline/core/frame.h"

namespace lookout {

enum class ReadStatus {
  kFrame,    // the frame was filled
  kTimeout,  // no frame came in time; try again
  kSkipped,  // one frame or file could not be read; try the next one
  kDropped,  // a frame was dropped for a newer one, as a live source does; try the next one
  kEnd,      // the source has no more frames
};

struct SourceInfo {
  std::string name;         // short, for results and messages: "video0", "holiday"
  std::string description;  // one line: the device or file with its size, format and rate
  // A live source does not wait for its reader: the newest frame wins, older ones are dropped. Of
  // any other source every frame is classified, in order.
  bool live = false;
  double fps = 0;        // frames per second that the camera granted; 0: unknown
  double asked_fps = 0;  // frames per second that it was asked for; 0: none
  // The pictures are those of a sensor, whose noise makes each one differ from the last.
  bool has_sensor = false;
  // The end of a sentence, set when a camera granted less than it was asked for: "asked for
  // 1280x720 at 30 fps, the camera gives 1280x720 at 10 fps".
  std::string shortfall{};
};

// Opened by its constructor and closed by its destructor. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  virtual const SourceInfo& info() const = 0;

  // Waits at most about `timeout` for the next frame and writes it over `frame`: pixels or the
  // camera's `picture`, `captured`, `capture_duration`, `origin`, and of a video `media_time`; the
  // caller sets `sequence`. Unless it returns kFrame, the content of `frame` is unspecified. Throws
  // Error(kDeviceLost) when the device is gone, Error(kNoInput) when a file ends too early.
  virtual ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) = 0;

  // False while a camera is away and may come back. Called by the thread that reads.
  virtual bool online() const { return true; }

  // True while no frame can come soon: a read() may then be given seconds, since a WakeEvent, with
  // which the source was made, ends it. Called by the thread that reads.
  virtual bool idle() const { return false; }
};

}  // namespace lookout
