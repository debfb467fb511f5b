// What the HTTP server does, in figures for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "platform/decoder/decoder_process.h"
#include "platform/http/http_message.h"
#include "platform/metrics/metrics_text.h"

namespace lookout {

// What a service counts itself.
struct HttpServiceCounts {
  std::optional<std::size_t> predict_queue;   // requests that wait or are in work; empty: none may
  const DecoderCounters* decoders = nullptr;  // of their pictures; null: none may
  std::uint64_t encoded = 0;                  // pictures for those who look
  std::uint64_t passed = 0;                   // the same as the camera sent them
  std::uint64_t frames_sent = 0;              // pictures of streams, of all viewers together
  std::uint64_t frames_skipped = 0;           // that a viewer was too slow for
};

// Used by the server's thread alone, which also answers for the metrics.
class HttpMetrics {
 public:
  // Counts an answer, which was ready `time` after its request was complete. `route`: what
  // HttpHandler::route() says, so that there are few.
  void count(const std::string& route, const HttpResponse& response, Clock::duration time);
  // Counts a client that got no answer, besides answers that are errors.
  void count_rejected(const std::string& reason) { ++rejected_[reason]; }
  void set_clients(std::size_t clients) { clients_ = clients; }

  // The metrics in the text format.
  std::string text(const HttpServiceCounts& service) const;

 private:
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;  // by route and status
  std::map<std::string, DurationBuckets> durations_;               // by route
  std::map<std::string, std::uint64_t> rejected_;                  // by reason
  std::size_t clients_ = 0;
};

}  // namespace lookout
