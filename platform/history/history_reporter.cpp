#include "platform/history/history_reporter.h"

#include <algorithm>
#include <cstddef>
#include <opencv2/imgproc.hpp>
#include <utility>
#include <vector>

#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/run/scheduling.h"
#include "platform/pictures/encode_picture.h"
#include "platform/system/since_boot.h"

namespace lookout {
namespace {

constexpr int kHistoryQuality = 85;
// On their way to the thread, which may wait for a slow card.
constexpr std::size_t kMaxPicturesOnTheWay = 4;
constexpr std::size_t kMaxChangesOnTheWay = 1000;

HistoryTime to_history_time(std::chrono::system_clock::time_point time) {
  return std::chrono::floor<std::chrono::milliseconds>(time);
}

// `side`: HistoryOptions::picture_side.
std::string small_jpeg(const cv::Mat& bgr, const View& view, int side) {
  const double scale = std::min(1.0, static_cast<double>(side) / std::max(bgr.cols, bgr.rows));
  cv::Mat small;
  cv::resize(bgr, small, {}, scale, scale, cv::INTER_AREA);
  return encode_jpeg(turned(small, view), kHistoryQuality);
}

}  // namespace

// What the frame loop puts down and the thread takes up.
class HistoryReporter::Desk {
 public:
  struct Note {
    HistoryChange change;
    HistoryNow now;  // when it was put down
    cv::Mat bgr;     // empty: there is no picture
  };

  Desk(HistoryOptions options, View view)
      : view_(view),
        picture_side_(options.picture_side),
        counters_(options.counters),
        recorder_(std::move(options)) {}

  bool has_room_for_picture() {
    const MutexLock lock(mutex_);
    return pictures_ < kMaxPicturesOnTheWay;
  }

  void put(Note note) {
    const MutexLock lock(mutex_);
    if (notes_.size() >= kMaxChangesOnTheWay) {
      ++lost_;
      return;
    }
    pictures_ += note.bgr.empty() ? 0 : 1;
    notes_.push_back(std::move(note));
  }

  // Somebody reads: the next work writes what waits.
  void note_reader() {
    const MutexLock lock(mutex_);
    read_ = true;
  }

  // The thread's work.
  void work(Turn& turn, const AsyncWorker<Turn>::Task& task) {
    if (!std::exchange(lowered_, true)) lower_this_thread_priority();
    std::vector<Note> notes;
    {
      const MutexLock lock(mutex_);
      notes.swap(notes_);
      pictures_ = 0;
      turn.now.read = std::exchange(read_, false);
    }
    // Each by the clock that dated it, which may be set before the next one.
    for (Note& note : notes) {
      recorder_.advance(note.now);
      std::function<std::string()> jpeg;
      if (!note.bgr.empty()) jpeg = [&] { return small_jpeg(note.bgr, view_, picture_side_); };
      recorder_.add(std::move(note.change), jpeg);
      note.bgr.release();
      if (note.now.uptime > turn.now.uptime) {  // it was put down after the turn
        note.now.read = turn.now.read;
        turn.now = note.now;
      }
    }
    recorder_.advance(turn.now);
    if (turn.last) recorder_.finish(turn.now);
    publish_counts();
    if (!turn.last) return;
    if (!task.expired()) log_counts();  // after the deadline the log may be gone
  }

 private:
  HistoryCounts counts() {
    HistoryCounts counts = recorder_.counts();
    const MutexLock lock(mutex_);
    counts.lost += lost_;
    return counts;
  }

  void publish_counts() {
    if (!counters_) return;
    const HistoryCounts counts = this->counts();
    counters_->written = counts.written;
    counters_->lost = counts.lost;
    counters_->pictures = counts.pictures;
    counters_->without = counts.without;
    counters_->set_aside = counts.set_aside;
  }

  void log_counts() {
    const HistoryCounts counts = this->counts();
    if (counts.lost > 0) {
      log_warn("history: {} changes were lost, which could not be written", counts.lost);
    }
    if (counts.written + counts.without == 0) return;
    log_info("history: {} changes and {} pictures were written, {} changes without their picture",
             counts.written, counts.pictures, counts.without);
  }

