// The routes of the HTTP server.
#pragma once

#include <string>

#include "pipeline/results/run_info.h"
#include "platform/http/event_feed.h"
#include "platform/http/http_access.h"
#include "platform/http/http_message.h"
#include "platform/http/live_lines.h"
#include "platform/http/live_slots.h"
#include "platform/http/live_view.h"

namespace lookout {

struct HttpServiceOptions {
  HttpAccess access;
  LiveViewOptions view;
  std::size_t max_listeners = 16;  // of /events
};

// `GET /`, `/state`, `/healthz`, `/snapshot.jpg`, `/stream`, `/events`; nothing changes anything.
// Used by the server's thread alone, but for the slots.
class HttpService : public HttpHandler {
 public:
  static constexpr std::chrono::seconds kStall{30};  // without a result: no longer healthy

  // `slots` outlives this.
  HttpService(LiveSlots& slots, const RunInfo& info, HttpServiceOptions options);

  void handle(const HttpRequest& request, const HttpRespond& respond) override;
  void beat() override;
  bool is_busy() const override { return view_.is_busy() || feed_.is_busy(); }

  std::uint64_t encoded() const { return view_.encoded(); }
  std::uint64_t dropped() const { return feed_.dropped(); }

 private:
  HttpResponse state();
  HttpResponse health() const;
  HttpResponse events();
  HttpResponse stream(const HttpRequest& request);

  LiveSlots& slots_;
  const HttpAccess access_;
  LiveLines lines_;
  LiveView view_;
  EventFeed feed_;
};

}  // namespace lookout
