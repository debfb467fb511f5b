// What one address cannot take from others that send pictures: memory, and turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/platform/http/http_client.h"
#include "tests/platform/http/predict_run.h"

namespace lookout {
namespace {

constexpr const char* kOther = "127.0.0.2";

// A client whose body the server waits for.
std::unique_ptr<HttpClient> begin_body(const PredictRun& run, const std::string& headers,
                                       const char* address = "127.0.0.1") {
  auto client = std::make_unique<HttpClient>(run.port(), 0, address);
  client->send("POST /predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n" + headers +
               "\r\n");
  EXPECT_EQ(client->read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  return client;
}

// A body of 1000 bytes, which is no picture.
int status_of_body(const PredictRun& run, const char* address) {
  return run.send(request_of(std::string(1000, 'a'), "image/png"), address).status;
}

TEST(PredictLimits, BodiesThatArePromisedTakeNothing) {
  const PredictRun run;
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (const char* headers : {"Transfer-Encoding: chunked\r\n", "Content-Length: 8388608\r\n"}) {
    for (int i = 0; i < 6; ++i) {
      clients.push_back(begin_body(run, headers));
      clients.back()->send(i % 2 == 0 ? "" : "1");
    }
  }
  for (const char* address : {"127.0.0.1", kOther}) {
    EXPECT_EQ(status_of_body(run, address), 415) << address;
  }
}

TEST(PredictLimits, AnAddressHasAQuarterOfAllBodies) {
  HttpLimits limits;
  limits.upload = 1000;
  limits.uploads = 4000;
  const PredictRun run(limits);
  {
    const auto slow = begin_body(run, "Content-Length: 1000\r\n");
    slow->send(std::string(999, 'a'));
    HttpAnswer answer;
    // The server may not have read the slow one's bytes yet.
    do {
      answer = run.send(request_of(std::string(1000, 'a'), "image/png"));
    } while (answer.status == 415);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.headers.at("retry-after"), "1");
    EXPECT_EQ(status_of_body(run, kOther), 415);
  }
  // Its bytes are free again when it has gone.
  int status = 503;
  while (status == 503) status = status_of_body(run, "127.0.0.1");
  EXPECT_EQ(status, 415);
}

TEST(PredictLimits, AllBodiesTogetherHaveALimit) {
  HttpLimits limits;
  limits.upload = 1000;
  limits.uploads = 4000;
  const PredictRun run(limits);
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (const char* address : {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    slow.push_back(begin_body(run, "Content-Length: 1000\r\n", address));
    slow.back()->send(std::string(999, 'a'));
    while (status_of_body(run, address) != 503) {
    }
  }
  EXPECT_EQ(status_of_body(run, "127.0.0.5"), 503);
  EXPECT_EQ(run.send(request_of("aaaa", "image/png"), "127.0.0.5").status, 415);
  slow.pop_back();
  while (status_of_body(run, "127.0.0.5") != 415) {
  }
}

TEST(PredictLimits, AnAddressHasARate) {
  HttpServiceOptions options;
  options.predict_rate = 1;
  const PredictRun run({}, std::move(options));
  const std::string request = request_of(png_of(1), "image/png");
  for (std::size_t i = 0; i < PredictService::kMaxPictures; ++i) {
    EXPECT_EQ(run.send(request).status, 200) << "a form sends so many at once";
  }
  HttpAnswer answer;
  do {
    answer = run.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n" +
                      std::string(1000, 'a'));
  } while (answer.status == 415);
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
  EXPECT_THAT(answer.body, testing::HasSubstr(R"("code":"too_many_requests")"));
  EXPECT_THAT(answer.body, testing::HasSubstr("http.predict-rate"));
  EXPECT_EQ(run.send(request, kOther).status, 200);
  EXPECT_EQ(http_get(run.port(), "/predict").status, 200) << "the form";
  EXPECT_THAT(http_get(run.port(), "/metrics").body,
              testing::HasSubstr("lookout_http_rejected_total{reason=\"too_many_requests\"} 1\n"));
}

TEST(PredictLimits, ARateIsAskedBeforeTheBody) {
  HttpServiceOptions options;
  options.predict_rate = 1;
  const PredictRun run({}, std::move(options));
  const std::string asking =
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n";
  std::string answer;
  do {
    HttpClient client(run.port());
    client.send(asking + "\r\n");
    answer = client.read_until("\r\n\r\n");
    if (answer.find(" 100 ") == std::string::npos) break;
    client.send("text");
    EXPECT_EQ(client.read_answer().status, 415);
  } while (true);
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 429 "));
}

TEST(PredictLimits, WithoutARateThereIsNone) {
  const PredictRun run;
  const std::string request = request_of("text", "image/png");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(run.send(request).status, 415);
}

}  // namespace
}  // namespace lookout
