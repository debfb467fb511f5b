// The newest result, picture, statistics and camera status of a run, for another thread to look at.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/result.h"
#include "pipeline/results/format.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "platform/system/wall_moment.h"

namespace lookout {

struct LivePicture {
  std::string jpeg;  // as the camera sent it; empty: `bgr` is there instead
  cv::Mat bgr;       // a copy
  std::uint64_t sequence = 0;
  std::chrono::system_clock::time_point time;
};

struct LiveResult {
  Result result;
  std::string origin;
  Clock::time_point ready;
};

// What is known of a watch.
struct LiveWatch {
  WatchInfoPtr watch{};  // null: the only one, without a name
  ModelInfoPtr model{};  // of the next result, or of this one; null before the run begins
  std::optional<LiveResult> result{};  // the newest
  std::optional<LiveResult> change{};  // the last one of the state
  WallMoment since{};                  // its time
  std::uint64_t number = 0;            // of the result, among those of all watches; 0: none yet
};

// Each slot holds one element, which the next one replaces, but that of changes. put() is called by
// the frame loop, all else by one other thread.
class LiveSlots {
 public:
  static constexpr std::size_t kMaxChanges = 64;  // of the state, that are kept

  // `wake` is called by the frame loop when there is something new that somebody waits for: a
  // picture, or, while somebody listens, anything but a result that changes no state.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  // Whose results follow. A watch that was there before keeps what is known of it.
  void put(const WatchList& watches) EXCLUDES(mutex_);
  void put(const Result& result, const Frame& frame) EXCLUDES(mutex_);
  void put(const StatsSnapshot& stats) EXCLUDES(mutex_);
  void put(const CameraStatus& status) EXCLUDES(mutex_);

  // The next frame is copied, once; or its JPEG is, if the camera sends them and they are wanted.
  void want_picture() { picture_wanted_ = true; }
  void want_jpegs(bool wanted) { jpegs_wanted_ = wanted; }
  void set_listened(bool listened) { listened_ = listened; }

  // The picture that was wanted, once.
  std::optional<LivePicture> take_picture() EXCLUDES(mutex_);
  // In the order of the configuration, at least one.
  std::vector<LiveWatch> watches() const EXCLUDES(mutex_);
  // The same without what is known of them.
  WatchList list() const EXCLUDES(mutex_);
  // The first one's model.
  ModelInfoPtr model() const EXCLUDES(mutex_);
  // When the newest result of all came; empty before the first one.
  std::optional<Clock::time_point> last_ready() const EXCLUDES(mutex_);
  // The changes of the state from number `begin`, counted from 0, to before `end`, as far as they
  // are kept.
  std::vector<LiveResult> changes(std::uint64_t begin, std::uint64_t end) const EXCLUDES(mutex_);
  std::optional<StatsSnapshot> stats() const EXCLUDES(mutex_);
  CameraStatus status() const EXCLUDES(mutex_);
  // How many results, changes of the state, statistics, changes of the camera and lists of named
  // watches there were. That the last one has gone is such a list, too.
  struct Counts {
    std::uint64_t results = 0;
    std::uint64_t changes = 0;
    std::uint64_t stats = 0;
    std::uint64_t statuses = 0;
    std::uint64_t lists = 0;
  };
  Counts counts() const EXCLUDES(mutex_);

 private:
  void wake() const {
    if (wake_) wake_();
  }

  std::function<void()> wake_;
  std::atomic<bool> picture_wanted_ = false;
  std::atomic<bool> jpegs_wanted_ = true;
  std::atomic<bool> listened_ = false;
  mutable Mutex mutex_;
  std::vector<LiveWatch> watches_ GUARDED_BY(mutex_) = std::vector<LiveWatch>(1);
  Clock::time_point ready_ GUARDED_BY(mutex_);                      // of the newest result of all
  std::array<LiveResult, kMaxChanges> changes_ GUARDED_BY(mutex_);  // the n-th at n % kMaxChanges
  StatsSnapshot stats_ GUARDED_BY(mutex_);
  CameraStatus status_ GUARDED_BY(mutex_){true, {}};
  WallMoment status_since_ GUARDED_BY(mutex_){std::chrono::system_clock::now()};
  std::optional<LivePicture> picture_ GUARDED_BY(mutex_);
  Counts counts_ GUARDED_BY(mutex_);
};

// JSON lines of what is new, without newlines; empty when there is none yet. Used by one thread.
class LiveLines {
 public:
  LiveLines(const LiveSlots& slots, const RunInfo& info);

  std::string classification(const LiveResult& result);
  std::string state(const LiveResult& change);
  std::string stats();
  std::string status();
  // `{"schema":1,"type":"watches","camera":...,"watches":[...]}`; the list is empty without names.
  std::string watches() const;
  // `{"camera":...,"about":...,"result":...,"state":...,"stats":...,"status":...}`; null for what
  // there is not. `about`: `version` of the program, `source`, the model's `region` and
  // `archive`, and `failed_models`, see ModelInfo::failed. With named watches region and archive
  // are of the first one, and there is `watches`.
  std::string all();

 private:
  std::string about(const std::vector<LiveWatch>& watches) const;
  // `[{"name":...,"title":...,"roi":[...],"model":...,"state":...,"score":...,"since":...},...]`
  std::string watch_array(const std::vector<LiveWatch>& watches) const;

  const LiveSlots& slots_;
  const std::string camera_;  // as JSON
  const std::string source_;  // as JSON
  const std::string roi_;     // as JSON; empty: not known
  JsonFormat format_;
};

}  // namespace lookout
