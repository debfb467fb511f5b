#include "app/collect/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <system_error>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/reporters/snapshot_folder.h"
#include "platform/sources/open_source.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kWait{100};  // until the stop flag is looked at
constexpr int kSmall = 64;                       // pixels a side
constexpr double kSameLight = 1;                 // mean difference, levels of 255
constexpr double kSameThings = 6;                // largest difference

fs::path make_folder(const CollectOptions& options) {
  std::error_code error;
  fs::create_directory(options.folder, error);
  if (error) {
    throw Error(error == std::errc::permission_denied ? ErrorKind::kPermission : ErrorKind::kOutput,
                fmt::format("folder {} cannot be made: {}", options.folder, error.message()));
  }
  return fs::path(options.folder) / options.label;
}

// The time of a frame, from any beginning.
Clock::time_point time_of(const Frame& frame) {
  return frame.media_time ? Clock::time_point(*frame.media_time) : frame.captured;
}

class Collection {
 public:
  Collection(const CollectOptions& options, const Source& source)
      : options_(options),
        folder_(make_folder(options),
                options.camera.name.empty() ? source.info().name : options.camera.name,
                SnapshotFolder::kNoLimit) {}

  void take(const Frame& frame) {
    const auto time = time_of(frame);
    if (last_ && time - *last_ < options_.every) return;
    last_ = time;
    if (!options_.keep_similar && similarity_.is_similar(frame.bgr)) {
      ++similar_;
      return;
    }
    folder_.write(frame.bgr, options_.label, next_stamp(frame));
    ++written_;
    report_progress();
  }

  void log_counts() const {
    log_info("{} picture{} of {} written{}", written_, written_ == 1 ? "" : "s", options_.label,
             similar_ == 0 ? ""
                           : fmt::format(", {} left out that looked like the one before "
                                         "(--keep-similar keeps them)",
                                         similar_));
  }

 private:
  // The time of capture; of a video, its time in it after the start. Names have milliseconds, so
  // that no two pictures have the same.
  std::chrono::system_clock::time_point next_stamp(const Frame& frame) {
    using std::chrono::system_clock;
    const auto since =
        frame.media_time ? Clock::duration(*frame.media_time) : frame.captured - Clock::now();
    const auto time = (frame.media_time ? start_ : system_clock::now()) +
                      std::chrono::duration_cast<system_clock::duration>(since);
    stamp_ = std::max(time, stamp_ + std::chrono::milliseconds(1));
    return stamp_;
  }

  void report_progress() {
    constexpr std::chrono::seconds kInterval{5};
    const auto now = Clock::now();
    if (now - reported_ < kInterval) return;
    reported_ = now;
    log_info("{} written, {} left out", written_, similar_);
  }

  const CollectOptions& options_;
  SnapshotFolder folder_;
  Similarity similarity_;
  std::optional<Clock::time_point> last_;
  const std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
  std::chrono::system_clock::time_point stamp_;
  Clock::time_point reported_ = Clock::now();
  std::uint64_t written_ = 0;
  std::uint64_t similar_ = 0;
};

}  // namespace

bool Similarity::is_similar(const cv::Mat& bgr) {
  cv::Mat small;
  cv::resize(bgr, small, {kSmall, kSmall}, 0, 0, cv::INTER_AREA);
  cv::cvtColor(small, small, cv::COLOR_BGR2GRAY);
  if (!last_.empty()) {
    cv::Mat difference;
    cv::absdiff(small, last_, difference);
    double largest = 0;
    cv::minMaxLoc(difference, nullptr, &largest);
    if (largest <= kSameThings && cv::mean(difference)[0] <= kSameLight) return true;
  }
  last_ = small;
  return false;
}

void collect(const CollectOptions& options, const std::atomic<bool>& stop) {
  const auto source = open_source(options.camera.source, options.camera.source_options);
  if (source->online()) log_info("source: {}", source->info().description);
  Collection collection(options, *source);
  const auto start = Clock::now();
  const auto timeout = options.camera.timeout;
  Frame frame;
  while (!stop && (timeout.count() == 0 || Clock::now() - start < timeout)) {
    const ReadStatus status = source->read(frame, kWait);
    if (status == ReadStatus::kEnd) break;
    if (status == ReadStatus::kFrame) collection.take(frame);
  }
  collection.log_counts();
}

}  // namespace lookout
