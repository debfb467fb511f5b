// Decodes a camera's JPEGs beside the thread that reads the camera.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <opencv2/core/types.hpp>
#include <optional>
#include <thread>

#include "pipeline/core/frame.h"
#include "pipeline/core/latest.h"
#include "platform/cameras/camera_jpeg.h"

namespace lookout {

// Whether a camera's JPEGs are decoded apart from the thread that reads the camera, which has to be
// there for the next frame. They are when decoding takes more than a third of a frame's time on
// average, and until it takes less than a sixth. A pure function of its inputs.
class DecodeLoad {
 public:
  static constexpr double kLeave = 1.0 / 3;   // of a frame's time
  static constexpr double kReturn = 1.0 / 6;  // far enough that it does not go to and fro
  static constexpr double kWeight = 1.0 / 8;  // of the newest frame in the moving average

  // `fps`: what the camera granted; 0: unknown, and the time between frames is measured.
  explicit DecodeLoad(double fps) : granted_(fps > 0 ? 1 / fps : 0) {}

  // `decoding`: the time that a frame took; `captured`: its time stamp, which grows.
  void add(Clock::duration decoding, Clock::time_point captured);
  bool apart() const { return apart_; }

 private:
  const double granted_;  // seconds a frame; 0: unknown
  double period_ = 0;     // the measured average, in seconds; 0: unknown
  double decoding_ = 0;   // average, in seconds
  std::optional<Clock::time_point> last_;
  bool apart_ = false;
};

struct JpegJob {
  CameraPicture picture;         // begun, with its bytes; decoded by JpegReader::read()
  std::optional<cv::Size> size;  // what that returned
  Clock::time_point captured;
  Clock::duration copying{};
  Clock::duration decoding{};
  std::exception_ptr error;  // what JpegReader::read() threw, as without memory; null: nothing
};

using JpegNow = std::function<Clock::time_point()>;

// Fills `size`, `decoding`, measured by `now`, and `error`.
void decode(JpegReader& reader, const JpegNow& now, JpegJob& job);

// The thread "jpeg", an ordinary one whatever the priority of the thread that starts it. The newest
// job waits for it, older ones are dropped and counted, as are those that nobody has taken when the
// next is done. Jobs are swapped: each put() or take() leaves an old one, with memory to use again.
//
// All methods are called by one thread.
class JpegThread {
 public:
  // While a job is on its way only the thread uses `reader`, which outlives this. Throws
  // Error(kPermission) when the system allows no further thread, Error(kInternal) without a free
  // descriptor.
  JpegThread(JpegReader& reader, JpegNow now);
  ~JpegThread();  // waits for the job that is being decoded
  JpegThread(const JpegThread&) = delete;
  JpegThread& operator=(const JpegThread&) = delete;

  void put(JpegJob& job);
  // Never waits. False: none is done.
  bool take(JpegJob& job);
  // A descriptor, readable when take() may return a job.
  int done_fd() const { return done_fd_; }
  // Whether no job is on its way: all were taken or dropped.
  bool idle() const { return put_ == taken_ + dropped(); }
  std::uint64_t dropped() const { return waiting_.dropped() + done_.dropped(); }

 private:
  void decode_all();

  JpegReader& reader_;
  const JpegNow now_;
  Latest<JpegJob> waiting_;
  Latest<JpegJob> done_;
  std::uint64_t put_ = 0;
  std::uint64_t taken_ = 0;
  const int done_fd_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lookout
