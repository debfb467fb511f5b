#include "platform/mqtt/mqtt_slots.h"

#include <algorithm>
#include <utility>

namespace lookout {
namespace {

// Whether it was wanted; it is not any more.
bool take_flag(std::atomic<bool>& wanted) { return wanted && wanted.exchange(false); }

auto find_watch(const std::vector<MqttWatching>& watches, std::string_view name) {
  return std::find_if(watches.begin(), watches.end(),
                      [name](const MqttWatching& watch) { return watch.name() == name; });
}

// Removes the elements for which `is_gone` is true.
template <typename Container, typename IsGone>
void erase_elements_if(Container& elements, IsGone is_gone) {
  elements.erase(std::remove_if(elements.begin(), elements.end(), is_gone), elements.end());
}

}  // namespace

void MqttSlots::put(const WatchList& watches) {
  std::vector<MqttWatching> now;
  for (const Watching& each : watches) {
    MqttWatching watching{each, nullptr};
    for (const MqttWatching& before : watches_) {
      if (before.name() == watching.name()) watching.wants = before.wants;
    }
    if (!watching.wants) {
      watching.wants = std::make_shared<MqttWants>();
      watching.wants->picture_of_change = pictures_;
    }
    now.push_back(std::move(watching));
  }
  watches_ = std::move(now);
  {
    const MutexLock lock(mutex_);
    news_.watches = watches_;
    const auto is_gone = [this](const std::string& name) {
      return find_watch(watches_, name) == watches_.end();
    };
    erase_elements_if(news_.of_watches,
                      [&is_gone](const MqttWatchNews& news) { return is_gone(news.watch); });
    if (news_.picture) erase_elements_if(news_.picture->watches, is_gone);
  }
  if (wake_) wake_();
}

void MqttSlots::put(const Result& result, const Frame& frame) {
  const std::string_view name = mqtt_watch_name(result.watch);
  const auto watch = find_watch(watches_, name);
  if (watch == watches_.end()) return;
  MqttWants& wants = *watch->wants;
  const bool changed = result.state_changed;
  const bool with_picture =
      take_flag(wants.picture) || (changed && take_flag(wants.picture_of_change));
  const bool asked = take_flag(picture_asked_);
  const bool with_result = take_flag(wants.result);
  if (!changed && !with_picture && !asked && !with_result) return;
  cv::Mat picture;
  if (with_picture || asked) picture = whole_picture(frame).clone();
  {
    const MutexLock lock(mutex_);
    if (with_result) news_of(name).result = MqttResult{result, frame.origin};
    if (changed) {
      news_of(name).change = MqttResult{result, frame.origin};
      ++news_of(name).changes;
    }
    if (!picture.empty()) put_picture(std::move(picture), with_picture ? &name : nullptr, asked);
  }
  if (wake_) wake_();
}

MqttWatchNews& MqttSlots::news_of(std::string_view watch) {
  auto& all = news_.of_watches;
  const auto found = std::find_if(
      all.begin(), all.end(), [watch](const MqttWatchNews& news) { return news.watch == watch; });
  if (found != all.end()) return *found;
  all.push_back({std::string(watch), std::nullopt, 0, std::nullopt});
  return all.back();
}

// Whoever waits for an older one gets this one, too.
void MqttSlots::put_picture(cv::Mat bgr, const std::string_view* watch, bool asked) {
  if (!news_.picture) news_.picture.emplace();
  MqttPicture& picture = *news_.picture;
  picture.bgr = std::move(bgr);
  picture.asked = picture.asked || asked;
  if (watch == nullptr) return;
  auto& watches = picture.watches;
  const bool is_new = std::find(watches.begin(), watches.end(), *watch) == watches.end();
  if (is_new) watches.emplace_back(*watch);
}

void MqttSlots::put(const StatsSnapshot& stats) {
  {
    const MutexLock lock(mutex_);
    news_.stats = stats;
  }
  if (wake_) wake_();
}

void MqttSlots::put(const CameraStatus& status) {
  {
    const MutexLock lock(mutex_);
    news_.status = status;
  }
  if (wake_) wake_();
}

MqttNews MqttSlots::take() {
  const MutexLock lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace lookout
