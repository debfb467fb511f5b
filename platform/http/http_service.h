// The routes of the HTTP server.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/results/run_info.h"
#include "platform/http/event_feed.h"
#include "platform/http/history_service.h"
#include "platform/http/http_access.h"
#include "platform/http/http_message.h"
#include "platform/http/http_metrics.h"
#include "platform/http/live_slots.h"
#include "platform/http/live_view.h"
#include "platform/http/login_service.h"
#include "platform/http/predict_service.h"
#include "platform/http/rate_limit.h"
#include "platform/http/teach_service.h"

namespace lookout {

struct HttpServiceOptions {
  HttpAccess access;
  LiveViewOptions view;
  std::size_t max_listeners = 16;  // of /events
  PictureQueue* pictures =
      nullptr;  // classifies pictures of clients; outlives the service; null: no
  PredictLimits predict;
  int predict_rate = 0;                  // requests with pictures a second of an address; 0: any
  std::size_t max_upload = 8 << 20;      // HttpLimits', which the form tells
  std::function<std::string()> metrics;  // text for Prometheus; empty: there are none
  std::filesystem::path history;         // its folder; empty: there is none
  std::shared_ptr<HistoryReaders> history_readers;  // as HistoryService's
  bool guests = true;                 // false: who has not logged in sees no data; needs `login`
  std::optional<LoginOptions> login;  // nothing: nobody can log in, and nothing be changed
  TeachServiceOptions teach;          // needs `login`
};

// `GET /`, `/state`, `/healthz`, `/snapshot.jpg`, `/stream`, `/events`, `/predict`, `/metrics` and,
// of TorchServe's, `/ping`, and those of HistoryService; `POST` or `PUT /predict` and
// `/predictions/MODEL`, and those of LoginService and TeachService. Only what LoginService allows
// changes anything. Used by the server's thread alone, but for the slots.
class HttpService : public HttpHandler {
 public:
  static constexpr std::chrono::seconds kStall{30};  // without a result: no longer healthy
  // Wrong tokens of an address, which gets one back every kGuessPause. When it has none left, its
  // tokens are not looked at, so that it does not learn which one is right.
  static constexpr int kGuesses = 10;
  static constexpr std::chrono::seconds kGuessPause{6};

  // `slots` outlives this. Throws as PredictService, HistoryService, LoginService and TeachService.
  HttpService(LiveSlots& slots, const RunInfo& info, HttpServiceOptions options);

  // `wake` is called by other threads when poll() has something to do.
  void set_wake(const std::function<void()>& wake);

  const char* route(const HttpRequest& request) const override;
  std::optional<std::size_t> body_limit(const HttpRequest& request) const override;
  std::optional<HttpResponse> refusal(const HttpRequest& request) override;
  // Refuses what refusal() does.
  void handle(const HttpRequest& request, const HttpRespond& respond) override;
  void poll() override;
  bool is_busy() const override { return view_.is_busy() || feed_.is_busy(); }

  HttpServiceCounts counts();
  std::uint64_t dropped() const { return feed_.dropped(); }

 private:
  enum class Needs { kNothing, kToken, kCamera };  // kCamera: and the token
  // What GET and HEAD of a path do; what is no route may be a page.
  struct Route {
    const char* path;
    const char* name;  // in the metrics
    Needs needs;
    // Answers at once; null: the picture and the history, which come later.
    HttpResponse (HttpService::*answer)(const HttpRequest& request);
  };
  static const Route kRoutes[];
  static const Route kHistory;  // of all paths of HistoryService

  // Null when there is none.
  const Route* find_route(const std::string& path) const;
  bool is_login(const HttpRequest& request) const;
  bool is_teach(const HttpRequest& request) const;
  // Of watches that are not taught.
  std::vector<std::string> configured_names() const;
  std::optional<HttpResponse> page_refusal(const HttpRequest& request) const;
  std::optional<HttpResponse> token_refusal(const HttpRequest& request);
  std::optional<HttpResponse> guest_refusal(const HttpRequest& request, const Route* route);
  std::optional<HttpResponse> picture_refusal(const HttpRequest& request) const;
  bool has_rate(const HttpRequest& request) const;
  std::optional<HttpResponse> rate_refusal(const HttpRequest& request) const;
  void answer_later(const HttpRequest& request, const HttpRespond& respond);
  HttpResponse while_allowed(const HttpRequest& request, HttpResponse response);
  HttpResponse metrics(const HttpRequest& request);
  HttpResponse state(const HttpRequest& request);
  HttpResponse health(const HttpRequest& request);
  HttpResponse ping(const HttpRequest& request);
  HttpResponse page(const std::string& path) const;
  HttpResponse events(const HttpRequest& request);
  HttpResponse stream(const HttpRequest& request);

  LiveSlots& slots_;
  const HttpAccess access_;
  const bool guests_;
  RateLimit failed_logins_{kGuesses, kGuessPause};
  RefusalLog refusals_;
  const int predict_rate_;
  RateLimit predictions_;
  const std::string max_upload_;  // in MB
  const bool has_source_;
  const std::function<std::string()> metrics_;
  LiveLines lines_;
  LiveView view_;
  EventFeed feed_;
  std::optional<PredictService> predict_;
  HistoryService history_;
  std::optional<LoginService> login_;
  std::optional<TeachService> teach_;
};

}  // namespace lookout
