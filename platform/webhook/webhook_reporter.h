// Sends a message to a web server with each change of the state.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <string>
#include <thread>

#include "pipeline/core/reporter.h"
#include "pipeline/model/preprocessor.h"
#include "platform/reporters/log_once.h"
#include "platform/webhook/webhook_sender.h"

namespace lookout {

// libcurl, through the module, which the first call loads. Throws Error(kUnsupported) when it or
// the module is missing.
std::unique_ptr<WebhookTransport> open_webhook(const WebhookConnection& connection);
// Throws as above.
void check_webhook_module();

struct WebhookReporterOptions {
  std::string camera;                        // its name
  View view;                                 // pictures are turned and mirrored, but not cut
  std::string mute_model;                    // whose changes are not sent; empty: none
  std::chrono::milliseconds patience{2000};  // at the end
  std::function<std::unique_ptr<WebhookTransport>(const WebhookConnection&)> open = open_webhook;
  WebhookChance chance;
};

// For all watches of a run. A change is put where the thread "webhook" finds it, of each watch the
// newest; the picture is copied if one is sent, once for all watches of a frame. The thread encodes
// it and sends. A server that is away or stalls holds up nothing.
class WebhookReporter : public Reporter {
 public:
  WebhookReporter(WebhookSettings settings, WebhookReporterOptions options,
                  const std::shared_ptr<WebhookCounters>& counters);
  // Waits within the patience for messages that were not tried yet, and logs the counts.
  ~WebhookReporter() override;
  WebhookReporter(const WebhookReporter&) = delete;
  WebhookReporter& operator=(const WebhookReporter&) = delete;

  // What waits of watches that are gone is dropped. Warns of states that no model has.
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;

 private:
  class Worker;

  const std::vector<std::string> states_;
  LogOnce unknown_states_;
  const bool with_picture_;
  const std::string mute_model_;
  const std::string camera_;
  const std::chrono::milliseconds patience_;
  const std::shared_ptr<WebhookCounters> counters_;
  const std::shared_ptr<Worker> worker_;  // shared with the thread, which may be detached
  std::uint64_t copied_ = 0;              // the frame of which picture_ is
  cv::Mat picture_;                       // the last one, as long as another watch may want it
  std::thread thread_;
};

}  // namespace lookout
