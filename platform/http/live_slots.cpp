#include "platform/http/live_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

std::string or_null(std::string line) { return line.empty() ? "null" : std::move(line); }

// As RunInfo::roi.
std::string roi_json(const cv::Rect2d& roi) {
  return fmt::format("[{},{},{},{}]", roi.x, roi.y, roi.width, roi.height);
}

// The element of `watches` that has the name; their end: there is none.
template <typename Watches>
auto find_watch(Watches& watches, const WatchInfoPtr& watch) {
  return std::find_if(watches.begin(), watches.end(), [&watch](const LiveWatch& one) {
    return one.watch == watch || (one.watch && watch && one.watch->name == watch->name);
  });
}

// Each once, as JSON.
std::string failed_models(const std::vector<LiveWatch>& watches) {
  std::set<std::string> names;
  for (const LiveWatch& each : watches) {
    if (!each.model->failed.empty()) names.insert(to_json(each.model->failed));
  }
  return "[" + joined(names, ",") + "]";
}

// `"state":...,"score":...,"since":...`, null while there is none.
std::string state_members(const LiveWatch& watch, bool online) {
  const auto kind = watch.result ? watch.result->result.state.kind : SceneState::Kind::kNone;
  if (!online || kind == SceneState::Kind::kNone || !watch.change) {
    return R"("state":null,"score":null,"since":null)";
  }
  const SceneState& state = watch.result->result.state;
  std::string members = fmt::format(R"("state":{},"score":)", to_json(std::string(state.name())));
  members += kind == SceneState::Kind::kClass ? fmt::format("{:.4f}", state.prediction.score)
                                              : std::string("null");
  members += R"(,"since":)";
  append_seconds(watch.since.told(), members);
  return members;
}

}  // namespace

void LiveSlots::put(const WatchList& watches) {
  {
    const MutexLock lock(mutex_);
    std::vector<LiveWatch> next;
    for (const Watching& each : watches) {
      const auto before = find_watch(watches_, each.watch);
      next.push_back(before == watches_.end() ? LiveWatch() : std::move(*before));
      next.back().watch = each.watch;
      next.back().model = each.model;
    }
    const bool had_names = watches_.front().watch != nullptr;
    watches_ = std::move(next);
    if (had_names || watches_.front().watch) ++counts_.lists;
  }
  if (listened_) wake();
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
    ++counts_.results;
    ready_ = Clock::now();
    if (const auto watch = find_watch(watches_, result.watch); watch != watches_.end()) {
      watch->result = LiveResult{result, frame.origin, ready_};
      watch->number = counts_.results;
      if (result.state_changed) {
        watch->change = watch->result;
        watch->since = WallMoment(result.timestamp);
        changes_.at(counts_.changes++ % kMaxChanges) = *watch->result;
      }
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
    status_since_ = WallMoment(status.since);
    ++counts_.statuses;
  }
  if (listened_) wake();
}

std::optional<LivePicture> LiveSlots::take_picture() {
  const MutexLock lock(mutex_);
  return std::exchange(picture_, std::nullopt);
}

std::vector<LiveWatch> LiveSlots::watches() const {
  const MutexLock lock(mutex_);
  return watches_;
}

WatchList LiveSlots::list() const {
  const MutexLock lock(mutex_);
  WatchList list;
  for (const LiveWatch& each : watches_) list.push_back({each.watch, each.model});
  return list;
}

ModelInfoPtr LiveSlots::model() const {
  const MutexLock lock(mutex_);
  return watches_.front().model;
}

std::optional<Clock::time_point> LiveSlots::last_ready() const {
  const MutexLock lock(mutex_);
  return counts_.results > 0 ? std::optional(ready_) : std::nullopt;
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
  CameraStatus status = status_;
  status.since = status_since_.told();
  return status;
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

std::string LiveLines::about(const std::vector<LiveWatch>& watches) const {
  const LiveWatch& watch = watches.front();
  const std::string roi = watch.watch ? roi_json(watch.watch->roi) : roi_;
  const ModelInfo& model = *watch.model;
  const bool has_region = !roi.empty() && !model.input.empty();
  const std::string region =
      has_region ? fmt::format(R"({{"roi":{},{}}})", roi, model.input) : "null";
  return fmt::format(
      R"({{"version":"{}","source":{},"region":{},"archive":{},"failed_models":{}}})",
      LOOKOUT_VERSION, source_, region, or_null(model.archive), failed_models(watches));
}

std::string LiveLines::classification(const LiveResult& result) {
  std::string line;
  format_.append(result.result, result.origin, line);
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

std::string LiveLines::watch_array(const std::vector<LiveWatch>& watches) const {
  const bool online = slots_.status().online;
  std::string array = "[";
  for (const LiveWatch& each : watches) {
    array += fmt::format(R"({}{{"name":{},"title":{},"roi":{},"model":{},{}}})",
                         array.size() > 1 ? "," : "", to_json(each.watch->name),
                         to_json(each.watch->shown()), roi_json(each.watch->roi),
                         to_json(each.model->name), state_members(each, online));
  }
  return array + "]";
}

std::string LiveLines::watches() const {
  const auto watches = slots_.watches();
  return fmt::format(R"({{"schema":1,"type":"watches","camera":{},"watches":{}}})", camera_,
                     watches.front().watch ? watch_array(watches) : "[]");
}

std::string LiveLines::all() {
  const auto watches = slots_.watches();
  const LiveWatch& first = watches.front();
  const std::string result = first.result ? classification(*first.result) : std::string();
  // While the camera is away, there is no state.
  const std::string line =
      first.change && slots_.status().online ? state(*first.change) : std::string();
  return fmt::format(
      R"({{"camera":{},"about":{},"result":{},"state":{},"stats":{},"status":{}{}}})", camera_,
      about(watches), or_null(result), or_null(line), or_null(stats()), or_null(status()),
      first.watch ? R"(,"watches":)" + watch_array(watches) : std::string());
}

}  // namespace lookout
