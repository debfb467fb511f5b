#include "platform/teach/teach_progress.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>

namespace lookout {
namespace {

using Kind = MissingPictures::Kind;

constexpr std::chrono::minutes kPause{5};
constexpr int kMinutesOfHour = 60;
constexpr int kMinutesOfDay = 24 * kMinutesOfHour;
constexpr int kOtherTime = 120;  // minutes between the light of one class and another's

// Of a label.
struct Occasion {
  std::size_t number = 0;
  std::int64_t hold = 0;
  decltype(TeachTime::at) last;
};

int minutes_between(int a, int b) {
  const int apart = std::abs(a - b);
  return std::min(apart, kMinutesOfDay - apart);
}

// Whether some pictures of two classes were taken at about the same time of the day.
bool share_times(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&b](int minute) {
    return std::any_of(b.begin(), b.end(), [minute](int other) {
      return minutes_between(minute, other) <= kOtherTime;
    });
  });
}

void add_light(const std::vector<ClassProgress>& classes, std::vector<MissingPictures>& missing) {
  std::size_t night = 0;
  std::size_t day = 0;
  for (const ClassProgress& entry : classes) {
    night += entry.night;
    day += entry.pictures - entry.night;
  }
  if (night + day == 0) return;
  if (night == 0) missing.push_back({Kind::kNight, {}, 0});
  if (day == 0) missing.push_back({Kind::kDay, {}, 0});
  if (night == 0 || day == 0) return;
  for (const ClassProgress& entry : classes) {
    if (entry.pictures == 0 || entry.label == kNoneOfThem) continue;
    if (entry.night == 0) missing.push_back({Kind::kNight, entry.label, 0});
    if (entry.night == entry.pictures) missing.push_back({Kind::kDay, entry.label, 0});
  }
}

// `minutes`: in which the pictures of each label were taken.
void add_hours(const std::vector<std::string>& classes,
               std::map<std::string, std::set<int>>& minutes,
               std::vector<MissingPictures>& missing) {
  for (const std::string& label : classes) {
    const std::set<int>& own = minutes[label];
    if (own.empty()) continue;
    const bool alone = std::none_of(classes.begin(), classes.end(), [&](const auto& other) {
      return other != label && (minutes[other].empty() || share_times(own, minutes[other]));
    });
    if (alone) missing.push_back({Kind::kHours, label, 0});
  }
}

}  // namespace

std::vector<std::size_t> occasions_of(const std::vector<TaughtPicture>& pictures) {
  std::vector<std::size_t> occasions;
  std::map<std::string, Occasion> last;  // of each label
  std::size_t next = 0;
  std::string before;  // the label of the picture before
  for (const TaughtPicture& picture : pictures) {
    const auto [found, is_new] = last.emplace(picture.label, Occasion{});
    Occasion& occasion = found->second;
    const bool same_hold = picture.hold != 0 && picture.hold == occasion.hold;
    const bool paused = std::chrono::abs(picture.time.at - occasion.last) >= kPause;
    if (is_new || (!same_hold && (paused || before != picture.label))) occasion.number = next++;
    occasion.hold = picture.hold;
    occasion.last = picture.time.at;
    before = picture.label;
    occasions.push_back(occasion.number);
  }
  return occasions;
}

TeachProgress progress_of(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures) {
  TeachProgress progress;
  std::map<std::string, ClassProgress> found;
  std::map<std::string, std::set<std::size_t>> occasions;
  std::map<std::string, std::set<int>> minutes;
  const std::vector<std::size_t> occasion_of = occasions_of(pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const TaughtPicture& picture = pictures[i];
    ClassProgress& entry = found[picture.label];
    ++entry.pictures;
    entry.night += picture.night ? 1 : 0;
    entry.hours.insert(picture.time.minute / kMinutesOfHour);
    minutes[picture.label].insert(picture.time.minute);
    occasions[picture.label].insert(occasion_of[i]);
  }
  std::vector<std::string> labels = watch.classes;
  if (found.count(kNoneOfThem) > 0) labels.emplace_back(kNoneOfThem);
  for (const std::string& label : labels) {
    ClassProgress entry = found[label];
    entry.label = label;
    entry.occasions = occasions[label].size();
    progress.classes.push_back(std::move(entry));
  }

  progress.can_train = true;
  progress.can_tell = true;
  for (const ClassProgress& entry : progress.classes) {
    if (entry.label == kNoneOfThem) continue;
    if (entry.pictures < kLeastPictures) {
      progress.missing.push_back({Kind::kPictures, entry.label, kLeastPictures - entry.pictures});
      progress.can_train = false;
    }
    if (entry.occasions > 1) continue;
    progress.can_tell = false;
    if (entry.occasions == 1) progress.missing.push_back({Kind::kOccasion, entry.label, 0});
  }
  progress.can_tell = progress.can_tell && progress.can_train;
  add_light(progress.classes, progress.missing);
  add_hours(watch.classes, minutes, progress.missing);
  return progress;
}

}  // namespace lookout
