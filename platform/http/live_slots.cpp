#include "platform/http/live_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lookout {
namespace {

std::string or_null(std::string line) { return line.empty() ? "null" : std::move(line); }

}  // namespace

void LiveSlots::put(const ModelInfoPtr& model) {
  const MutexLock lock(mutex_);
  model_ = model;
}

void LiveSlots::put(const Result& result, const Frame& frame) {
  const bool wanted = picture_wanted_.exchange(false);
  std::optional<LivePicture> picture;
  if (wanted) {
    picture.emplace();
    picture->sequence = result.sequence;
    picture->time = result.timestamp;
    if (frame.picture.kind == CameraPicture::Kind::kJpeg && jpegs_wanted_) {
      picture->jpeg.assign(frame.picture.bytes.begin(), frame.picture.bytes.end());
    } else {
      picture->bgr = whole_picture(frame).clone();
    }
  }
  {
    const MutexLock lock(mutex_);
    result_.result = result;
    result_.origin = frame.origin;
    result_.ready = Clock::now();
    ++counts_.results;
    if (result.state_changed) {
      changes_.at(counts_.changes++ % kMaxChanges) = result_;
    }
    if (picture) picture_ = std::move(picture);
  }
  if (wanted || (result.state_changed && listened_)) wake();
}

void LiveSlots::put(const StatsSnapshot& stats) {
  {
    const MutexLock lock(mutex_);
    stats_ = stats;
    ++counts_.stats;
  }
  if (listened_) wake();
}

void LiveSlots::put(const CameraStatus& status) {
  {
    const MutexLock lock(mutex_);
    status_ = status;
    ++counts_.statuses;
  }
  if (listened_) wake();
}

std::optional<LivePicture> LiveSlots::take_picture() {
  const MutexLock lock(mutex_);
  return std::exchange(picture_, std::nullopt);
}

ModelInfoPtr LiveSlots::model() const {
  const MutexLock lock(mutex_);
  return model_;
}

std::optional<LiveResult> LiveSlots::result() const {
  const MutexLock lock(mutex_);
  return counts_.results > 0 ? std::optional(result_) : std::nullopt;
}

std::optional<LiveResult> LiveSlots::last_change() const {
  const MutexLock lock(mutex_);
  if (counts_.changes == 0) return std::nullopt;
  return changes_.at((counts_.changes - 1) % kMaxChanges);
}

std::vector<LiveResult> LiveSlots::changes(std::uint64_t begin, std::uint64_t end) const {
  const MutexLock lock(mutex_);
  const std::uint64_t count = counts_.changes;
  const std::uint64_t first_kept = count - std::min<std::uint64_t>(count, kMaxChanges);
  std::vector<LiveResult> changes;
  for (std::uint64_t i = std::max(begin, first_kept); i < std::min(end, count); ++i) {
    changes.push_back(changes_.at(i % kMaxChanges));
  }
  return changes;
}

std::optional<StatsSnapshot> LiveSlots::stats() const {
  const MutexLock lock(mutex_);
  return counts_.stats > 0 ? std::optional(stats_) : std::nullopt;
}

CameraStatus LiveSlots::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

LiveSlots::Counts LiveSlots::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

LiveLines::LiveLines(const LiveSlots& slots, const RunInfo& info)
    : slots_(slots),
      camera_(to_json(info.camera)),
      source_(to_json(info.source)),
      roi_(info.roi),
      format_(info) {}

std::string LiveLines::about() const {
  const ModelInfoPtr model = slots_.model();
  const bool has_region = !roi_.empty() && !model->input.empty();
  const std::string region =
      has_region ? fmt::format(R"({{"roi":{},{}}})", roi_, model->input) : "null";
  return fmt::format(R"({{"version":"{}","source":{},"region":{},"archive":{}}})", LOOKOUT_VERSION,
                     source_, region, or_null(model->archive));
}

std::string LiveLines::classification() {
  std::string line;
  if (const auto result = slots_.result()) format_.append(result->result, result->origin, line);
  return without_newline(std::move(line));
}

std::string LiveLines::state(const LiveResult& change) {
  std::string line;
  format_.append_state(change.result, change.origin, line);
  return without_newline(std::move(line));
}

std::string LiveLines::stats() {
  std::string line;
  const auto stats = slots_.stats();
  if (!stats) return line;
  format_.use(slots_.model());
  format_.append(*stats, line);
  return without_newline(std::move(line));
}

std::string LiveLines::status() {
  std::string line;
  format_.append(slots_.status(), line);
  return without_newline(std::move(line));
}

std::string LiveLines::all() {
  const auto change = slots_.last_change();
  // While the camera is away, there is no state.
  const std::string line = change && slots_.status().online ? state(*change) : std::string();
  return fmt::format(R"({{"camera":{},"about":{},"result":{},"state":{},"stats":{},"status":{}}})",
                     camera_, about(), or_null(classification()), or_null(line), or_null(stats()),
                     or_null(status()));
}

}  // namespace lookout
