// A real server and real clients, on the loopback interface.
#include "platform/http/http_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/core/error.h"
#include "tests/platform/http/http_client.h"
#include "tests/platform/http/http_testing.h"
#include "tests/platform/system/held.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

// Reports frames until its end, so that clients that wait for a picture get one.
class Frames {
 public:
  explicit Frames(HttpRun& run)
      : thread_([this, &run] {
          for (std::uint64_t i = 0; !stop_; ++i) {
            run.report(static_cast<int>(i % 250), i, i == 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        }) {}
  ~Frames() { end(); }
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// The grey of a stream's next picture; -1 when there is none.
int next_grey(HttpClient& viewer) {
  const std::string head = viewer.read_until("\r\n\r\n");
  const auto length = head.find("Content-Length: ");
  if (length == std::string::npos) return -1;
  return grey_of(viewer.read_bytes(std::stoul(head.substr(length + 16))));
}

// Answers what it was sent, and nothing to what came without a body.
class Echo : public HttpHandler {
 public:
  const char* route(const HttpRequest& /*request*/) const override { return "/"; }
  std::optional<HttpResponse> refusal(const HttpRequest& /*request*/) override {
    return std::nullopt;
  }
  void handle(const HttpRequest& request, const HttpRespond& respond) override {
    HttpResponse response;
    response.status = request.body ? 200 : 204;
    response.cache = "private";
    response.body = request.body;
    respond(std::move(response));
  }
  void poll() override {}
  bool is_busy() const override { return false; }
};

TEST(HttpServer, WhatChangesSomethingHasABody) {
  const ListenSockets sockets(parse_http_address("127.0.0.1:0"));
  const std::string name = sockets.names().at(0);
  const auto port = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
  Echo echo;
  HttpMetrics metrics;
  const HttpServer server(sockets, echo, {}, metrics);
  HttpClient client(port);  // one connection: what is not read would be the next request
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE"}) {
    client.send(method + " / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(client.read_answer().body, "{}") << method;
    const HttpAnswer nothing = client.get("/", "Host: a\r\n", method);
    EXPECT_EQ(nothing.status, 204);
    EXPECT_EQ(nothing.headers.count("content-length"), 0U);
    EXPECT_EQ(nothing.headers.count("content-type"), 0U);
    EXPECT_EQ(nothing.headers.at("cache-control"), "private");
  }
}

TEST(HttpServer, AnswersOneRequestAfterTheOther) {
  HttpRun run;
  run.report(1, 1, true);
  HttpClient client(run.port());
  const HttpAnswer page = client.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-security-policy"),
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'");
  EXPECT_EQ(page.headers.at("cross-origin-resource-policy"), "same-site");
  EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(page.headers.count("access-control-allow-origin"), 0U);
  const HttpAnswer state = client.get("/state");
  EXPECT_EQ(state.headers.at("content-type"), "application/json");
  EXPECT_EQ(nlohmann::json::parse(state.body)["state"]["state"], "dog");
  EXPECT_EQ(client.get("/healthz").body, "ok\n");
  const HttpAnswer head = client.get("/healthz", "Host: localhost\r\n", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "3");
  EXPECT_EQ(client.get("/nothing").status, 404);
  client.send(
      "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: [::1]\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 421);
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST(HttpServer, WhatIsNoRequestIsAnError) {
  const HttpRun run;
  const auto status = [&run](const std::string& text) {
    HttpClient client(run.port());
    client.send(text);
    const int status = client.read_answer().status;
    EXPECT_EQ(client.read_all(), "");
    return status;
  };
  EXPECT_EQ(status("what?\r\n\r\n"), 400);
  EXPECT_EQ(status("GET ftp://localhost/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
            400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: localhost\r\nHost: a\r\nConnection: close\r\n\r\n"),
            400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), 421);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nwhatever?"),
            405);
  EXPECT_EQ(
      status("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n"),
      405);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(9000, 'x')), 431);
  EXPECT_EQ(status("GET /" + std::string(5000, 'x') +
                   " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
            414);
}

// Else the system would take the answer back.
TEST(HttpServer, WhatAClientSendsAfterItsAnswerIsAccepted) {
  const HttpRun run;
  HttpClient client(run.port());
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 405);
  EXPECT_EQ(client.read_all(), "");
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(client.send(std::string(10'000, 'a'))) << i;
}

TEST(HttpServer, AHeaderMayHaveEightKilobytesAndItsPathFour) {
  const HttpRun run;
  const auto status = [&run](std::size_t path, std::size_t header) {
    std::string request =
        "GET /" + std::string(path - 1, '/') + " HTTP/1.1\r\nHost: localhost\r\nX: ";
    request += std::string(header - request.size() - 4, 'x') + "\r\n\r\n";
    HttpClient client(run.port());
    client.send(request);
    return client.read_answer().status;
  };
  EXPECT_EQ(status(1, 8192), 200);
  EXPECT_EQ(status(1, 8192 + 64), 431);  // Beast does not count all of the first lines
  EXPECT_EQ(status(4096, 8192), 404);
  EXPECT_EQ(status(4097, 8192), 414);
}

TEST(HttpServer, ARequestThatIsCutAnywhereIsNotAnswered) {
  const HttpRun run;
  const std::string request = "GET /page.css?a=b HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\r\n";
  for (std::size_t size = 0; size < request.size(); ++size) {
    HttpClient client(run.port());
    client.send(request.substr(0, size));
    client.end_sending();
    EXPECT_EQ(client.read_all(), "") << size;
  }
  HttpClient client(run.port());
  client.send(request);
  client.end_sending();
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST(HttpServer, SnapshotsAndStreamsShowTheNewestFrame) {
  HttpRun run;
  Frames frames(run);
  for (const char* target : {"/snapshot.jpg", "/snapshot", "/?action=snapshot"}) {
    const HttpAnswer snapshot = http_get(run.port(), target);
    EXPECT_EQ(snapshot.status, 200) << target;
    EXPECT_EQ(snapshot.headers.at("content-type"), "image/jpeg");
    EXPECT_EQ(snapshot.headers.count("x-frame"), 1U);
    EXPECT_GE(grey_of(snapshot.body), 0);
  }
  HttpClient viewer(run.port());
  const HttpAnswer stream = viewer.get("/stream");
  EXPECT_EQ(stream.status, 200);
  EXPECT_EQ(stream.headers.at("x-accel-buffering"), "no");
  for (int i = 0; i < 3; ++i) EXPECT_GE(next_grey(viewer), 0);
  EXPECT_EQ(http_get(run.port(), "/stream", "Host: localhost\r\n", "HEAD").status, 200);
  frames.end();
}

TEST(HttpServer, AViewerThatReadsLateGetsTheNewestPicture) {
  HttpRun run;
  cv::Mat noise(600, 600, CV_8UC3);  // of which no two fit into the connection
  cv::randu(noise, 0, 255);
  std::atomic<int> grey = 0;
  std::atomic<bool> stop = false;
  std::thread frames([&] {
    for (std::uint64_t i = 0; !stop; ++i) {
      Frame frame;
      frame.bgr = noise.clone();
      frame.bgr(cv::Rect(200, 200, 200, 200)).setTo(cv::Scalar::all(grey));
      run.reporter().report(result_of(i), frame);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  HttpClient late(run.port(), 4096);
  EXPECT_EQ(late.get("/stream").status, 200);
  HttpClient viewer(run.port());
  EXPECT_EQ(viewer.get("/stream").status, 200);
  for (; grey < 240; grey += 20) {
    int seen = 0;
    while (seen >= 0 && std::abs(seen - grey) > 5) seen = next_grey(viewer);
    EXPECT_GE(seen, 0);
  }
  // Those that were on their way when it stopped to read, and the newest.
  int pictures = 0;
  while (next_grey(late) < 215) ++pictures;
  EXPECT_LE(pictures, 3);
  stop = true;
  frames.join();
}

TEST(HttpServer, EventsCarryTheLinesOfTheRun) {
  HttpRun run;
  HttpClient client(run.port());
  EXPECT_EQ(client.get("/events").headers.at("content-type"), "text/event-stream");
  EXPECT_NE(client.read_until("\n\n").find("event: status\ndata: {"), std::string::npos);
  run.report(1, 42, true);
  const std::string state = client.read_until("\n\n");
  EXPECT_EQ(state.rfind("event: state\n", 0), 0U) << state;
  const std::string result = client.read_until("\n\n");
  EXPECT_EQ(result.rfind("event: classification\n", 0), 0U) << result;
  run.reporter().status({false, std::chrono::system_clock::now()});
  EXPECT_NE(client.read_until("\n\n").find("offline"), std::string::npos);
}

TEST(HttpServer, EventsGoOnAfterTheLastIdThatAClientGot) {
  HttpRun run;
  std::string id;
  {
    HttpClient client(run.port());
    client.get("/events");
    run.report(1, 1, true);
    const std::string head = "\nid: ";
    const std::string state = client.read_until("data: {\"schema\":1,\"type\":\"state\"");
    const auto begin = state.find(head) + head.size();
    id = state.substr(begin, state.find('\n', begin) - begin);
  }
  run.report(1, 2, true);
  run.report(1, 3, true);
  HttpClient client(run.port());
  client.get("/events", "Host: localhost\r\nLast-Event-ID: " + id + "\r\n");
  EXPECT_NE(client.read_until("\n\n").find("\"seq\":2,"), std::string::npos);
  EXPECT_NE(client.read_until("\n\n").find("\"seq\":3,"), std::string::npos);
  EXPECT_NE(client.read_until("\n\n").find("event: status\n"), std::string::npos);
}

TEST(HttpServer, AViewerThatLeavesMakesRoom) {
  HttpServiceOptions options;
  options.view.max_viewers = 1;
  HttpRun run({}, options);
  {
    HttpClient viewer(run.port());
    EXPECT_EQ(viewer.get("/stream").status, 200);
    const HttpAnswer full = http_get(run.port(), "/stream");
    EXPECT_EQ(full.status, 503);
    EXPECT_EQ(full.headers.count("retry-after"), 1U);
  }
  while (http_get(run.port(), "/stream").status != 200) {
  }
}

TEST(HttpServer, ItsEndLeavesNoThreadAndNoDescriptor) {
  // Libraries open what they keep with the first picture.
  {
    HttpRun first;
    Frames frames(first);
    http_get(first.port(), "/snapshot.jpg");
  }
  const Held before;
  {
    HttpRun run;
    HttpClient idle(run.port());
    HttpClient viewer(run.port());
    HttpClient listener(run.port());
    HttpClient waiting(run.port());
    HttpClient kept(run.port());
    EXPECT_EQ(viewer.get("/stream").status, 200);
    EXPECT_EQ(listener.get("/events").status, 200);
    EXPECT_EQ(kept.get("/healthz").status, 503);
    waiting.send("GET /snapshot.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n");
    run.end();
    for (HttpClient* client : {&idle, &viewer, &listener, &waiting, &kept}) client->read_all();
  }
  expect_nothing_left_since(before);
}

TEST(HttpServer, AnAddressThatIsTakenIsAnError) {
  const HttpRun run;
  HttpAddress address = parse_http_address("127.0.0.1:0");
  address.port = run.port();
  try {
    const ListenSockets second(address);
    FAIL() << "two servers at one address";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("127.0.0.1:"), std::string::npos) << error.what();
  }
}

TEST(HttpServer, AUnixSocketIsRemovedAtTheEndAndTakenOverAfterAKill) {
  const TempDir directory;
  HttpAddress address;
  address.path = (directory.path() / "http").string();
  {
    const ListenSockets first(address);
    EXPECT_EQ(first.names().at(0), "unix:" + address.path);
    EXPECT_FALSE(first.are_public());
    EXPECT_THROW(ListenSockets second(address), Error);
    std::filesystem::create_hard_link(address.path, address.path + ".left");
  }
  EXPECT_FALSE(std::filesystem::exists(address.path));
  std::filesystem::rename(address.path + ".left", address.path);
  EXPECT_EQ(ListenSockets(address).fds().size(), 1U);
}

TEST(HttpServer, ManyClientsAtOnceAreServed) {
  HttpRun run;
  run.report(1, 0);  // /state has something to say
  Frames frames(run);
  std::vector<std::thread> clients;
  clients.reserve(8);
  std::atomic<int> served = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&run, &served, i] {
      for (int j = 0; j < 10; ++j) {
        if (http_get(run.port(), i % 2 == 0 ? "/state" : "/snapshot.jpg").status == 200) ++served;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(served, 80);
}

}  // namespace
}  // namespace lookout
