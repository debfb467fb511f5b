#include "platform/history/history_text.h"

#include <gtest/gtest.h>

#include "tests/support/time_zone.h"

namespace lookout {
namespace {

using std::chrono::hours;

HistoryTime parsed(const char* text) { return parse_history_time(text, HistoryTime()).value(); }

TEST(HistoryTextTest, ALocalDayOnWhichClocksAreSetHasItsHours) {
  const ScopedTimeZone berlin;
  EXPECT_EQ(parsed("2026-03-30") - parsed("2026-03-29"), hours(23));
  EXPECT_EQ(parsed("2026-10-26") - parsed("2026-10-25"), hours(25));
  EXPECT_EQ(parsed("2026-03-29"), parsed("2026-03-28T23:00:00Z"));
  EXPECT_EQ(parsed("2026-10-25"), parsed("2026-10-24T22:00:00Z"));
  EXPECT_EQ(parsed("2026-10-25T12:00"), parsed("2026-10-25T11:00:00Z"));
}

// Whatever was asked before: the C library remembers whether that was in summer.
TEST(HistoryTextTest, OfAnHourThatComesTwiceTheFirstOneIsMeant) {
  const ScopedTimeZone berlin;
  for (const char* before : {"2026-07-01", "2026-12-01"}) {
    parsed(before);
    EXPECT_EQ(parsed("2026-10-25 02:30"), parsed("2026-10-25T00:30:00Z")) << before;
    EXPECT_EQ(parsed("2026-10-25 01:59"), parsed("2026-10-24T23:59:00Z")) << before;
    EXPECT_EQ(parsed("2026-10-25 03:00"), parsed("2026-10-25T02:00:00Z")) << before;
  }
}

TEST(HistoryTextTest, AnHourThatIsLeftOutIsATimeAllTheSame) {
  const ScopedTimeZone berlin;
  for (const char* before : {"2026-07-01", "2026-12-01"}) {
    parsed(before);
    EXPECT_EQ(parsed("2026-03-29 02:30"), parsed("2026-03-29 03:30")) << before;
  }
}

// Hours are those of UTC: none is longer, and none is told twice.
TEST(HistoryTextTest, TimesAreToldInUtc) {
  const ScopedTimeZone berlin;
  EXPECT_EQ(to_iso_text(parsed("2026-10-25 02:30")), "2026-10-25T00:30:00.000Z");
  EXPECT_EQ(to_iso_text(parsed("2026-10-25 03:30")), "2026-10-25T02:30:00.000Z");
}

}  // namespace
}  // namespace lookout
