// Where the frame loop puts what is new, and the thread "mqtt" finds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/camera_status.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/result.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct MqttResult {
  Result result;
  std::string origin;
};

// What the thread "mqtt" wants of a watch. Each is for one frame, whose result or picture the frame
// loop then puts into the slots.
struct MqttWants {
  std::atomic<bool> result = false;             // of the next frame
  std::atomic<bool> picture = false;            // of the next frame
  std::atomic<bool> picture_of_change = false;  // of the next change
};

// Empty: the only one, without a name.
inline std::string_view mqtt_watch_name(const WatchInfoPtr& watch) {
  if (!watch) return {};
  return watch->name;
}

// A watch of the run. One that stays keeps its wants.
struct MqttWatching {
  Watching watching;
  std::shared_ptr<MqttWants> wants;

  std::string_view name() const { return mqtt_watch_name(watching.watch); }
};

// What is new of a watch. Each member holds the newest element since the last take(); empty: there
// was none.
struct MqttWatchNews {
  std::string watch;                 // its name
  std::optional<MqttResult> change;  // the newest result that changed the state
  std::uint64_t changes = 0;         // how many there were
  std::optional<MqttResult> result;  // the one that was wanted
};

struct MqttPicture {
  cv::Mat bgr;                       // a copy, as the source delivered it
  std::vector<std::string> watches;  // that wanted one since the last take()
  bool asked = false;                // somebody did by a command, of no watch
};

// What is new in a run.
struct MqttNews {
  std::optional<std::vector<MqttWatching>> watches;
  std::vector<MqttWatchNews> of_watches;  // at most one of each that is watched
  std::optional<MqttPicture> picture;     // one, of the newest frame of which one was wanted
  std::optional<StatsSnapshot> stats;
  std::optional<CameraStatus> status;
};

// put() is called by the frame loop, all else by one other thread. A frame that changes nothing and
// that nobody wants costs three loads. What waits is bounded: a change and a result of each watch,
// and one picture for all of them.
class MqttSlots {
 public:
  // `pictures`: the first change of each watch comes with one.
  explicit MqttSlots(bool pictures = true) : pictures_(pictures) {}

  // `wake` is called by the frame loop when there is news. To be set before the first put().
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  // All that is watched from now on: news of others is forgotten.
  void put(const WatchList& watches) EXCLUDES(mutex_);
  // Of a watch of the list; that of another one is ignored.
  void put(const Result& result, const Frame& frame) EXCLUDES(mutex_);
  void put(const StatsSnapshot& stats) EXCLUDES(mutex_);
  void put(const CameraStatus& status) EXCLUDES(mutex_);

  MqttNews take() EXCLUDES(mutex_);

  // The picture of the next frame, of whatever watch.
  void ask_for_picture() { picture_asked_ = true; }

 private:
  MqttWatchNews& news_of(std::string_view watch) REQUIRES(mutex_);
  // `watch`: its name, if it wanted the picture.
  void put_picture(cv::Mat bgr, const std::string_view* watch, bool asked) REQUIRES(mutex_);

  const bool pictures_;
  std::function<void()> wake_;
  std::vector<MqttWatching> watches_;  // of the frame loop
  std::atomic<bool> picture_asked_ = false;
  Mutex mutex_;
  MqttNews news_ GUARDED_BY(mutex_);
};

}  // namespace lookout
