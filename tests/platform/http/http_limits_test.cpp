// What clients cannot take: places, and time.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/platform/http/http_client.h"
#include "tests/platform/http/http_testing.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kShort{50};
// On a busy machine, too, a client has sent the beginning within it.
constexpr std::chrono::milliseconds kShortAfterSending{2000};
constexpr std::chrono::hours kNever{1};
constexpr const char* kEvents = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";

HttpLimits patient() {
  HttpLimits limits;
  limits.header = kNever;
  limits.keep_alive = kNever;
  return limits;
}

// Clients that listen, and so keep their places.
std::vector<std::unique_ptr<HttpClient>> listeners(const HttpRun& run, std::size_t count) {
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<HttpClient>(run.port()));
    EXPECT_EQ(clients.back()->get("/events").status, 200);
  }
  return clients;
}

TEST(HttpLimits, AnIdleClientGoesAfterTheDeadline) {
  HttpLimits limits = patient();
  limits.header = kShort;
  const HttpRun run(limits);
  HttpClient client(run.port());
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpLimits, AByteNowAndThenDoesNotHelp) {
  HttpLimits limits = patient();
  limits.header = kShortAfterSending;
  const HttpRun run(limits);
  HttpClient client(run.port());
  client.send("GET / HTTP/1.1\r\nX: ");
  std::string answer;
  while (answer.empty()) {
    const bool is_open = client.send("y");
    answer = client.read_now();
    ASSERT_TRUE(is_open || !answer.empty()) << "closed without an answer";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(answer.rfind("HTTP/1.1 408 ", 0), 0U) << answer;
}

TEST(HttpLimits, ARequestThatStopsHalfwayIsTooSlow) {
  HttpLimits limits = patient();
  limits.header = kShortAfterSending;
  const HttpRun run(limits);
  HttpClient client(run.port());
  client.send("GET / HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(client.read_answer().status, 408);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpLimits, AKeptConnectionGoesAfterTheDeadline) {
  HttpLimits limits = patient();
  limits.keep_alive = kShort;
  const HttpRun run(limits);
  HttpClient client(run.port());
  EXPECT_EQ(client.get("/").status, 200);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpLimits, AViewerThatDoesNotReadGoesAfterTheDeadline) {
  HttpLimits limits = patient();
  limits.part = kShort;
  HttpServiceOptions options;
  options.view.max_viewers = 1;
  HttpRun run(limits, options);
  HttpClient viewer(run.port(), 4096);
  EXPECT_EQ(viewer.get("/stream").status, 200);
  Frame frame;
  frame.bgr.create(1000, 1000, CV_8UC3);
  cv::randu(frame.bgr, 0, 255);
  int status = 503;
  for (std::uint64_t i = 0; status != 200; ++i) {
    run.reporter().report(result_of(i), frame);
    status = http_get(run.port(), "/stream").status;
  }
}

TEST(HttpLimits, WhenAllPlacesAreTakenTheOldestWithoutARequestGoes) {
  HttpLimits limits = patient();
  limits.clients = 3;
  const HttpRun run(limits);
  const auto listening = listeners(run, 1);
  HttpClient oldest(run.port());
  oldest.send("GET");
  HttpClient old(run.port());
  EXPECT_EQ(old.get("/").status, 200);
  EXPECT_EQ(http_get(run.port(), "/").status, 200);
  EXPECT_EQ(oldest.read_all(), "");
  EXPECT_TRUE(listening[0]->is_open());
}

TEST(HttpLimits, WhenAllPlacesAreInUseNewcomersAreRefused) {
  HttpLimits limits = patient();
  limits.clients = 3;
  const HttpRun run(limits);
  auto listening = listeners(run, 3);
  HttpClient refused(run.port());
  refused.send(kEvents);
  const HttpAnswer answer = refused.read_answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("too_many_clients"), std::string::npos);
  EXPECT_EQ(refused.read_all(), "");
  listening.pop_back();
  while (http_get(run.port(), "/").status != 200) {
  }
}

TEST(HttpLimits, OneAddressDoesNotTakeAllPlaces) {
  HttpLimits limits = patient();
  limits.per_address = 2;
  const HttpRun run(limits);
  const auto listening = listeners(run, 2);
  EXPECT_EQ(http_get(run.port(), "/").status, 503);
}

// The process has as many descriptors as it may have, and one more for the client.
TEST(HttpLimits, WithoutADescriptorForItAClientWaits) {
  const HttpRun run(patient());
  struct rlimit limit {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  const struct rlimit full { static_cast<rlim_t>(next + 1), limit.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
  HttpClient client(run.port());
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read_now(), "");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(client.read_answer().status, 503) << "no frame has been classified yet";
}

TEST(HttpLimits, FortyDrippingClientsShutNobodyOut) {
  const HttpRun run(patient());
  std::vector<std::unique_ptr<HttpClient>> dripping;
  for (int i = 0; i < 40; ++i) {
    dripping.push_back(std::make_unique<HttpClient>(run.port()));
    dripping.back()->send("GET / HTTP/1.1\r\nX");
  }
  EXPECT_EQ(http_get(run.port(), "/").status, 200);
}

}  // namespace
}  // namespace lookout
