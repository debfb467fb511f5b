// Saves pictures of changes of the state, and of frames that the model is unsure of, in a folder of
// limited size.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"

namespace lookout {

// The watches of a camera whose pictures share a folder and a limit. Any thread.
class SnapshotWatches {
 public:
  // The names of all that there are. Empty: the camera has one without a name.
  void set(const std::vector<std::string>& names) EXCLUDES(mutex_);

 private:
  friend class SnapshotFolder;

  bool has(const std::string& watch) const EXCLUDES(mutex_);

  mutable Mutex mutex_;
  std::vector<std::string> files_ GUARDED_BY(mutex_){""};  // as names of files have them
  Mutex writing_;  // held while room is made for a picture, and until it is written
};

// The watch that a SnapshotFolder is for.
struct SnapshotWatch {
  std::string name{};                         // empty: the camera's only one
  std::shared_ptr<SnapshotWatches> all = {};  // that share the limit; null: it is the only one
};

// Writes pictures named CAMERA_20271122T101500.123Z_LABEL.jpg (UTC), of a watch
// CAMERA.WATCH_2027... Other characters than letters, digits, '.' and '-' of the names and the
// label become '-'. A name that has such characters, begins with '.' or '-' or is long is followed
// by ~ and a hash of the whole name, so that no two cameras share their pictures:
// front-door~1a2b3c4d_2027... A picture is complete or absent. Files with other names, such as
// another camera's, are neither changed nor counted; but a camera called front.gate is the watch
// gate of a camera called front. Used by one thread at a time.
//
// With a limit, the order in which pictures of a watch were written can be told from their names,
// also when the clock was set back in between: the later ones end with a higher number,
// ..._LABEL_1.jpg, where the first have none.
//
// The group of a folder that it can read can read the pictures, too, whatever the umask.
class SnapshotFolder {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // `limit`: the most bytes that all pictures of this camera may take, those of all its watches
  // together, also of watches that it has no more. A folder that does not exist is created; its
  // parent must exist. Throws Error(kPermission) or Error(kOutput) when the folder cannot be
  // created or written into, unless its disk is full or read-only: write() then tries.
  SnapshotFolder(std::filesystem::path folder, const std::string& camera, std::uint64_t limit,
                 SnapshotWatch watch = {});

  // Removes pictures until there is room, then writes: those of watches that there are no more, and
  // then those of the watch that takes the most; of each the ones that were written first. A
  // picture of the same millisecond as the one before is called by the next millisecond: its name
  // is its own. Returns the picture's path. Throws Error(kOutput) when the system refuses or the
  // picture alone is larger than the limit.
  std::filesystem::path write(const cv::Mat& bgr, std::string_view label,
                              std::chrono::system_clock::time_point time);

 private:
  struct Picture {
    std::uint64_t era = 0;  // in one era, dates rise
    std::string date;
    std::string name;
    std::uint64_t bytes = 0;
  };
  // Of a watch.
  struct Pictures {
    std::vector<Picture> oldest_first;
    std::uint64_t bytes = 0;
    std::size_t removed = 0;  // of the oldest
  };
  using AllPictures =
      std::map<std::string, Pictures>;  // by the watches, as names of files have them

  std::optional<std::string> watch_of(const std::string& name) const;
  AllPictures pictures() const;
  void make_room(AllPictures& all, std::uint64_t bytes) const;
  AllPictures::iterator first_to_go(AllPictures& all, std::uint64_t bytes) const;

  std::filesystem::path folder_;
  std::string camera_;  // as names of files have it
  std::string watch_;   // the same
  std::shared_ptr<SnapshotWatches> all_;
  std::uint64_t limit_;
  std::chrono::system_clock::time_point next_{};  // the earliest time for the next name
  std::vector<unsigned char> jpeg_;
};

// Throws as the constructor of SnapshotFolder does, but makes nothing, neither the folder nor a
// file.
void check_snapshot_folder(const std::filesystem::path& folder);

// Which frames are saved.
struct SnapshotTrigger {
  bool changes = true;  // of the state
  // Frames whose best score is below this, or whose best output is the model's `unknown`; nothing:
  // none of them.
  std::optional<float> unsure_below{};
  // A frame waits until the picture before it was written, at most 10 s: for sources that wait,
  // too, such as files.
  bool waits = false;
};

// Writes the frame, as the source delivered it. A frame to save is dropped while a picture is being
// written and in the cool-down after one, and counted for either reason. The cool-down is measured
// by the frames' times of capture; a picture that could not be written starts none. Pictures are
// written by a thread of this class ("snapshots"): report() copies the frame and waits only if the
// trigger says so. Each kind of failure is logged once, the counts are logged at the end.
class SnapshotReporter : public Reporter {
 public:
  // Writes a picture and returns its path, as SnapshotFolder::write().
  using Write = std::function<std::filesystem::path(const cv::Mat& bgr, std::string_view label,
                                                    std::chrono::system_clock::time_point time)>;

  SnapshotReporter(SnapshotFolder folder, std::chrono::milliseconds cooldown,
                   const SnapshotTrigger& trigger = {});
  // `write` is called by the thread, which may outlive this: it owns what it uses.
  SnapshotReporter(Write write, std::chrono::milliseconds cooldown,
                   const SnapshotTrigger& trigger = {});
  // As end_by(), in 2 s, unless that was called before.
  ~SnapshotReporter() override;
  SnapshotReporter(const SnapshotReporter&) = delete;
  SnapshotReporter& operator=(const SnapshotReporter&) = delete;

  // As report(). The future gets the picture's path when the file is complete and the next picture
  // can be taken; the path is empty when the picture could not be written. The future is not
  // valid() when no picture is taken, and broken when the end came first.
  std::future<std::filesystem::path> take(const Result& result, const Frame& frame);

  void report(const Result& result, const Frame& frame) override { take(result, frame); }

  // Writes the picture that waits, and logs the counts. A write that takes longer (storage that
  // does not answer) is left to itself AsyncWorker::kGrace after the deadline.
  void end_by(Clock::time_point deadline);

 private:
  struct Picture {
    cv::Mat bgr;
    std::string label;
    std::chrono::system_clock::time_point time;
    Clock::time_point captured;
    std::promise<std::filesystem::path> path;
  };
  class Writer;

  bool is_unsure(const Result& result) const;

  const SnapshotTrigger trigger_;
  const std::chrono::milliseconds cooldown_;
  const std::shared_ptr<Writer> writer_;  // shared with the thread, which may outlive this
  AsyncWorker<Picture> pictures_;
  std::uint64_t in_cooldown_ = 0;  // frames that were dropped
  std::uint64_t while_busy_ = 0;
  bool ended_ = false;
};

}  // namespace lookout
