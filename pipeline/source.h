// Where frames come from. Implemented by cameras and files in platform/, and by fakes in tests/.
#pragma once

#include <chrono>
#include <string>

#include "pipeline/frame.h"

namespace lookout {

enum class ReadStatus {
  kFrame,    // the frame was filled
  kTimeout,  // nothing came in time; try again
  kSkipped,  // one element of the input could not be read; the next one may be
  kEnd,      // there will be no more
};

struct SourceInfo {
  std::string name;         // short, for people and for results: "video0", "holiday"
  std::string description;  // one line: what was opened, with the size, format and rate granted
  // A live source goes on whether or not anybody reads: its newest frame wins and frames that
  // nobody took are dropped. From other sources every frame is classified, in order.
  bool live = false;
  double fps = 0;        // frames a second that a camera granted; 0: unknown
  double asked_fps = 0;  // that it was asked for; 0: none
  // A sentence's end when a camera granted less than it was asked for, with both figures: "asked
  // for 1280x720 at 30 fps, the camera gives 1280x720 at 10 fps".
  std::string shortfall{};
};

// Opened by its constructor and closed by its destructor. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  virtual const SourceInfo& info() const = 0;

  // Waits at most about `timeout` for the next frame and writes it over `frame`: pixels,
  // `captured`, `capture_duration` and `origin`; `sequence` is left to the caller. On any status
  // but kFrame the content of `frame` is unspecified. Throws Error(kDeviceLost) when the device is
  // gone, Error(kNoInput) when a file ends too early.
  virtual ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) = 0;

  // False while a camera that may come back is away. Called by the thread that reads.
  virtual bool online() const { return true; }
};

}  // namespace lookout
