#include "platform/http/http_metrics.h"

namespace lookout {
namespace {

void add_decoders(const DecoderCounters& decoders, MetricsText& text) {
  text.begin("lookout_decoder_starts_total", "counter",
             "Starts of processes that decode pictures of clients.");
  text.add({}, static_cast<double>(decoders.starts));
  text.begin("lookout_decoder_failures_total", "counter",
             "Pictures that such a process did not answer for, by the reason.");
  for (const auto& [reason, count] :
       {std::pair("ended", &decoders.ended), std::pair("late", &decoders.late),
        std::pair("nonsense", &decoders.nonsense), std::pair("cancelled", &decoders.cancelled),
        std::pair("unavailable", &decoders.unavailable)}) {
    text.add({{"reason", reason}}, static_cast<double>(*count));
  }
}

}  // namespace

void HttpMetrics::count(const std::string& route, const HttpResponse& response,
                        Clock::duration time) {
  ++requests_[{route, response.status}];
  durations_[route].record(time);
  if (!response.error.empty()) count_rejected(response.error);
}

std::string HttpMetrics::text(const HttpServiceCounts& service) const {
  MetricsText text;
  text.begin("lookout_http_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_) {
    text.add({{"route", key.first}, {"code", std::to_string(key.second)}},
             static_cast<double>(count));
  }
  text.begin("lookout_http_request_duration_seconds", "histogram",
             "Time from a complete request to its answer, or to the begin of a stream.");
  for (const auto& [route, buckets] : durations_) text.add({{"route", route}}, buckets);
  text.begin("lookout_http_rejected_total", "counter",
             "Requests and clients that got an error, or no answer, by the reason.");
  for (const auto& [reason, count] : rejected_) {
    text.add({{"reason", reason}}, static_cast<double>(count));
  }
  text.begin("lookout_http_clients", "gauge", "Clients that are connected.");
  text.add({}, static_cast<double>(clients_));
  text.begin("lookout_live_pictures_total", "counter",
             "Pictures for all who look together, encoded or as the camera sent them.");
  text.add({{"kind", "encoded"}}, static_cast<double>(service.encoded));
  text.add({{"kind", "passed"}}, static_cast<double>(service.passed));
  text.begin("lookout_stream_frames_total", "counter",
             "Pictures that viewers of the stream were sent, or were too slow for.");
  text.add({{"kind", "sent"}}, static_cast<double>(service.frames_sent));
  text.add({{"kind", "skipped"}}, static_cast<double>(service.frames_skipped));
  if (service.predict_queue) {
    text.begin("lookout_predict_queue_length", "gauge",
               "Requests with pictures that wait or are in work.");
    text.add({}, static_cast<double>(*service.predict_queue));
  }
  if (service.decoders != nullptr) add_decoders(*service.decoders, text);
  return text.text();
}

}  // namespace lookout
