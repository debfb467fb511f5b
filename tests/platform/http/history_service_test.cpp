#include "platform/http/history_service.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "pipeline/core/mutex.h"
#include "platform/history/history_reader.h"
#include "platform/http/http_service.h"
#include "tests/platform/http/http_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/time_zone.h"

namespace lookout {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// 2026-11-21 12:00:00 UTC
const HistoryTime kNoon{std::chrono::seconds(1795262400)};

// Waits until another thread says that there is something to do.
class Wake {
 public:
  std::function<void()> caller() {
    return [this] {
      {
        const MutexLock lock(mutex_);
        ++calls_;
      }
      called_.notify_all();
    };
  }
  void wait() {
    const MutexLock lock(mutex_);
    while (calls_ == 0) called_.wait(mutex_);
    --calls_;
  }

 private:
  Mutex mutex_;
  ConditionVariable called_;
  int calls_ GUARDED_BY(mutex_) = 0;
};

class HistoryServiceTest : public testing::Test {
 protected:
  HistoryServiceTest() {
    HistoryStore store(folder_);
    int minute = 0;
    for (const char* state : {"closed", "open", "color bars, \"all\""}) {
      HistoryChange change;
      change.at = kNoon + std::chrono::minutes(minute++);
      change.state = state;
      change.score = 0.5F;
      change.model = "gate.pt";
      change.number = store.take_number();
      if (minute == 2) {
        store.write_picture(change.number, "a jpeg");
        change.picture = 6;
      }
      store.add({change});
    }
    store.add({[&] {
      HistoryChange end;
      end.at = kNoon + std::chrono::minutes(30);
      end.model = "gate.pt";
      end.number = store.take_number();
      return end;
    }()});
  }

  HttpResponse ask(const std::string& path, const std::string& query = "") const {
    HttpRequest request;
    request.path = path;
    request.query = parse_query(query);
    return HistoryService(folder_).answer(request);
  }
  // The address after this answer; empty: it is the last one.
  static std::string next_of(const HttpResponse& answer) {
    for (const auto& [name, value] : answer.headers) {
      if (name != "Link") continue;
      EXPECT_THAT(value, testing::EndsWith(R"(>; rel="next")"));
      return value.substr(1, value.find('>') - 1);
    }
    return {};
  }
  json ask_json(const std::string& path, const std::string& query) const {
    return json::parse(*ask(path, query).body);
  }

