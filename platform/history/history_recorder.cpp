#include "platform/history/history_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include "pipeline/core/log.h"
#include "platform/system/wall_moment.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using Day = std::chrono::duration<std::int64_t, std::ratio<86'400>>;

}  // namespace

// Runs `use`, which may be refused by the disk. Returns whether it was not.
template <typename Use>
bool HistoryRecorder::tried(const HistoryNow& now, Use use) {
  std::string why;
  try {
    use();
    return true;
  } catch (const SqliteError& error) {
    // The next attempt opens the file, and finds out whether it is to be set aside.
    if (error.is_damage()) store_.reset();
    why = error.what();
  } catch (const std::exception& error) {
    why = error.what();
  }
  retry_ = now.uptime + kRetry;
  failures_.warn(fmt::format("history: {} cannot be written: {}; changes wait, at most {}",
                             options_.folder.string(), why, kMaxWaiting));
  return false;
}

// The disk took something.
void HistoryRecorder::note_written() {
  if (!failures_.worked()) return;
  log_info("history: {} is written again; {} changes were lost", options_.folder.string(),
           counts_.lost);
}

bool HistoryRecorder::has_store(const HistoryNow& now) {
  if (retry_ && now.uptime < *retry_) return false;
  retry_.reset();
  if (store_) return true;
  return tried(now, [&] {
    OpenedHistory opened = open_history(options_.folder);
    store_ = std::move(opened.store);
    if (!opened.damage.empty()) {
      ++counts_.set_aside;
      log_warn("history: {0}/{1} was damaged ({2}) and is now {1}.damaged; a new one begins",
               options_.folder.string(), kHistoryFile, opened.damage);
    }
    for (HistoryChange& change : waiting_) change.number = change.picture = 0;
    unshifted_ = {};  // they are another run's now
    day_ = 0;
    const auto newest = store_->newest();
    if (newest && now.wall - *newest > kLeap) doubt_ = now.uptime + kDoubt;
    purged_ = now.uptime;
    purge_ = now.uptime + kUpkeep;  // also a run that is short removes as much as it adds
  });
}

// A clock that is set: the changes of this run were dated by the wrong one.
void HistoryRecorder::note_clock(const HistoryNow& now) {
  const auto boot = now.wall.time_since_epoch() - now.uptime;
  const auto by = boot - boot_.value_or(boot);
  if (boot_ && std::chrono::abs(by) < WallMoment::kSetBy) return;
  boot_ = boot;
  if (by.count() == 0) return;
  if (by > kLeap) doubt_ = now.uptime + kDoubt;
  if (by < -kLeap) doubt_ = now.uptime;
  for (HistoryChange& change : waiting_) change.at += by;
  if (store_) unshifted_ += by;
  has_shifted(now);
}

// The rows of this run follow the clock. Returns whether they do.
bool HistoryRecorder::has_shifted(const HistoryNow& now) {
  if (unshifted_.count() == 0) return true;
  if (!has_store(now) || !tried(now, [&] { store_->shift(unshifted_); })) return false;
  unshifted_ = {};
  return true;
}

bool HistoryRecorder::wants_picture(HistoryTime at) {
  if (!store_ || options_.pictures_a_day == 0) return false;
  const std::int64_t day = std::chrono::floor<Day>(at).time_since_epoch().count();
  if (day != day_) {
    day_ = day;
    pictures_today_ = store_->pictures_since(HistoryTime(Day(day)));
  }
  if (pictures_today_ >= options_.pictures_a_day) return false;
  return std::filesystem::space(options_.folder).available >= kMinFree;
}

void HistoryRecorder::add(HistoryChange change, const std::function<std::string()>& jpeg) {
  change.number = store_ ? store_->take_number() : 0;
  try {
    if (jpeg && wants_picture(change.at)) {
      const std::string picture = jpeg();
      store_->write_picture(change.number, picture);
      change.picture = static_cast<std::int64_t>(picture.size());
      ++pictures_today_;
      ++counts_.pictures;
      if (picture_failures_.worked()) {
        log_info("history: pictures are written again into {}", options_.folder.string());
      }
    }
  } catch (const std::exception& error) {
    picture_failures_.warn(fmt::format("history: a picture cannot be written into {}: {}",
                                       options_.folder.string(), error.what()));
  }
  if (jpeg && change.picture == 0) ++counts_.without;
  waiting_.push_back(std::move(change));
  if (waiting_.size() <= kMaxWaiting) return;
  waiting_.pop_front();
  ++counts_.lost;
}

void HistoryRecorder::commit(const HistoryNow& now) {
  if (waiting_.empty() || !has_store(now) || !has_shifted(now)) return;
  const bool done = tried(now, [&] {
    for (HistoryChange& change : waiting_) {
      if (change.number == 0) change.number = store_->take_number();
    }
    store_->add({waiting_.begin(), waiting_.end()});
  });
  if (!done) return;
  note_written();
  counts_.written += waiting_.size();
  waiting_.clear();
  first_waits_.reset();
  rested_ = std::max(rested_, now.uptime) + kPause;
  seen_ = now.uptime;
}

HistoryTime HistoryRecorder::retention_time(const HistoryNow& now) {
  const milliseconds passed = now.uptime - std::exchange(purged_, now.uptime);
  const auto pace = now.uptime < doubt_ ? 1 : kPace;
  const auto kept_until = store_->kept_until(options_.limits);
  if (kept_until) {
    retention_ = std::min(now.wall, std::max(retention_, *kept_until) + pace * passed);
  }
  return retention_;
}

void HistoryRecorder::keep_up(const HistoryNow& now) {
  kept_up_ = now.uptime;
  if (!has_store(now) || !has_shifted(now)) return;
  tried(now, [&] {
    store_->trim_pictures(options_.limits);
    if (now.uptime >= purge_) {
      const bool more = store_->purge(retention_time(now), options_.limits);
      purge_ = now.uptime + (more ? milliseconds(kUpkeep) : milliseconds(kPurge));
    }
    if (now.uptime - seen_ < kSeen) return;
    store_->see(now.wall);
    seen_ = now.uptime;
    note_written();
  });
}

void HistoryRecorder::advance(const HistoryNow& now) {
  note_clock(now);
  has_store(now);
  if (!waiting_.empty() && !first_waits_) first_waits_ = now.uptime;
  const auto next = now.read ? milliseconds(0) : rested_ - (kBurst - 1) * kPause;
  if (first_waits_ && now.uptime >= std::max(*first_waits_ + kBatch, next)) commit(now);
  if (now.uptime - kept_up_ >= kUpkeep) keep_up(now);
}

void HistoryRecorder::finish(const HistoryNow& now) {
  note_clock(now);
  retry_.reset();
  commit(now);
  counts_.lost += waiting_.size();
  waiting_.clear();
  store_.reset();
}

}  // namespace lookout
