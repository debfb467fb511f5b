// How long a state lasted in each hour, and how often it began.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

namespace lookout {

using HistoryTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

// As a database keeps it: milliseconds since 1970.
inline std::int64_t to_ms(HistoryTime time) { return time.time_since_epoch().count(); }
inline HistoryTime from_ms(std::int64_t ms) { return HistoryTime(std::chrono::milliseconds(ms)); }

// Hours of UTC: no hour is longer or shorter than another.
struct HourSums {
  struct Sum {
    std::chrono::milliseconds time{};
    std::int64_t changes = 0;
  };

  // Adds a state that lasted from `begin` to `end`, of which [from, to) counts. It began with a
  // change, which counts in the hour in which it lies.
  void add(std::int64_t state, HistoryTime begin, HistoryTime end, HistoryTime from,
           HistoryTime to);

  std::map<std::pair<std::int64_t, std::int64_t>, Sum> sums;  // by hour since 1970, and state
};

std::int64_t hour_of(HistoryTime time);

}  // namespace lookout
