#include "platform/http/http_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/platform/http/http_client.h"
#include "tests/platform/http/http_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

TEST(HttpMetrics, CountsAnswersErrorsAndTimes) {
  HttpMetrics metrics;
  metrics.count("/state", http_text("text/plain", "a"), milliseconds(3));
  metrics.count("/state", http_error(503, "no_result", ""), milliseconds(30));
  metrics.count_rejected("displaced");
  metrics.set_clients(7);
  HttpServiceCounts service;
  service.frames_sent = 5;
  service.frames_skipped = 2;
  service.passed = 9;
  std::string text = metrics.text(service);
  for (const char* line :
       {"lookout_http_requests_total{route=\"/state\",code=\"200\"} 1\n",
        "lookout_http_requests_total{route=\"/state\",code=\"503\"} 1\n",
        "lookout_http_request_duration_seconds_bucket{route=\"/state\",le=\"0.005\"} 1\n",
        "lookout_http_request_duration_seconds_count{route=\"/state\"} 2\n",
        "lookout_http_rejected_total{reason=\"displaced\"} 1\n",
        "lookout_http_rejected_total{reason=\"no_result\"} 1\n", "lookout_http_clients 7\n",
        "lookout_stream_frames_total{kind=\"sent\"} 5\n",
        "lookout_live_pictures_total{kind=\"passed\"} 9\n",
        "lookout_stream_frames_total{kind=\"skipped\"} 2\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("lookout_predict_queue_length")));
  service.predict_queue = 4;
  EXPECT_THAT(metrics.text(service), HasSubstr("lookout_predict_queue_length 4\n"));
  EXPECT_THAT(text, Not(HasSubstr("lookout_decoder")));
  DecoderCounters decoders;
  decoders.starts = 3;
  decoders.nonsense = 2;
  service.decoders = &decoders;
  text = metrics.text(service);
  for (const char* line : {"lookout_decoder_starts_total 3\n",
                           "lookout_decoder_failures_total{reason=\"nonsense\"} 2\n",
                           "lookout_decoder_failures_total{reason=\"ended\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(HttpMetrics, ARouteIsNeverThePathThatWasSent) {
  const HttpRun run;
  HttpClient(run.port()).get("/healthz");
  HttpClient(run.port()).get("/secret/\"path");
  HttpClient(run.port()).get("/?action=stream");
  HttpClient(run.port()).get("/?action=secret");
  HttpClient(run.port()).get("/page.css", "Host: evil.example\r\n");
  HttpClient malformed(run.port());
  malformed.send("secret\r\n\r\n");
  malformed.read_all();
  const std::string text = http_get(run.port(), "/metrics").body;
  for (const char* line :
       {"{route=\"/healthz\",code=\"503\"} 1\n", "{route=\"(other)\",code=\"404\"} 2\n",
        "{route=\"/stream\",code=\"200\"} 1\n", "{route=\"/page.css\",code=\"421\"} 1\n",
        "{route=\"(other)\",code=\"400\"} 1\n",
        "lookout_http_rejected_total{reason=\"not_found\"} 2\n",
        "lookout_http_rejected_total{reason=\"wrong_host\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

TEST(HttpMetrics, ClientsThatGiveUpTheirPlaceAreCounted) {
  HttpLimits limits;
  limits.clients = 2;
  const HttpRun run(limits);
  HttpClient oldest(run.port());
  HttpClient client(run.port());
  EXPECT_EQ(client.get("/healthz").status, 503);
  HttpClient newest(run.port());
  EXPECT_EQ(oldest.read_all(), "");
  const std::string text = newest.get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("lookout_http_rejected_total{reason=\"displaced\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_http_clients 2\n"));
}

}  // namespace
}  // namespace lookout
