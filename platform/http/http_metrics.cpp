#include "platform/http/http_metrics.h"

#include <initializer_list>

namespace lookout {
void HttpMetrics::count(const std::string& route, const HttpResponse& response,
                        Clock::duration time) {
  ++requests_[{route, response.status}];
  durations_[route].record(time);
  if (!response.error.empty()) count_rejected(response.error);
}

std::string HttpMetrics::text(const HttpServiceCounts& service) const {
  using Rows = std::initializer_list<std::pair<const char*, std::uint64_t>>;
  MetricsText text;
  text.begin("lookout_http_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_) {
    text.add({{"route", key.first}, {"code", std::to_string(key.second)}}, count);
  }
  text.begin("lookout_http_request_duration_seconds", "histogram",
             "Time from a complete request to its answer, or to the begin of a stream.");
  text.add_each("route", durations_);
  text.begin("lookout_http_rejected_total", "counter",
             "Requests and clients that got an error, or no answer, by the reason.");
  text.add_each("reason", rejected_);
  text.gauge("lookout_http_clients", "Clients that are connected.", {}, clients_);
  text.begin("lookout_live_pictures_total", "counter",
             "Pictures for all who look together, encoded or as the camera sent them.");
  text.add_each("kind", Rows{{"encoded", service.encoded}, {"passed", service.passed}});
  text.begin("lookout_stream_frames_total", "counter",
             "Pictures that viewers of the stream were sent, or were too slow for.");
  text.add_each("kind", Rows{{"sent", service.frames_sent}, {"skipped", service.frames_skipped}});
  if (service.predict_queue) {
    text.gauge("lookout_predict_queue_length", "Requests with pictures that wait or are in work.",
               {}, *service.predict_queue);
  }
  if (const DecoderCounters* decoders = service.decoders) {
    text.counter("lookout_decoder_starts_total",
                 "Starts of processes that decode pictures of clients.", {},
                 decoders->starts.load());
    text.begin("lookout_decoder_failures_total", "counter",
               "Pictures that such a process did not answer for, by the reason.");
    text.add_each("reason", Rows{{"ended", decoders->ended},
                                 {"late", decoders->late},
                                 {"nonsense", decoders->nonsense},
                                 {"cancelled", decoders->cancelled},
                                 {"unavailable", decoders->unavailable}});
  }
  return text.text();
}

}  // namespace lookout
