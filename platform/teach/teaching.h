// What is taught while a run watches: its library, and the button that is held.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/core/mutex.h"
#include "platform/pictures/near_copies.h"
#include "platform/teach/hold_lease.h"
#include "platform/teach/teach_library.h"
#include "platform/teach/teach_trainer.h"

namespace lookout {

// One moment on two clocks.
struct TeachNow {
  TeachTime wall;                    // may be set
  std::chrono::milliseconds uptime;  // never set
};

struct HoldStatus {
  std::int64_t number = 0;
  std::string watch;
  std::string label;
  bool held = false;
  std::size_t kept = 0;
  std::size_t similar = 0;                // near-copies, which were not kept
  std::optional<TeachProblem> problem{};  // why the last picture was not kept
  std::string why{};                      // its sentence
};

// A picture that nobody asked for, of which people may tell the label.
struct FoundPicture {
  std::string watch;
  std::string guess;  // as NewPicture::guess; a class that the watch no longer has is none
  PictureOrigin origin = PictureOrigin::kUnsure;
};

// What somebody says of a change of a watch's state: the label that it should have had.
struct TaughtEvent {
  std::string watch;
  std::string label;  // a class, or kNoneOfThem
  TeachTime time;     // of the change, by which it is known again
  std::string jpeg;   // the whole picture, turned as people see it
};

struct TaughtEventPicture {
  TaughtPicture picture;
  bool is_new = false;  // false: the event had one, which now has the label
};

// For any threads. What reads or writes the disk may take long, and lets the frame loop go on.
// Functions throw TeachError, and SqliteError for damage.
class Teaching {
 public:
  // So many pictures of a hold are kept, however similar, so that a class of a scene in which
  // nothing moves has enough.
  static constexpr std::size_t kAlwaysKept = 5;
  static constexpr int kMaxSide = 1920;  // pixels, of the longer side of a picture that is kept
  static constexpr int kQuality = 90;

  static constexpr std::chrono::seconds kLooked{3};  // after somebody asked
  static constexpr std::chrono::milliseconds kLookEach{500};

  // `trainer`: looks at the camera's pictures; null: nobody does.
  explicit Teaching(std::unique_ptr<TeachLibrary> library,
                    std::shared_ptr<TeachTrainer> trainer = nullptr)
      : library_(std::move(library)), trainer_(std::move(trainer)) {}

  // Calls `use` with the library, whose other users wait meanwhile.
  template <typename Use>
  auto with_library(Use use) EXCLUDES(library_mutex_) {
    const MutexLock lock(library_mutex_);
    return use(*library_);
  }

  // `label`: a class, or kNoneOfThem.
  HoldStatus begin_hold(const std::string& watch, const std::string& label, const TeachNow& now);
  // To be called each half second; HoldLease::kLease after the last call the hold ends.
  HoldStatus renew_hold(std::int64_t number, const TeachNow& now);
  HoldStatus release_hold(std::int64_t number, const TeachNow& now);
  // Of the last hold alone.
  HoldStatus hold(std::int64_t number, const TeachNow& now) const;
  // Nothing: there was none since the start.
  std::optional<HoldStatus> last_hold(const TeachNow& now) const EXCLUDES(hold_mutex_);

  // For kLooked after each call pictures of the camera are looked at for this watch.
  void ask_look(const std::string& watch, const TeachNow& now) EXCLUDES(hold_mutex_);

  // The frame loop's: none of these waits for the disk.
  //
  // The hold that the frame of this moment is for.
  std::optional<Hold> take(std::chrono::milliseconds uptime) EXCLUDES(hold_mutex_);
  // The watch for which the frame of this moment is to be looked at. While a button is held, its
  // pictures are.
  std::optional<std::string> take_look(std::chrono::milliseconds uptime) EXCLUDES(hold_mutex_);
  // While the camera is away, nothing can be held.
  void set_online(bool online) EXCLUDES(hold_mutex_);

  // Keeps the picture of an event, once: told again, it gets another label, and comes back if it
  // was thrown away. kNoClass: the label is none of the watch; kDamagedPicture.
  TaughtEventPicture add_event(const TaughtEvent& event, const TeachTime& now)
      EXCLUDES(library_mutex_);

  // Removes what was thrown away long ago, and what the trainer keeps of it.
  void purge(const TeachTime& now) EXCLUDES(library_mutex_);

  // Keeps a picture, unless it is a near-copy of one before. `bgr`: turned as people see it.
  void add(const Hold& hold, const cv::Mat& bgr, const TeachTime& time);
  // Keeps a picture without a label. `bgr`: as above.
  void add_found(const FoundPicture& found, const cv::Mat& bgr, const TeachTime& time)
      EXCLUDES(library_mutex_);

  // Has the trainer look at a picture. `bgr`: as in add(). What fails is no matter.
  void look(const std::string& watch, const cv::Mat& bgr) EXCLUDES(library_mutex_);

 private:
  HoldStatus status(const TeachNow& now) const REQUIRES(hold_mutex_);
  void check(std::int64_t number) const REQUIRES(hold_mutex_);
  bool is_wanted(const Hold& hold, const cv::Mat& bgr);

  Mutex library_mutex_;
  const std::unique_ptr<TeachLibrary> library_ GUARDED_BY(library_mutex_);
  const std::shared_ptr<TeachTrainer> trainer_;

  Mutex add_mutex_;  // held before the others
  std::int64_t near_copies_of_ GUARDED_BY(add_mutex_) = 0;
  NearCopies near_copies_ GUARDED_BY(add_mutex_);

  mutable Mutex hold_mutex_;
  HoldLease lease_ GUARDED_BY(hold_mutex_);
  HoldStatus counts_ GUARDED_BY(hold_mutex_);  // of the last hold
  bool online_ GUARDED_BY(hold_mutex_) = true;
  std::string looked_ GUARDED_BY(hold_mutex_);  // the watch that somebody asked about
  std::chrono::milliseconds look_until_ GUARDED_BY(hold_mutex_){};
  std::chrono::milliseconds look_due_ GUARDED_BY(hold_mutex_){};
};

}  // namespace lookout
