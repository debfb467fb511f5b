#include "platform/http/session_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/support/captured_log.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

const std::string kPassword = "$y$one";
const SessionStore::Time kNow{std::chrono::hours(24 * 20'000)};

TEST(SessionStore, ASessionIsKnownByItsIdAlone) {
  SessionStore store("");
  const std::string id = store.begin(kPassword, kNow);
  EXPECT_EQ(id.size(), 64U);
  EXPECT_TRUE(store.is_open(id, kPassword, kNow));
  for (const std::string& other : {std::string(), id.substr(1), id + "0", std::string(64, '0')}) {
    EXPECT_FALSE(store.is_open(other, kPassword, kNow)) << other;
  }
  EXPECT_NE(store.begin(kPassword, kNow), id);
}

TEST(SessionStore, TheEndOfOneIsNotThatOfAnother) {
  SessionStore store("");
  const std::string one = store.begin(kPassword, kNow);
  const std::string other = store.begin(kPassword, kNow);
  store.end(one);
  store.end("none");
  EXPECT_FALSE(store.is_open(one, kPassword, kNow));
  EXPECT_TRUE(store.is_open(other, kPassword, kNow));
}

TEST(SessionStore, AnotherPasswordEndsAll) {
  SessionStore store("");
  const std::string id = store.begin(kPassword, kNow);
  EXPECT_FALSE(store.is_open(id, "$y$other", kNow));
  EXPECT_FALSE(store.is_open(id, "", kNow)) << "there is no password any more";
  const std::string next = store.begin("$y$other", kNow);
  EXPECT_FALSE(store.is_open(id, kPassword, kNow));
  EXPECT_TRUE(store.is_open(next, "$y$other", kNow));
}

TEST(SessionStore, OneThatIsNotUsedIsOverAndOneThatIsUsedIsOverLater) {
  SessionStore store("");
  const std::string idle = store.begin(kPassword, kNow);
  const std::string used = store.begin(kPassword, kNow);
  const auto second = std::chrono::seconds(1);
  auto now = kNow;
  while (now + SessionStore::kMaxIdle <= kNow + SessionStore::kMaxAge) {
    now += SessionStore::kMaxIdle;
    EXPECT_TRUE(store.is_open(used, kPassword, now));
  }
  EXPECT_FALSE(store.is_open(idle, kPassword, kNow + SessionStore::kMaxIdle + second));
  EXPECT_FALSE(store.is_open(used, kPassword, kNow + SessionStore::kMaxAge + second));
}

TEST(SessionStore, AClockThatIsSetBackMakesNoneLast) {
  SessionStore store("");
  const std::string id = store.begin(kPassword, kNow);
  const auto past = kNow - std::chrono::hours(365 * 24);
  EXPECT_TRUE(store.is_open(id, kPassword, past));
  EXPECT_FALSE(store.is_open(id, kPassword, past + SessionStore::kMaxIdle + std::chrono::hours(1)));
}

TEST(SessionStore, AClockThatIsAYearAheadOrBehindAndRightAgainEndsNone) {
  const TempDir directory;
  const std::string file = directory / "sessions";
  const auto year = std::chrono::hours(365 * 24);
  std::string id;
  {
    SessionStore store(file);
    id = store.begin(kPassword, kNow);
    EXPECT_FALSE(store.is_open(id, kPassword, kNow + year));
    store.begin(kPassword, kNow + year);  // is written
  }
  SessionStore store(file);
  EXPECT_TRUE(store.is_open(id, kPassword, kNow + std::chrono::hours(1)));
  EXPECT_TRUE(store.is_open(id, kPassword, kNow - year)) << "a board starts with an old time";
  EXPECT_TRUE(store.is_open(id, kPassword, kNow - year + std::chrono::minutes(1)));
  EXPECT_TRUE(store.is_open(id, kPassword, kNow + std::chrono::hours(2)));
}

TEST(SessionStore, WithTooManyTheOneUnusedForLongestIsOver) {
  SessionStore store("");
  std::vector<std::string> ids;
  for (std::size_t i = 0; i <= SessionStore::kMax; ++i) {
    ids.push_back(store.begin(kPassword, kNow + std::chrono::seconds(i)));
  }
  const auto later = kNow + std::chrono::minutes(1);
  EXPECT_FALSE(store.is_open(ids.front(), kPassword, later));
  EXPECT_TRUE(store.is_open(ids[1], kPassword, later));
  EXPECT_TRUE(store.is_open(ids.back(), kPassword, later));
}

TEST(SessionStore, SessionsOutlastTheProcessAndTheirIdsAreNotInTheFile) {
  const TempDir directory;
  const std::string file = directory / "sessions";
  std::string id;
  std::string cookie;
  {
    SessionStore store(file);
    cookie = store.cookie();
    id = store.begin(kPassword, kNow);
  }
  const std::string text = read_file(file);
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find(id), std::string::npos);
  EXPECT_EQ(text.find(kPassword), std::string::npos);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  SessionStore store(file);
  EXPECT_EQ(store.cookie(), cookie);
  EXPECT_TRUE(store.is_open(id, kPassword, kNow));
  EXPECT_FALSE(store.is_open(id, "$y$other", kNow));
}

TEST(SessionStore, TwoServersHaveCookiesOfDifferentNames) {
  EXPECT_NE(SessionStore("").cookie(), SessionStore("").cookie());
}

TEST(SessionStore, AFileThatIsNotUnderstoodIsNoSession) {
  const TempDir directory;
  const std::string file = directory / "sessions";
  { SessionStore(file).begin(kPassword, kNow); }
  const std::string good = read_file(file);
  const CapturedLog log;
  std::vector<std::string> texts{"",
                                 "{}",
                                 std::string(100'000, 'x'),
                                 "lookout-sessions-1",
                                 "lookout-sessions-1 lookout_a b\n",
                                 "lookout-sessions-2" + good};
  for (std::size_t i = 0; i < good.size(); i += 9) texts.push_back(good.substr(0, i));
  for (const std::string& text : texts) {
    directory.write("sessions", text);
    SessionStore store(file);
    EXPECT_FALSE(store.is_open(std::string(64, '0'), kPassword, kNow));
    EXPECT_EQ(store.cookie().rfind("lookout_", 0), 0U);
    const std::string id = store.begin(kPassword, kNow);
    EXPECT_TRUE(store.is_open(id, kPassword, kNow));
  }
}

TEST(SessionStore, WithoutAFolderForItsFileSessionsLastAsLongAsTheProcess) {
  const TempDir directory;
  const CapturedLog log;
  {
    SessionStore store(directory / "none/sessions");
    EXPECT_TRUE(store.is_open(store.begin(kPassword, kNow), kPassword, kNow));
  }
  EXPECT_NE(log.text().find("who is logged in is forgotten at the end"), std::string::npos);
}

}  // namespace
}  // namespace lookout
