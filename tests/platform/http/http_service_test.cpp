#include "platform/http/http_service.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"
#include "tests/platform/http/http_testing.h"
#include "tests/support/captured_log.h"

namespace lookout {
namespace {

using nlohmann::json;

class HttpServiceTest : public testing::Test {
 protected:
  HttpServiceTest() { slots_.put(WatchList{{nullptr, http_model()}}); }

  // The answer, which comes at once.
  HttpResponse ask(const HttpRequest& request) {
    HttpResponse answer;
    answer.status = 0;
    service_.handle(request, [&answer](HttpResponse response) { answer = std::move(response); });
    return answer;
  }
  static HttpRequest get(const std::string& path) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.host = "localhost";
    return request;
  }
  static std::string code(const HttpResponse& response) {
    return json::parse(*response.body)["error"]["code"];
  }
  static HttpServiceOptions options() {
    HttpServiceOptions options;
    options.access.token = "0123456789abcdef";
    return options;
  }

  LiveSlots slots_;
  HttpService service_{slots_, http_run_info(), {}};
  HttpService guarded_{slots_, http_run_info(), options()};
};

TEST_F(HttpServiceTest, ThePageAndItsFilesAreInTheProgram) {
  for (const char* path : {"/", "/page.css", "/page.js", "/chart.js", "/elements.js", "/watches.js",
                           "/language.js", "/words/de.js", "/icon.svg", "/manifest.webmanifest"}) {
    const HttpResponse answer = ask(get(path));
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_GT(answer.body->size(), 50U) << path;
  }
  EXPECT_NE(ask(get("/")).body->find("<!DOCTYPE html>"), std::string::npos);
  EXPECT_EQ(ask(get("/")).type, "text/html; charset=utf-8");
  EXPECT_EQ(ask(get("/page.js")).type, "text/javascript");
  EXPECT_EQ(ask(get("/manifest.webmanifest")).type, "application/manifest+json");
  const HttpResponse icon = ask(get("/icons/180.png"));
  EXPECT_EQ(icon.type, "image/png");
  const std::vector<std::uint8_t> bytes(icon.body->begin(), icon.body->end());
  EXPECT_EQ(cv::imdecode(bytes, cv::IMREAD_UNCHANGED).size(), cv::Size(180, 180));
}

TEST_F(HttpServiceTest, MetricsAreTextForWhoKnowsTheToken) {
  EXPECT_EQ(ask(get("/metrics")).status, 404);  // there are none
  HttpServiceOptions with_metrics = options();
  with_metrics.metrics = [] { return std::string("a 1\n"); };
  HttpService service(slots_, http_run_info(), with_metrics);
  HttpResponse answer;
  const auto keep = [&answer](HttpResponse response) { answer = std::move(response); };
  service.handle(get("/metrics"), keep);
  EXPECT_EQ(answer.status, 401);
  HttpRequest request = get("/metrics");
  request.authorization = "Bearer 0123456789abcdef";
  service.handle(request, keep);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(*answer.body, "a 1\n");
}

TEST_F(HttpServiceTest, OtherPathsAreNotFound) {
  for (const char* path : {"/nothing", "/page.css/", "//", "/../etc/passwd", "/%2e%2e/etc/passwd",
                           "/state%00", "/State", "/pages/page.css"}) {
    const HttpResponse answer = ask(get(path));
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(code(answer), "not_found");
  }
  HttpRequest action = get("/");
  action.query["action"] = "command";
  EXPECT_EQ(ask(action).status, 404);
}

TEST_F(HttpServiceTest, OtherMethodsAreRefused) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
    HttpRequest request = get("/state");
    request.method = method;
    const HttpResponse answer = ask(request);
    EXPECT_EQ(answer.status, 405) << method;
    ASSERT_EQ(answer.headers.size(), 1U);
    EXPECT_EQ(answer.headers[0].first, "Allow");
    EXPECT_EQ(answer.headers[0].second, "GET, HEAD");
  }
}

TEST_F(HttpServiceTest, OtherHostsAndOriginsAreRefused) {
  HttpRequest request = get("/");
  request.host = "evil.example";
  EXPECT_EQ(ask(request).status, 421);
  request = get("/state");
  request.origin = "http://evil.example";
  EXPECT_EQ(ask(request).status, 403);
}

