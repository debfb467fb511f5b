// What who has not logged in may see.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "platform/http/metrics_key.h"
#include "platform/system/password.h"
#include "tests/platform/http/teach_testing.h"

namespace lookout {
namespace {

const std::vector<std::string> kData{"/state",
                                     "/snapshot.jpg",
                                     "/snapshot",
                                     "/?action=snapshot",
                                     "/stream",
                                     "/?action=stream",
                                     "/events",
                                     "/metrics",
                                     "/api/1/events",
                                     "/api/1/timeline",
                                     "/api/1/events.csv",
                                     "/api/1/events.json",
                                     "/api/1/timeline.csv",
                                     "/api/1/teach",
                                     "/api/1/events/1.jpg",
                                     "/api/1/teach/pictures"};
const std::vector<std::string> kPages{"/", "/predict"};
const std::vector<std::string> kForAll{"/teach",  "/healthz",  "/ping",         "/page.css",
                                       "/api.js", "/icon.svg", "/api/1/session"};

class GuestsTest : public TeachServiceTest {
 protected:
  HttpServiceOptions guarded() {
    HttpServiceOptions options = teach_options();
    options.guests = false;
    options.history = directory_.path();
    options.metrics = [] { return "lookout_camera_up 1\n"; };
    return options;
  }
  int status(const std::string& path, const std::string& headers = "",
             const std::string& method = "GET") const {
    HttpClient client(run_->port());
    client.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return client.read_answer(method != "HEAD").status;
  }
};

TEST_F(GuestsTest, SeeNothingWhereTheyMayNot) {
  start(guarded());
  for (const std::string& path : kData) {
    EXPECT_EQ(status(path), 401) << path;
    EXPECT_EQ(status(path, "", "HEAD"), 401) << path;
    EXPECT_EQ(status(path, "Authorization: Bearer 0123456789abcdef\r\n"), 401) << path;
  }
  for (const std::string& path : kPages) {
    const HttpAnswer answer = http_get(run_->port(), path);
    EXPECT_EQ(answer.status, 303) << path;
    EXPECT_EQ(answer.headers.at("location"), "teach") << path;
  }
  for (const std::string& path : kForAll) {
    EXPECT_NE(status(path), 401) << path;
    EXPECT_NE(status(path), 303) << path;
  }
  EXPECT_EQ(status("/none"), 404);
}

TEST_F(GuestsTest, WhoHasLoggedInSeesAllByCookieOrBearer) {
  start(guarded());
  const std::string id = cookie_.substr(cookie_.find('=') + 1);
  for (const std::string& headers :
       {cookie_, "Authorization: Bearer " + id.substr(0, id.find('\r')) + "\r\n"}) {
    for (const std::string& path : kPages) EXPECT_EQ(status(path, headers), 200) << path;
    for (const char* path : {"/api/1/teach", "/state", "/api/1/events"}) {
      EXPECT_NE(status(path, headers), 401) << path;
    }
  }
}

TEST_F(GuestsTest, WhoLogsOutSeesNoMoreOfWhatIsOpen) {
  start(guarded());
  run_->report(50, 1, /*changed=*/true);
  const std::string head = " HTTP/1.1\r\nHost: localhost\r\n" + cookie_ + "\r\n";
  HttpClient viewer(run_->port());
  viewer.send("GET /stream" + head);
  ASSERT_EQ(viewer.read_answer(/*has_body=*/false).status, 200);
  HttpClient listener(run_->port());
  listener.send("GET /events" + head);
  ASSERT_EQ(listener.read_answer(/*has_body=*/false).status, 200);
  ASSERT_EQ(post(*run_, "/api/1/logout", own_headers(*run_, cookie_), "{}").status, 200);
  viewer.read_all();
  EXPECT_FALSE(viewer.is_open());
  std::uint64_t sequence = 1;
  while (listener.is_open()) run_->report(50, ++sequence, /*changed=*/true);
}

TEST_F(GuestsTest, WhoMayReadThePasswordsFileSeesTheMetricsAlone) {
  start(guarded());
  const std::string hash = read_password_hash(teach_options().login->password);
  const std::string key = "Authorization: Bearer " + metrics_key(hash) + "\r\n";
  EXPECT_EQ(status("/metrics", key), 200);
  for (const std::string& path : kData) {
    if (path == "/metrics") continue;
    EXPECT_EQ(status(path, key), 401) << path;
  }
  EXPECT_EQ(status("/metrics", "Authorization: Bearer " + metrics_key("") + "\r\n"), 401);
  EXPECT_EQ(status("/metrics", "Authorization: Bearer " + metrics_key(hash + "x") + "\r\n"), 401);
}

TEST_F(GuestsTest, AsksForNoMoreThanTheTokenWhereThereIsOne) {
  HttpServiceOptions options = guarded();
  options.access.token = "0123456789abcdef";
  start(std::move(options));
  const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
  EXPECT_EQ(status("/state"), 401);
  EXPECT_EQ(status("/metrics"), 401);
  EXPECT_EQ(status("/healthz"), 503);
  EXPECT_NE(status("/state", token), 401);
  EXPECT_EQ(status("/", token), 200);
  EXPECT_EQ(status("/metrics", token), 200);
}

TEST_F(GuestsTest, SeeThePageUnlessTheyMayNot) {
  for (const std::string& path : kPages) EXPECT_EQ(status(path), 200) << path;
  EXPECT_NE(status("/state"), 401);
}

}  // namespace
}  // namespace lookout
