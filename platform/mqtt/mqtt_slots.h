// What is new in a run, for the thread "mqtt".
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/result.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct MqttResult {
  Result result;
  std::string origin;
};

// Each member holds the newest element since the last take(); empty: there was none.
struct MqttNews {
  std::optional<MqttResult> change;  // the newest result that changed the state
  std::uint64_t changes = 0;         // how many there were
  std::optional<MqttResult> result;  // the one that was wanted
  std::optional<cv::Mat> picture;    // a copy, B G R, as the source delivered it
  std::optional<StatsSnapshot> stats;
  std::optional<CameraStatus> status;
};

// put() is called by the frame loop, all else by one other thread. A frame that changes nothing and
// that nobody wants costs three loads.
class MqttSlots {
 public:
  // `wake` is called by the frame loop when there is news. To be set before the first put().
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  void put(const Result& result, const Frame& frame) EXCLUDES(mutex_);
  void put(const StatsSnapshot& stats) EXCLUDES(mutex_);
  void put(const CameraStatus& status) EXCLUDES(mutex_);

  MqttNews take() EXCLUDES(mutex_);

  // Each is for one frame: the next one; the next one's picture; the picture of the next change.
  void want_result() { result_wanted_ = true; }
  void want_picture() { picture_wanted_ = true; }
  void want_picture_of_change() { change_picture_wanted_ = true; }

 private:
  std::function<void()> wake_;
  std::atomic<bool> result_wanted_ = false;
  std::atomic<bool> picture_wanted_ = false;
  std::atomic<bool> change_picture_wanted_ = false;
  Mutex mutex_;
  MqttNews news_ GUARDED_BY(mutex_);
};

}  // namespace lookout
