#include "platform/http/event_feed.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"
#include "tests/platform/http/http_testing.h"

namespace lookout {
namespace {

class EventFeedTest : public testing::Test {
 protected:
  EventFeedTest() { slots_.put(WatchList{{nullptr, http_model()}}); }

  void put(std::uint64_t sequence, bool changed = false) {
    slots_.put(result_of(sequence, changed), grey_frame(0));
  }
  void put(const Watching& watch, std::uint64_t sequence, bool changed = false) {
    slots_.put(result_of(watch, sequence, changed), grey_frame(0));
  }
  void advance(std::chrono::milliseconds by = EventFeed::kInterval) { feed_.advance(now_ += by); }
  // The types of the events that wait.
  static std::vector<std::string> types(HttpStream& stream) {
    std::vector<std::string> types;
    for (HttpPart part; stream.next(part);) {
      const std::string& text = *part.body;
      EXPECT_EQ(text.substr(text.size() - 2), "\n\n");
      const auto data = text.find("\ndata: ");
      if (data == std::string::npos) {
        types.push_back(text);
        continue;
      }
      types.push_back(text.substr(7, text.find('\n') - 7));
      EXPECT_EQ(nlohmann::json::parse(text.substr(data + 7))["type"], types.back());
    }
    return types;
  }
  using Types = std::vector<std::string>;

  // The numbers of the frames of the events that wait: those of changes of the state.
  static std::vector<int> changes(HttpStream& stream) {
    std::vector<int> numbers;
    for (HttpPart part; stream.next(part);) {
      if (part.body->rfind("event: state\n", 0) != 0) continue;
      numbers.push_back(nlohmann::json::parse(part.body->substr(part.body->find('{')))["seq"]);
    }
    return numbers;
  }
  // The watches of the events of a type that wait.
  static std::vector<std::string> watches_of(HttpStream& stream, const std::string& type) {
    std::vector<std::string> names;
    for (HttpPart part; stream.next(part);) {
      if (part.body->rfind("event: " + type + "\n", 0) != 0) continue;
      names.push_back(nlohmann::json::parse(part.body->substr(part.body->find('{')))["watch"]);
    }
    return names;
  }
  // The id of the last event that waits and has one.
  static std::string last_id(HttpStream& stream) {
    std::string id;
    for (HttpPart part; stream.next(part);) {
      const auto at = part.body->find("\nid: ");
      if (at != std::string::npos)
        id = part.body->substr(at + 5, part.body->find('\n', at + 5) - at - 5);
    }
    return id;
  }