  const TempDir directory_;
  const std::filesystem::path folder_ = directory_.path() / "history";
};

TEST_F(HistoryServiceTest, WhoeverWritesItHearsOfReaders) {
  const auto readers = std::make_shared<HistoryReaders>();
  const HistoryService service(folder_, readers);
  EXPECT_FALSE(readers->take());
  HttpRequest request;
  request.path = "/api/1/events";
  EXPECT_EQ(service.answer(request).status, 200);
  EXPECT_TRUE(readers->take());
  EXPECT_FALSE(readers->take());
}

TEST_F(HistoryServiceTest, EventsAreNewestFirstAndGoOnBehindNext) {
  json page = ask_json("/api/1/events", "limit=3&to=1795266000");
  ASSERT_EQ(page["events"].size(), 3);
  EXPECT_EQ(page["events"][0]["state"], nullptr);
  EXPECT_EQ(page["events"][2]["state"], "open");
  EXPECT_EQ(page["events"][2]["previous"], "closed");
  EXPECT_EQ(page["events"][2]["at"], 1795262460.0);
  EXPECT_EQ(page["events"][2]["picture"], true);
  page =
      ask_json("/api/1/events", "limit=3&to=1795266000&before=" + page["next"].get<std::string>());
  ASSERT_EQ(page["events"].size(), 1);
  EXPECT_EQ(page["events"][0]["state"], "closed");
  EXPECT_EQ(page["next"], nullptr);
}

TEST_F(HistoryServiceTest, StatesAndTimesAreChosen) {
  for (const char* state : {"color%20bars,%20%22all%22", "color+bars,+%22all%22"}) {
    const json one = ask_json("/api/1/events", std::string("to=1795266000&state=") + state);
    EXPECT_EQ(one["events"].size(), 1) << state;
  }
  EXPECT_EQ(ask_json("/api/1/events", "state=color%2Bbars")["events"].size(), 0);
  const json early = ask_json("/api/1/events", "from=2026-11-21T12:00:00Z&to=1795262460");
  ASSERT_EQ(early["events"].size(), 1);
  EXPECT_EQ(early["events"][0]["state"], "closed");
}

TEST_F(HistoryServiceTest, TheExportIsTheListInOtherForms) {
  const HttpResponse csv = ask("/api/1/events.csv", "to=1795262600");
  EXPECT_EQ(csv.type, "text/csv; charset=utf-8");
  EXPECT_EQ(*csv.body,
            "time,watch,state,previous,score,model,number,picture\n"
            "2026-11-21T12:02:00.000Z,,\"color bars, \"\"all\"\"\",open,0.500,gate.pt,3,false\n"
            "2026-11-21T12:01:00.000Z,,open,closed,0.500,gate.pt,2,true\n"
            "2026-11-21T12:00:00.000Z,,closed,,0.500,gate.pt,1,false\n");
  EXPECT_EQ(ask_json("/api/1/events.json", "to=1795262600")["events"],
            ask_json("/api/1/events", "to=1795262600")["events"]);
}

TEST_F(HistoryServiceTest, ATimelineBeginsWithTheStateThatItFinds) {
  const json line = ask_json("/api/1/timeline", "from=1795262500&to=1795263000");
  ASSERT_EQ(line["changes"].size(), 2);
  EXPECT_EQ(line["changes"][0]["state"], "open");
  EXPECT_EQ(line["from"], 1795262500.0);
  const json later = ask_json("/api/1/timeline", "from=1795263000&to=1795263600");
  ASSERT_EQ(later["changes"].size(), 1) << "nothing changes in it";
  const json hours = ask_json("/api/1/timeline", "from=1795262400&to=1795266000&by=hour");
  ASSERT_EQ(hours["hours"].size(), 3);
  double seconds = 0;
  for (const json& hour : hours["hours"]) seconds += hour["seconds"].get<double>();
  EXPECT_EQ(seconds, 1800);
  EXPECT_THAT(*ask("/api/1/timeline.csv", "from=1795262400&to=1795266000&by=hour").body,
              StartsWith("hour,watch,state,seconds,changes\n2026-11-21T12:00:00.000Z,,"));
}

// Each answer but the last one leads to the next, whatever its form, until all rows were told.
TEST_F(HistoryServiceTest, WhatIsLeftOutIsTold) {
  const std::string states = "to=1795266000&state=color%20bars,%20%22all%22";
  EXPECT_EQ(next_of(ask("/api/1/events.csv", "limit=1&" + states)), "") << "there is but one";
  for (const char* path : {"/api/1/events", "/api/1/events.csv", "/api/1/events.json"}) {
    std::string query = "limit=1&from=1795262400&to=1795266000";
    std::string all;
    for (int answers = 1; !query.empty(); ++answers) {
      ASSERT_LE(answers, 4);
      const HttpResponse answer = ask(path, query);
      ASSERT_EQ(answer.status, 200) << query;
      all += *answer.body;
      const std::string link = next_of(answer);
      if (std::string(path) != "/api/1/events.csv") {
        EXPECT_EQ(json::parse(*answer.body)["next"].is_null(), link.empty());
      }
      ASSERT_TRUE(link.empty() || "/api/1/" + link.substr(0, link.find('?')) == path) << link;
      query = link.substr(link.empty() ? 0 : link.find('?') + 1);
    }
    for (const char* text : {"closed", "open", "color bars"}) EXPECT_THAT(all, HasSubstr(text));
  }
}

TEST_F(HistoryServiceTest, ATimelineThatIsCutIsKnownUntilThereAndGoesOn) {
  const std::string window = "from=1795262430&to=1795266000";
  const json part = ask_json("/api/1/timeline", "limit=1&" + window);
  ASSERT_EQ(part["changes"].size(), 2) << "the state at its beginning, and a change";
  EXPECT_EQ(part["next"], 1795262520.0);
  EXPECT_EQ(part["known_until"], 1795262520.0);
  EXPECT_EQ(part["to"], 1795266000.0);
  EXPECT_EQ(next_of(ask("/api/1/timeline.csv", "limit=1&" + window)),
            "timeline.csv?from=1795262520.000&to=1795266000.000&limit=1");
  EXPECT_EQ(ask_json("/api/1/timeline", window)["next"], nullptr);
  const json hours = ask_json("/api/1/timeline", "limit=1&by=hour&" + window);
  EXPECT_EQ(hours["hours"].size(), 3) << "an hour stays together";
  EXPECT_EQ(hours["next"], nullptr);
}

// A day of the machine's zone, on which clocks are set: 23 and 25 hours of UTC, each of them once.
TEST_F(HistoryServiceTest, ALocalDayHasTheHoursThatItLasts) {
  const ScopedTimeZone berlin;
  std::filesystem::remove_all(folder_);
  {
    HistoryStore store(folder_);
    HistoryChange change;
    change.at = HistoryTime(std::chrono::hours(24 * 20'500));  // 2026-02-16
    change.state = "open";
    change.model = "gate.pt";
    change.number = store.take_number();
    store.add({change});
    store.see(kNoon);
  }
  const auto expect_hours = [&](const std::string& window, std::size_t count, double first) {
    const json hours = ask_json("/api/1/timeline", "by=hour&" + window)["hours"];
    ASSERT_EQ(hours.size(), count);
    double at = first;
    for (const json& hour : hours) {
      EXPECT_EQ(hour["at"], at);
      EXPECT_EQ(hour["seconds"], 3600.0);
      at += 3600;
    }
  };
  expect_hours("from=2026-03-29&to=2026-03-30", 23, 1774738800);  // 2026-03-28T23:00:00Z
  expect_hours("from=2026-10-25&to=2026-10-26", 25, 1792879200);  // 2026-10-24T22:00:00Z
  expect_hours("from=2026-10-25T02:00&to=2026-10-25T03:00", 2, 1792886400);
}

TEST_F(HistoryServiceTest, PicturesAreThoseOfTheirChanges) {
  const HttpResponse picture = ask("/api/1/events/2.jpg");
  EXPECT_EQ(picture.status, 200);
  EXPECT_EQ(picture.type, "image/jpeg");
  EXPECT_EQ(*picture.body, "a jpeg");
  std::filesystem::resize_file(*HistoryReader(folder_).picture(2), 0);
  EXPECT_EQ(ask("/api/1/events/2.jpg").status, 404) << "a file of a damaged card";
  EXPECT_EQ(ask("/api/1/events/1.jpg").status, 404);
}

TEST_F(HistoryServiceTest, WhatCannotBeMeantIsRefused) {
  for (const char* query :
       {"from=yesterday", "to=", "limit=0", "limit=10001", "limit=-1", "before=7", "before=a-b",
        "by=day", "from=1e300", "from=nan", "by=hour", "wacth=gate"}) {
    EXPECT_EQ(ask("/api/1/events", query).status, 400) << query;
  }
  for (const char* query :
       {"by=day", "limit=0", "state=open", "by=hour&state=open", "before=7-7"}) {
    EXPECT_EQ(ask("/api/1/timeline", query).status, 400) << query;
  }
  EXPECT_EQ(ask("/api/1/events/2.jpg", "watch=gate").status, 400);
  const HttpResponse refused = ask("/api/1/timeline.csv", "state=open");
  EXPECT_EQ(refused.error, "bad_parameter");
  EXPECT_THAT(*refused.body, HasSubstr("/api/1/timeline.csv has no parameter state: it has watch, "
                                       "from, to, limit, by"));
}

TEST_F(HistoryServiceTest, AHistoryThatCannotBeReadIsNotThereNow) {
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(ask("/api/1/events").status, 503);
}

// A named pipe is a file that nobody opens until somebody writes it: a disk that does not answer.
TEST_F(HistoryServiceTest, WhileTheDiskDoesNotAnswerSomeWaitAndOthersAreRefused) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directory(folder_);
  const std::string pipe = folder_ / kHistoryFile;
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Wake wake;
  HistoryService service(folder_);
  service.set_wake(wake.caller());
  HttpRequest request;
  request.path = "/api/1/events";
  std::map<std::string, std::size_t> answers;  // by the code of their error
  const auto keep = [&answers](const HttpResponse& answer) { ++answers[answer.error]; };
  constexpr std::size_t kAsked = HistoryService::kMaxWaiting + 2;  // one is under way
  for (std::size_t i = 0; i < kAsked; ++i) service.handle(request, keep);
  EXPECT_GE(answers["busy"], 1);
  EXPECT_EQ(answers["no_history"], 0);
  const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  while (answers["busy"] + answers["no_history"] < kAsked) {
    wake.wait();
    service.poll();
  }
  close(writer);
  EXPECT_GE(answers["no_history"], HistoryService::kMaxWaiting);
}

// The routes within the server: with its token, and only where there is a history.
TEST_F(HistoryServiceTest, TheServerHasItsRoutes) {
  LiveSlots slots;
  HttpServiceOptions options;
  options.access.token = "0123456789abcdef";
  options.history = folder_;
  Wake wake;
  HttpService service(slots, http_run_info(), options);
  service.set_wake(wake.caller());
  HttpService without(slots, http_run_info(), {});
  HttpRequest request;
  request.method = "GET";
  request.host = "localhost";
  for (const char* path : {"/api/1/events", "/api/1/events.csv", "/api/1/events.json",
                           "/api/1/events/2.jpg", "/api/1/timeline", "/api/1/timeline.csv"}) {
    request.path = path;
    request.authorization.clear();
    HttpResponse answer;
    const auto keep = [&answer](HttpResponse response) { answer = std::move(response); };
    service.handle(request, keep);
    EXPECT_EQ(answer.status, 401) << path;
    request.authorization = "Bearer 0123456789abcdef";
    answer.status = 0;
    service.handle(request, keep);
    EXPECT_EQ(answer.status, 0) << "the server's thread does not read it: " << path;
    wake.wait();
    service.poll();
    EXPECT_EQ(answer.status, 200) << path;
    without.handle(request, keep);
    EXPECT_EQ(answer.status, 404) << path;
  }
  request.path = "/api/1/events/2.jpg";
  EXPECT_STREQ(service.route(request), "/api/1/events/NUMBER.jpg");
}

}  // namespace
}  // namespace lookout