TEST_F(HttpServiceTest, AllButTheHealthAsksForTheToken) {
  for (const char* path : {"/", "/page.css", "/state", "/snapshot.jpg", "/stream", "/events"}) {
    HttpResponse answer;
    guarded_.handle(get(path), [&answer](HttpResponse response) { answer = std::move(response); });
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_EQ(answer.headers.at(0).first, "WWW-Authenticate");
    EXPECT_EQ(answer.headers.at(0).second, R"(Basic realm="lookout", charset="UTF-8")");
  }
  HttpResponse answer;
  const auto keep = [&answer](HttpResponse response) { answer = std::move(response); };
  guarded_.handle(get("/healthz"), keep);
  EXPECT_EQ(answer.status, 503);
  HttpRequest request = get("/");
  request.authorization = "Bearer 0123456789abcdef";
  guarded_.handle(request, keep);
  EXPECT_EQ(answer.status, 200);
}

TEST_F(HttpServiceTest, AnAddressMayNotGuessOnAndOn) {
  const auto status = [this](const std::string& address, const std::string& authorization) {
    HttpRequest request = get("/");
    request.address = address;
    request.authorization = authorization;
    HttpResponse answer;
    guarded_.handle(request, [&answer](HttpResponse response) { answer = std::move(response); });
    if (answer.status == 429) {
      EXPECT_EQ(answer.error, "too_many_guesses");
      EXPECT_EQ(answer.headers.at(0), std::make_pair(std::string("Retry-After"), std::string("6")));
    }
    return answer.status;
  };
  const std::string right = "Bearer 0123456789abcdef";
  // A browser asks without a token first.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status("a", ""), 401);
  for (int i = 0; i < HttpService::kGuesses; ++i) {
    EXPECT_EQ(status("a", right), 200);
    EXPECT_EQ(status("a", "Bearer wrong"), 401);
  }
  EXPECT_EQ(status("a", "Bearer wrong"), 429);
  EXPECT_EQ(status("a", right), 429);
  EXPECT_EQ(status("a", ""), 401);
  EXPECT_EQ(status("b", right), 200);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status("", "Bearer wrong"), 401);
}

TEST_F(HttpServiceTest, AnAddressThatGuessesIsNamedOnceInTheLog) {
  const CapturedLog log;
  HttpRequest request = get("/");
  request.address = "192.0.2.7";
  request.authorization = "Bearer wrong";
  for (int i = 0; i < 100; ++i) guarded_.handle(request, [](const HttpResponse&) {});
  const std::string text = log.text();
  const std::string line = "http: 192.0.2.7 is refused: too many wrong tokens came from there";
  EXPECT_NE(text.find(line), std::string::npos) << text;
  EXPECT_EQ(text.find("is refused"), text.rfind("is refused")) << text;
}

TEST_F(HttpServiceTest, TheFormLeadsBackToTheLivePicture) {
  EXPECT_NE(ask(get("/predict")).body->find("<p><a href=\"./\" "), std::string::npos);
}

TEST_F(HttpServiceTest, TheStateHasWhatThePageReads) {
  EXPECT_EQ(ask(get("/state")).status, 503);
  slots_.put(result_of(7), grey_frame(0));
  json state = json::parse(*ask(get("/state")).body);
  EXPECT_EQ(state["camera"], "Front <door>");
  EXPECT_TRUE(state["about"]["version"].is_string());
  EXPECT_EQ(state["about"]["source"], "a test");
  EXPECT_EQ(state["about"]["region"]["resize"], "stretch");
  EXPECT_EQ(state["about"]["archive"]["producer"], "nobody");
  EXPECT_EQ(state["result"]["type"], "classification");
  EXPECT_EQ(state["result"]["seq"], 7);
  EXPECT_EQ(state["result"]["results"][0]["label"], "dog");
  EXPECT_EQ(state["status"]["state"], "online");
  EXPECT_TRUE(state["state"].is_null());
  EXPECT_TRUE(state["stats"].is_null());
  EXPECT_FALSE(state.contains("watches"));
  slots_.put(result_of(8, true), grey_frame(0));
  slots_.put(StatsSnapshot());
  state = json::parse(*ask(get("/state")).body);
  EXPECT_EQ(state["state"]["state"], "dog");
  EXPECT_EQ(state["stats"]["type"], "stats");
  slots_.put(CameraStatus{false, std::chrono::system_clock::now()});
  state = json::parse(*ask(get("/state")).body);
  EXPECT_EQ(state["status"]["state"], "offline");
  EXPECT_TRUE(state["state"].is_null());
}

