#include "platform/history/hour_sums.h"

#include <algorithm>

namespace lookout {

std::int64_t hour_of(HistoryTime time) {
  return std::chrono::floor<std::chrono::hours>(time).time_since_epoch().count();
}

void HourSums::add(std::int64_t state, HistoryTime begin, HistoryTime end, HistoryTime from,
                   HistoryTime to) {
  if (begin >= from && begin < to) ++sums[{hour_of(begin), state}].changes;
  end = std::min(end, to);
  for (begin = std::max(begin, from); begin < end;) {
    const std::int64_t hour = hour_of(begin);
    const HistoryTime next = std::min(end, HistoryTime(std::chrono::hours(hour + 1)));
    sums[{hour, state}].time += next - begin;
    begin = next;
  }
}

}  // namespace lookout
