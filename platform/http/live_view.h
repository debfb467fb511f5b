// The picture for those who look at it: the camera's own JPEG, when nothing is turned, else one
// that is encoded once for all of them, and not for nobody.
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <set>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/model/preprocessor.h"
#include "platform/http/http_message.h"
#include "platform/http/live_slots.h"

namespace lookout {

struct LiveViewOptions {
  View view;  // pictures are turned and mirrored, but not cut
  std::size_t max_viewers = 8;
  int quality = 80;  // of JPEG
};

// Used by one thread, but for the slots. A new picture is taken when somebody looks, at most one in
// kInterval. Viewers get the newest when they have received the one before, and the last one again
// after kRepeat: a browser shows a picture when the next one begins. While the camera is away, they
// get a picture that says so.
class LiveView {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::chrono::seconds kRepeat{1};
  static constexpr std::chrono::seconds kSnapshotWait{2};

  // `slots` outlives this, and this its streams.
  LiveView(LiveSlots& slots, const LiveViewOptions& options);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // A stream of pictures; null when there are as many viewers as allowed. `max_fps`: 0: no limit of
  // its own. `advance_headers`: the head of the next picture follows each one at once, so without
  // its length.
  std::unique_ptr<HttpStream> open(double max_fps, bool advance_headers, Clock::time_point now);
  static std::string stream_type();  // the media type

  // Answers with the next picture, with the last one when none comes within kSnapshotWait, or with
  // 503 when there is none or the camera is away.
  void snapshot(const HttpRespond& respond, Clock::time_point now);

  // Takes what is new. To be called when something came and every kInterval while is_busy().
  void advance(Clock::time_point now);

  bool is_busy() const { return !viewers_.empty() || !snapshots_.empty(); }
  std::size_t viewers() const { return viewers_.size(); }
  // Since the start: pictures that were encoded, and JPEGs of the camera; of all viewers together,
  // those that they were sent, and those that were replaced before a viewer without a limit of its
  // own was ready.
  std::uint64_t encoded() const { return encoded_; }
  std::uint64_t passed() const { return passed_; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t skipped() const { return skipped_; }

 private:
  class Viewer;
  struct Encoded {
    std::shared_ptr<const std::string> jpeg;  // null: there is none yet
    std::uint64_t sequence = 0;
    std::chrono::system_clock::time_point time;
    std::uint64_t number = 0;  // counts
    Clock::time_point made;
    bool away = false;  // it says that the camera is away
  };
  struct Snapshot {
    HttpRespond respond;
    Clock::time_point deadline;
  };

  void want_picture(Clock::time_point now);
  void set(std::string jpeg, Encoded encoded);
  void take_picture();
  void take_status();
  void answer(const HttpRespond& respond) const;
  void answer_snapshots(bool fresh);

  LiveSlots& slots_;
  const LiveViewOptions options_;
  Encoded current_;
  Clock::time_point now_;
  Clock::time_point wanted_at_;  // a picture, the last time
  std::set<Viewer*> viewers_;
  std::vector<Snapshot> snapshots_;
  bool forwards_jpegs_;  // JPEGs of the camera
  std::uint64_t encoded_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace lookout
