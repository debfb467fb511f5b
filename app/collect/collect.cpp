#include "app/collect/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "app/dataset/eval_set.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/pictures/near_copies.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/sources/open_source.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr milliseconds kWait{100};  // until the stop flag is looked at
constexpr std::chrono::seconds kBetweenReports{5};

fs::path make_folder(const CollectOptions& options) {
  if (options.label == kUnknownLabel) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--label {}: scenes that are none of the classes are called {}",
                            kUnknownLabel, kCounterExamples));
  }
  std::error_code error;
  fs::create_directory(options.folder, error);
  if (error) {
    throw Error(error == std::errc::permission_denied ? ErrorKind::kPermission : ErrorKind::kOutput,
                fmt::format("folder {} cannot be made: {}", options.folder, error.message()));
  }
  return fs::path(options.folder) / options.label;
}

// The time of capture; of a video, its time in it after `start`.
system_clock::time_point stamp_of(const Frame& frame, system_clock::time_point start) {
  const Clock::duration since =
      frame.media_time ? Clock::duration(*frame.media_time) : frame.captured - Clock::now();
  return (frame.media_time ? start : system_clock::now()) +
         std::chrono::duration_cast<system_clock::duration>(since);
}

void log_counts(const std::string& label, std::uint64_t written, std::uint64_t similar) {
  log_info("{} picture{} of {} written{}", written, written == 1 ? "" : "s", label,
           similar == 0 ? ""
                        : fmt::format(", {} left out that looked like the one before "
                                      "(--keep-similar keeps them)",
                                      similar));
}

}  // namespace

void collect(const CollectOptions& options, const std::atomic<bool>& stop) {
  const auto source = open_source(options.camera.source, options.camera.source_options);
  if (source->online()) log_info("source: {}", source->info().description);
  SnapshotFolder folder(make_folder(options),
                        options.camera.name.empty() ? source->info().name : options.camera.name,
                        SnapshotFolder::kNoLimit);
  const auto first_stamp = system_clock::now();
  const auto timeout = options.camera.timeout;
  auto reported = Clock::now();
  const auto end = timeout.count() > 0 ? reported + timeout : Clock::time_point::max();
  system_clock::time_point stamp;
  std::optional<Clock::time_point> last_time;
  NearCopies near_copies;
  std::uint64_t written = 0;
  std::uint64_t similar = 0;
  Frame frame;
  while (!stop && Clock::now() < end) {
    const ReadStatus status = source->read(frame, kWait);
    if (status == ReadStatus::kEnd) break;
    if (status != ReadStatus::kFrame) continue;
    const auto time = time_of(frame);
    if (last_time && time - *last_time < options.every) continue;
    last_time = time;
    const cv::Mat& picture = whole_picture(frame);
    if (!options.keep_similar &&
        near_copies.is_near_copy(picture(viewed_part(picture.size(), options.camera.view)))) {
      ++similar;
      continue;
    }
    // Names have milliseconds, so that no two pictures have the same.
    stamp = std::max(stamp_of(frame, first_stamp), stamp + milliseconds(1));
    folder.write(picture, options.label, stamp);
    ++written;
    if (Clock::now() - reported < kBetweenReports) continue;
    reported = Clock::now();
    log_info("{} written, {} left out", written, similar);
  }
  log_counts(options.label, written, similar);
}

}  // namespace lookout
