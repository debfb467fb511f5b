#include "platform/reporters/snapshot_reporter.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "pipeline/thread.h"

namespace lookout {

SnapshotReporter::SnapshotReporter(SnapshotFolder folder, std::chrono::milliseconds cooldown)
    : folder_(std::move(folder)),
      cooldown_(cooldown),
      thread_(start_thread("snapshots", [this] { work(); })) {}

SnapshotReporter::~SnapshotReporter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (written_ + failures_ + left_out_ == 0) return;
  spdlog::info("--snapshot-on-change: {} written, {} failed, {} left out by the cool-down",
               written_, failures_, left_out_);
}

std::future<std::filesystem::path> SnapshotReporter::take(const Result& result,
                                                          const Frame& frame) {
  if (!result.state_changed) return {};
  {
    const std::lock_guard lock(mutex_);
    if (busy_ || (last_ && frame.captured - *last_ < cooldown_)) {
      ++left_out_;
      return {};
    }
  }
  frame.bgr.copyTo(picture_.bgr);
  picture_.label = result.state.name();
  picture_.time = result.timestamp;
  picture_.captured = frame.captured;
  picture_.path = {};
  auto path = picture_.path.get_future();
  {
    const std::lock_guard lock(mutex_);
    busy_ = true;
  }
  wake_.notify_one();
  return path;
}

// Returns false when there will be none.
bool SnapshotReporter::wait_for_picture() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return busy_ || ending_; });
  return busy_;
}

// Returns its path, or an empty one.
std::filesystem::path SnapshotReporter::write_picture() {
  std::filesystem::path path;
  try {
    path = folder_.write(picture_.bgr, picture_.label, picture_.time);
    ++written_;
  } catch (const std::exception& error) {
    ++failures_;
    if (said_.insert(error.what()).second) {
      spdlog::warn("--snapshot-on-change {}; classification goes on, and this is said once",
                   error.what());
    }
  }
  return path;
}

void SnapshotReporter::work() {
  while (wait_for_picture()) {
    std::filesystem::path path = write_picture();
    std::promise<std::filesystem::path> done = std::move(picture_.path);
    {
      const std::lock_guard lock(mutex_);
      if (!path.empty()) last_ = picture_.captured;
      busy_ = false;
    }
    done.set_value(std::move(path));
  }
}

}  // namespace lookout