  const View view_;
  const int picture_side_;
  const std::shared_ptr<HistoryCounters> counters_;  // null: nobody looks
  bool lowered_ = false;                             // the thread's own, as the recorder is
  HistoryRecorder recorder_;
  Mutex mutex_;
  std::vector<Note> notes_ GUARDED_BY(mutex_);
  bool read_ GUARDED_BY(mutex_) = false;
  std::size_t pictures_ GUARDED_BY(mutex_) = 0;
  std::uint64_t lost_ GUARDED_BY(mutex_) = 0;
};

HistoryReporter::HistoryReporter(HistoryOptions options, const View& view, ReadClocks clocks,
                                 std::chrono::seconds patience)
    : pictures_(options.pictures_a_day > 0),
      readers_(options.readers),
      view_(view),
      clocks_(std::move(clocks)),
      patience_(patience),
      desk_(std::make_shared<Desk>(std::move(options), view)),
      worker_("history", [desk = desk_](Turn& turn, const auto& task) { desk->work(turn, task); }) {
  wake(clocks_(), HistoryRecorder::kBatch);
}

HistoryReporter::~HistoryReporter() {
  const HistoryNow now = clocks_();
  end_states(now, now.wall, [](const std::string&) { return true; });
  worker_.put({now, /*last=*/true});
  if (worker_.end_by(Clock::now() + patience_)) return;
  log_warn("history: the last changes are not written: the storage is too slow");
}

HistoryNow HistoryReporter::read_clocks() {
  return {to_history_time(std::chrono::system_clock::now()),
          std::chrono::floor<std::chrono::milliseconds>(since_boot())};
}

// The thread takes up what there is, now and when that is to be written.
void HistoryReporter::wake(const HistoryNow& now, std::chrono::milliseconds again) {
  worker_.put({now});
  due_ = now.uptime + again;
}

void HistoryReporter::report(const Result& result, const Frame& frame) {
  if (!result.state_changed) return;
  HistoryChange change;
  change.at = to_history_time(result.timestamp);
  change.state = std::string(result.state.name());
  if (result.state.kind == SceneState::Kind::kClass) change.score = result.state.prediction.score;
  if (result.watch) change.watch = result.watch->name;
  change.model = result.model->name;
  known_[change.watch] = change.model;
  cv::Mat bgr;
  if (pictures_ && desk_->has_room_for_picture()) bgr = whole_picture(frame).clone();
  const HistoryNow now = clocks_();
  desk_->put({std::move(change), now, std::move(bgr)});
  wake(now, HistoryRecorder::kBatch);
}

void HistoryReporter::end_states(const HistoryNow& now, HistoryTime at,
                                 const std::function<bool(const std::string& watch)>& ends) {
  for (auto known = known_.begin(); known != known_.end();) {
    if (!ends(known->first)) {
      ++known;
      continue;
    }
    HistoryChange end;
    end.at = at;
    end.watch = known->first;
    end.model = known->second;
    desk_->put({std::move(end), now, {}});
    known = known_.erase(known);
  }
}

void HistoryReporter::watching(const WatchList& watches) {
  const auto is_gone = [&watches](const std::string& name) {
    return std::none_of(watches.begin(), watches.end(), [&name](const Watching& each) {
      return (each.watch ? each.watch->name : "") == name;
    });
  };
  const HistoryNow now = clocks_();
  const std::size_t known = known_.size();
  end_states(now, now.wall, is_gone);
  if (known_.size() < known) wake(now, HistoryRecorder::kBatch);
}

void HistoryReporter::status(const CameraStatus& status) {
  if (status.online || known_.empty()) return;
  const HistoryNow now = clocks_();
  end_states(now, to_history_time(status.since), [](const std::string&) { return true; });
  wake(now, HistoryRecorder::kBatch);
}

void HistoryReporter::poll() {
  const HistoryNow now = clocks_();
  if (now.uptime >= due_) {
    wake(now, HistoryRecorder::kUpkeep);
  } else if (readers_ && readers_->take()) {
    desk_->note_reader();
    worker_.put({now});
  }
}

}  // namespace lookout