TEST_F(HttpServiceTest, TheStateHasEachNamedWatch) {
  const WatchList watches = http_watches({"gate", "lamp"});
  slots_.put(watches);
  slots_.put(result_of(watches[1], 7, true), grey_frame(0));
  json state = json::parse(*ask(get("/state")).body);
  EXPECT_TRUE(state["result"].is_null());  // of the first one
  EXPECT_EQ(state["about"]["region"]["roi"], json({0, 0, 0.5, 1}));
  ASSERT_EQ(state["watches"].size(), 2U);
  EXPECT_EQ(state["watches"][0],
            json::parse(R"({"name":"gate","title":"The gate","roi":[0,0,0.5,1],"model":"fake",
                            "state":null,"score":null,"since":null})"));
  EXPECT_EQ(state["watches"][1],
            json::parse(R"({"name":"lamp","title":"The lamp","roi":[0,0,0.5,1],"model":"fake",
                            "state":"dog","score":0.9,"since":1795000000.0})"));
  slots_.put(result_of(watches[0], 8, true), grey_frame(0));
  state = json::parse(*ask(get("/state")).body);
  EXPECT_EQ(state["result"]["watch"], "gate");
  EXPECT_EQ(state["state"]["seq"], 8);
  slots_.put(CameraStatus{false, std::chrono::system_clock::now()});
  state = json::parse(*ask(get("/state")).body);
  EXPECT_TRUE(state["watches"][1]["state"].is_null());
}

TEST_F(HttpServiceTest, TheStateNamesNewModelsThatFailed) {
  WatchList watches = http_watches({"gate", "lamp", "door"});
  slots_.put(watches);
  slots_.put(result_of(watches[0], 7, true), grey_frame(0));
  EXPECT_EQ(json::parse(*ask(get("/state")).body)["about"]["failed_models"], json::array());
  ModelInfo before = *watches[1].model;
  before.failed = "lamp \"2\" (0123456789ab)";
  watches[1].model = watches[2].model = std::make_shared<ModelInfo>(before);
  slots_.put(watches);
  EXPECT_EQ(json::parse(*ask(get("/state")).body)["about"]["failed_models"],
            json::array({"lamp \"2\" (0123456789ab)"}));
}

TEST_F(HttpServiceTest, HealthyIsACameraWhoseFramesAreClassified) {
  EXPECT_EQ(code(ask(get("/healthz"))), "starting");
  slots_.put(result_of(1), grey_frame(0));
  EXPECT_EQ(*ask(get("/healthz")).body, "ok\n");
  slots_.put(CameraStatus{false, std::chrono::system_clock::now()});
  const HttpResponse away = ask(get("/healthz"));
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(code(away), "camera_away");
}

TEST_F(HttpServiceTest, TheNinthViewerAndTheSeventeenthListenerAreRefused) {
  std::vector<HttpResponse> answers;
  answers.reserve(8 + 16);
  for (int i = 0; i < 8; ++i) answers.push_back(ask(get("/stream")));
  for (int i = 0; i < 16; ++i) answers.push_back(ask(get("/events")));
  for (const HttpResponse& answer : answers) EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(code(ask(get("/stream"))), "too_many_viewers");
  EXPECT_EQ(ask(get("/stream")).status, 503);
  EXPECT_EQ(code(ask(get("/events"))), "too_many_listeners");
}

TEST_F(HttpServiceTest, TheActionsOfOtherStreamersAreKnown) {
  HttpRequest request = get("/");
  request.query["action"] = "stream";
  const HttpResponse answer = ask(request);
  EXPECT_EQ(answer.type, "multipart/x-mixed-replace; boundary=lookout-picture");
  EXPECT_NE(answer.stream, nullptr);
}

TEST_F(HttpServiceTest, TheRateOfEventsIsANumber) {
  HttpRequest request = get("/events");
  for (const char* rate : {"", "x", "-1", "0.001", "11", "nan", "5fps"}) {
    request.query["rate"] = rate;
    EXPECT_EQ(code(ask(request)), "bad_rate") << rate;
  }
  for (const char* rate : {"0", "0.5", "10"}) {
    request.query["rate"] = rate;
    EXPECT_EQ(ask(request).status, 200) << rate;
  }
}

TEST_F(HttpServiceTest, TheRateOfAStreamIsANumber) {
  HttpRequest request = get("/stream");
  for (const char* fps : {"0.1", "0.5", "1000"}) {
    request.query["fps"] = fps;
    EXPECT_EQ(ask(request).status, 200) << fps;
  }
  for (const char* fps : {"", "x", "0", "-1", "0.05", "1001", "nan", "5fps"}) {
    request.query["fps"] = fps;
    EXPECT_EQ(ask(request).status, 400) << fps;
  }
}

}  // namespace
}  // namespace lookout