  LiveSlots slots_;
  LiveLines lines_{slots_, http_run_info()};
  EventFeed feed_{slots_, lines_, 2};
  Clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(EventFeedTest, BeginsWithWhatIs) {
  EXPECT_EQ(types(*feed_.open({}, now_)), Types({"status"}));
  put(1, true);
  slots_.put(StatsSnapshot());
  EXPECT_EQ(types(*feed_.open({}, now_)), Types({"status", "stats", "state"}));
}

TEST_F(EventFeedTest, SendsEachKindOnce) {
  const auto listener = feed_.open({}, now_);
  types(*listener);
  put(1, true);
  slots_.put(StatsSnapshot());
  slots_.put(CameraStatus());
  advance();
  EXPECT_EQ(types(*listener), Types({"status", "state", "stats", "classification"}));
  advance();
  EXPECT_EQ(types(*listener), Types());
}

TEST_F(EventFeedTest, ClassificationsAreAtMostTenASecond) {
  const auto listener = feed_.open({}, now_);
  types(*listener);
  std::size_t events = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    put(i);
    advance(std::chrono::milliseconds(10));
    events += types(*listener).size();
  }
  EXPECT_GE(events, 9U);
  EXPECT_LE(events, 12U);
}

TEST_F(EventFeedTest, AListenerMayAskForFewerClassifications) {
  const auto some = feed_.open({3, ""}, now_);
  const auto none = feed_.open({0, ""}, now_);
  types(*some);
  types(*none);
  std::size_t events = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    put(i);
    advance();
    events += types(*some).size();
  }
  EXPECT_NEAR(static_cast<double>(events), 30, 1);
  put(100, true);
  advance();
  EXPECT_EQ(types(*none), Types({"state"}));
}

TEST_F(EventFeedTest, EachChangeOfTheStateIsSent) {
  const auto listener = feed_.open({0, ""}, now_);
  for (std::uint64_t i = 0; i < 5; ++i) put(i, true);
  advance();
  EXPECT_EQ(changes(*listener), std::vector<int>({0, 1, 2, 3, 4}));
}

TEST_F(EventFeedTest, AListenerThatComesBackGetsTheChangesThatItMissed) {
  auto listener = feed_.open({0, ""}, now_);
  put(1, true);
  advance();
  const std::string id = last_id(*listener);
  listener.reset();
  EXPECT_EQ(types(*feed_.open({0, id}, now_)), Types({"status"}));
  put(2, true);
  put(3);
  put(4, true);
  EXPECT_EQ(types(*feed_.open({0, id}, now_)), Types({"state", "state", "status"}));
  EXPECT_EQ(changes(*feed_.open({0, id}, now_)), std::vector<int>({2, 4}));
  // Of another run, and of no run at all.
  EXPECT_EQ(changes(*feed_.open({0, "0-7"}, now_)), std::vector<int>({1, 2, 4}));
  EXPECT_EQ(changes(*feed_.open({0, "?"}, now_)), std::vector<int>({1, 2, 4}));
}

TEST_F(EventFeedTest, TheLast64ChangesAreKept) {
  for (std::uint64_t i = 0; i < 100; ++i) put(i, true);
  const auto listener = feed_.open({0, "another run"}, now_);
  const std::vector<int> numbers = changes(*listener);
  ASSERT_EQ(numbers.size(), LiveSlots::kMaxChanges);
  EXPECT_EQ(numbers.front(), 36);
  EXPECT_EQ(numbers.back(), 99);
  EXPECT_EQ(feed_.dropped(), 0U);
}

TEST_F(EventFeedTest, NamedWatchesAreListedAtTheBeginAndWhenTheyAreReplaced) {
  const WatchList watches = http_watches({"gate", "lamp"});
  slots_.put(watches);
  const auto listener = feed_.open({}, now_);
  EXPECT_EQ(types(*listener), Types({"status", "watches"}));
  put(watches[0], 1, true);
  put(watches[1], 1, true);
  advance();
  EXPECT_EQ(types(*listener), Types({"state", "state", "classification", "classification"}));
  // What they show now is what a new listener gets.
  EXPECT_EQ(watches_of(*feed_.open({}, now_), "state"), Types({"gate", "lamp"}));
  slots_.put(http_watches({"lamp", "box"}));
  advance();
  HttpPart part;
  ASSERT_TRUE(listener->next(part));
  const auto list = nlohmann::json::parse(part.body->substr(part.body->find('{')));
  EXPECT_EQ(list["type"], "watches");
  EXPECT_EQ(list["camera"], "Front <door>");
  ASSERT_EQ(list["watches"].size(), 2U);
  EXPECT_EQ(list["watches"][0]["state"], "dog");
  EXPECT_TRUE(list["watches"][1]["state"].is_null());
  EXPECT_EQ(types(*listener), Types());
}

TEST_F(EventFeedTest, AnEmptyListTellsThatTheLastNamedWatchHasGone) {
  slots_.put(http_watches({"gate"}));
  const auto listener = feed_.open({}, now_);
  EXPECT_EQ(types(*listener), Types({"status", "watches"}));
  slots_.put(WatchList{{nullptr, http_model()}});
  advance();
  HttpPart part;
  ASSERT_TRUE(listener->next(part));
  const auto list = nlohmann::json::parse(part.body->substr(part.body->find('{')));
  EXPECT_EQ(list["type"], "watches");
  EXPECT_TRUE(list["watches"].empty());
  // A reload that changes nothing more tells nothing, and a new listener has nothing to forget.
  slots_.put(WatchList{{nullptr, http_model()}});
  advance();
  EXPECT_EQ(types(*listener), Types());
  EXPECT_EQ(types(*feed_.open({}, now_)), Types({"status"}));
}

TEST_F(EventFeedTest, EachWatchHasItsNewestClassification) {
  const WatchList watches = http_watches({"gate", "lamp"});
  slots_.put(watches);
  const auto listener = feed_.open({}, now_);
  const auto slow = feed_.open({1, ""}, now_);
  for (std::uint64_t i = 0; i < 5; ++i) put(watches[0], i);
  put(watches[1], 4);
  advance();
  EXPECT_EQ(watches_of(*listener, "classification"), Types({"gate", "lamp"}));
  put(watches[1], 5);
  advance();
  EXPECT_EQ(watches_of(*listener, "classification"), Types({"lamp"}));
  advance();
  EXPECT_EQ(watches_of(*listener, "classification"), Types());
  EXPECT_EQ(watches_of(*slow, "classification"), Types({"gate", "lamp"}));
}

TEST_F(EventFeedTest, AListenerMissesNoChangeOfAnotherWatchInTheSameFrame) {
  const WatchList watches = http_watches({"gate", "lamp"});
  slots_.put(watches);
  auto listener = feed_.open({0, ""}, now_);
  put(watches[0], 1, true);
  advance();
  const std::string id = last_id(*listener);
  listener.reset();
  put(watches[1], 1, true);
  put(watches[0], 2, true);
  EXPECT_EQ(watches_of(*feed_.open({0, id}, now_), "state"), Types({"lamp", "gate"}));
}

TEST_F(EventFeedTest, SilenceIsBrokenByAComment) {
  const auto listener = feed_.open({}, now_);
  types(*listener);
  advance(std::chrono::milliseconds(14'900));
  EXPECT_EQ(types(*listener), Types());
  advance();
  EXPECT_EQ(types(*listener), Types({":\n\n"}));
  advance();
  EXPECT_EQ(types(*listener), Types());
}

TEST_F(EventFeedTest, ASlowListenerLosesTheOldestEvents) {
  const auto slow = feed_.open({}, now_);
  const auto quick = feed_.open({}, now_);
  EXPECT_EQ(feed_.open({}, now_), nullptr);
  types(*slow);
  types(*quick);
  for (std::uint64_t i = 0; i < EventFeed::kMaxQueue; ++i) {
    put(i);
    advance();
    EXPECT_EQ(types(*quick).size(), 1U);
  }
  EXPECT_EQ(feed_.dropped(), 0U);
  put(1000, true);
  advance();
  EXPECT_EQ(feed_.dropped(), 2U);
  const Types waiting = types(*slow);
  ASSERT_EQ(waiting.size(), EventFeed::kMaxQueue);
  EXPECT_EQ(waiting[waiting.size() - 2], "state");
}

TEST_F(EventFeedTest, WakesOnlyForThoseWhoListen) {
  int wakes = 0;
  slots_.set_wake([&wakes] { ++wakes; });
  put(1, true);
  slots_.put(StatsSnapshot());
  EXPECT_EQ(wakes, 0);
  {
    const auto listener = feed_.open({}, now_);
    put(2);
    EXPECT_EQ(wakes, 0);
    put(3, true);
    EXPECT_EQ(wakes, 1);
  }
  EXPECT_FALSE(feed_.is_busy());
  advance();
  put(4, true);
  EXPECT_EQ(wakes, 1);
}

}  // namespace
}  // namespace lookout
