#include "platform/http/http_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/log.h"
#include "platform/http/http_pages.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr const char* kRead = "GET, HEAD";
constexpr const char* kPredict = "POST, PUT";
constexpr std::string_view kPredictions = "/predictions/";
constexpr const char* kMetrics = "/metrics";

bool reads(const std::string& method) { return method == "GET" || method == "HEAD"; }
bool sends(const std::string& method) { return method == "POST" || method == "PUT"; }

bool is_for_pictures(const std::string& path) {
  return path == "/predict" || path.rfind(kPredictions, 0) == 0;
}

// `/?action=stream`, as mjpg-streamer has it, is `/stream`.
std::string path_of(const HttpRequest& request) {
  if (request.path != "/") return request.path;
  const auto action = request.query.find("action");
  if (action == request.query.end()) return request.path;
  return "/" + action->second;
}

// So many uses that the form can send all its pictures at once.
int burst_of(int rate) { return std::max<int>(rate, PredictService::kMaxPictures); }

Clock::duration pause_of(int rate) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::seconds(1)) / std::max(rate, 1);
}

// The text with `value` for each `place`.
std::string with(std::string text, const std::string& place, const std::string& value) {
  for (auto at = text.find(place); at != text.npos; at = text.find(place, at + value.size())) {
    text.replace(at, place.size(), value);
  }
  return text;
}

std::string html_of(const std::string& text) {
  std::string html = with(text, "&", "&amp;");
  html = with(std::move(html), "<", "&lt;");
  return with(std::move(html), "\"", "&quot;");
}

// The choice of a form between watches.
std::string options_of(const WatchList& watches) {
  std::string options;
  for (const Watching& each : watches) {
    if (!each.watch) continue;
    append_format(options, R"(<option value="{}">{}</option>)", each.watch->name,
                  html_of(each.watch->shown()));
  }
  return options;
}

HttpResponse http_stream(std::string type, std::unique_ptr<HttpStream> stream) {
  HttpResponse response;
  response.type = std::move(type);
  response.stream = std::move(stream);
  return response;
}

// A stream for an owner alone, which is over within a second after his session.
class OwnersStream : public HttpStream {
 public:
  OwnersStream(std::unique_ptr<HttpStream> stream, std::function<bool()> is_owner)
      : stream_(std::move(stream)), is_owner_(std::move(is_owner)) {}

  void on_ready(std::function<void()> ready) override { stream_->on_ready(std::move(ready)); }
  bool next(HttpPart& part) override { return stream_->next(part); }
  bool is_over() override {
    const auto now = Clock::now();
    if (is_over_ || now < asked_ + kBetween) return is_over_;
    asked_ = now;
    is_over_ = !is_owner_();
    return is_over_;
  }

 private:
  static constexpr std::chrono::seconds kBetween{1};

  const std::unique_ptr<HttpStream> stream_;
  const std::function<bool()> is_owner_;
  Clock::time_point asked_ = Clock::now();
  bool is_over_ = false;
};

// An error with one more header.
HttpResponse http_error_with(HttpResponse error, const char* name, const char* value) {
  error.headers.emplace_back(name, value);
  return error;
}

// Nothing when the method is one of those that the path allows.
std::optional<HttpResponse> wrong_route(const std::string& method, bool may_read, bool may_send) {
  if (!may_read && !may_send) return http_error(404, "not_found", "there is no such page");
  if ((may_read && reads(method)) || (may_send && sends(method))) return std::nullopt;
  const std::string allowed = may_read && may_send ? std::string(kRead) + ", " + kPredict
                              : may_read           ? kRead
                                                   : kPredict;
  return http_error_with(
      http_error(405, "wrong_method", "the methods that are answered are " + allowed), "Allow",
      allowed.c_str());
}

}  // namespace

const HttpService::Route HttpService::kRoutes[] = {
    {"/state", "/state", Needs::kCamera, &HttpService::state},
    {"/snapshot.jpg", "/snapshot.jpg", Needs::kCamera, nullptr},
    {"/snapshot", "/snapshot.jpg", Needs::kCamera, nullptr},
    {"/stream", "/stream", Needs::kCamera, &HttpService::stream},
    {"/events", "/events", Needs::kCamera, &HttpService::events},
    {"/healthz", "/healthz", Needs::kNothing, &HttpService::health},
    {"/ping", "/ping", Needs::kNothing, &HttpService::ping},
    {kMetrics, kMetrics, Needs::kToken, &HttpService::metrics},
};

const HttpService::Route HttpService::kHistory{nullptr, nullptr, Needs::kToken, nullptr};

const HttpService::Route* HttpService::find_route(const std::string& path) const {
  if (history_.route(path) != nullptr) return &kHistory;
  const auto* const found = std::find_if(std::begin(kRoutes), std::end(kRoutes),
                                         [&](const Route& route) { return path == route.path; });
  if (found == std::end(kRoutes) || (path == kMetrics && !metrics_)) return nullptr;
  return found;
}

const char* HttpService::route(const HttpRequest& request) const {
  const std::string path = path_of(request);
  if (path.rfind(kPredictions, 0) == 0) return "/predictions";
  if (path == kMetrics) return kMetrics;
  if (is_login(request)) return login_->route(path);
  if (is_teach(request)) return teach_->route(path);
  if (const char* name = history_.route(path)) return name;
  if (const Route* route = find_route(path)) return route->name;
  const HttpPage* page = find_page(path);
  return page != nullptr ? page->path : kOtherRoute;
}

bool HttpService::is_login(const HttpRequest& request) const {
  return login_ && login_->route(request.path) != nullptr;
}

bool HttpService::is_teach(const HttpRequest& request) const {
  return teach_ && teach_->route(request.path) != nullptr;
}

std::vector<std::string> HttpService::configured_names() const {
  std::vector<std::string> names;
  for (const LiveWatch& each : slots_.watches()) {
    if (each.watch && !each.watch->taught) names.push_back(each.watch->name);
  }
  return names;
}

std::optional<std::size_t> HttpService::body_limit(const HttpRequest& request) const {
  if (is_login(request)) return LoginService::kMaxBody;
  if (is_teach(request)) return TeachService::kMaxBody;
  return std::nullopt;
}

std::optional<HttpResponse> HttpService::refusal(const HttpRequest& request) {
  if (auto refused = page_refusal(request)) return refused;
  const std::string path = path_of(request);
  if (is_login(request) || is_teach(request)) {
    if (auto refused = token_refusal(request)) return refused;
    return is_login(request) ? login_->refusal(request) : teach_->refusal(request);
  }
  const Route* route = find_route(path);
  const bool may_read = route != nullptr || find_page(path) != nullptr;
  const bool may_send = predict_ && is_for_pictures(path);
  if (auto wrong = wrong_route(request.method, may_read, may_send)) return wrong;
  if (route == nullptr || route->needs != Needs::kNothing) {
    if (auto refused = token_refusal(request)) return refused;
  }
  if (auto refused = guest_refusal(request, route)) return refused;
  if (sends(request.method)) {
    if (auto refused = picture_refusal(request)) return refused;
  }
  return rate_refusal(request);
}

// Whether a form names a watch is known when it is there.
std::optional<HttpResponse> HttpService::picture_refusal(const HttpRequest& request) const {
  const WatchList watches = slots_.list();
  const std::string name = watch_of(request);
  if (!name.empty()) {
    if (auto refused = watch_refusal(watches, name)) return refused;
  }
  const bool names_model = request.path.rfind(kPredictions, 0) == 0;
  if (!names_model) return std::nullopt;
  const Watching& watch = name.empty() ? watches.front() : *watch_called(watches, name);
  if (request.path.substr(kPredictions.size()) == watch.model->name) return std::nullopt;
  return http_error(
      404, "no_such_model",
      name.empty() ? "this server has another model" : "this watch has another model");
}

// What a browser is refused for the page that it shows.
std::optional<HttpResponse> HttpService::page_refusal(const HttpRequest& request) const {
  if (!is_host_allowed(access_, request.host)) {
    return http_error(421, "wrong_host",
                      "this server does not answer to the name in Host; its "
                      "names are set by http.hosts");
  }
  if (!is_origin_allowed(access_, request.origin, request.host)) {
    return http_error(403, "cross_origin", "other sites may not ask this server");
  }
  if (!is_site_allowed(access_, request)) {
    return http_error(403, "cross_site",
                      "pages of other sites may not show this server; those that may are set by "
                      "http.hosts");
  }
  return std::nullopt;
}

// Owners need no token besides.
std::optional<HttpResponse> HttpService::token_refusal(const HttpRequest& request) {
  if (!access_.token.empty() && login_ && login_->is_owner(request)) return std::nullopt;
  // A proxy behind a Unix socket has to limit its clients itself.
  const bool is_guess = !request.authorization.empty() && !request.address.empty();
  const auto now = Clock::now();
  if (const auto wait = is_guess ? failed_logins_.wait(request.address, now) : std::nullopt) {
    if (refusals_.refuse(request.address, now)) {
      log_warn("http: {} is refused: too many wrong tokens came from there", request.address);
    }
    return http_error(429, "too_many_guesses", "too many wrong tokens came from this address",
                      *wait);
  }
  if (is_token_right(access_, request.authorization)) {
    if (is_guess && refusals_.let_in(request.address)) {
      log_info("http: {} is let in again: its token is right", request.address);
    }
    return std::nullopt;
  }
  if (is_guess) failed_logins_.count(request.address, now);
  return http_error_with(http_error(401, "wrong_token", "the token is missing or wrong"),
                         "WWW-Authenticate", R"(Basic realm="lookout", charset="UTF-8")");
}

// Where guests see nothing, they get what a page for the login is made of. Who knows the token is
// no guest.
std::optional<HttpResponse> HttpService::guest_refusal(const HttpRequest& request,
                                                       const Route* route) {
  if (guests_ || !access_.token.empty()) return std::nullopt;
  const std::string path = path_of(request);
  if (route != nullptr && route->needs == Needs::kNothing) return std::nullopt;
  const bool has_data_behind_it = path == "/" || path == "/predict";
  const bool is_page = reads(request.method) && find_page(path) != nullptr;
  if (is_page && !has_data_behind_it) return std::nullopt;
  if (path == kMetrics && login_->has_metrics_key(request)) return std::nullopt;
  auto refused = login_->read_refusal(request);
  if (!refused || !is_page) return refused;
  HttpResponse to_login = http_text("text/plain", "log in first\n");
  to_login.status = 303;
  to_login.headers.emplace_back("Location", "teach");
  return to_login;
}

bool HttpService::has_rate(const HttpRequest& request) const {
  return predict_rate_ > 0 && sends(request.method) && !request.address.empty();
}

std::optional<HttpResponse> HttpService::rate_refusal(const HttpRequest& request) const {
  if (!has_rate(request)) return std::nullopt;
  const auto wait = predictions_.wait(request.address, Clock::now());
  if (!wait) return std::nullopt;
  return http_error(429, "too_many_requests",
                    fmt::format("this address sends more than {} requests with pictures a second: "
                                "send fewer, or raise http.predict-rate of the server",
                                predict_rate_),
                    *wait);
}

HttpService::HttpService(LiveSlots& slots, const RunInfo& info, HttpServiceOptions options)
    : slots_(slots),
      access_(std::move(options.access)),
      guests_(options.guests),
      predict_rate_(options.predict_rate),
      predictions_(burst_of(predict_rate_), pause_of(predict_rate_)),
      max_upload_(megabytes(options.max_upload)),
      has_source_(!info.source.empty()),
      metrics_(std::move(options.metrics)),
      lines_(slots, info),
      view_(slots, options.view),
      feed_(slots, lines_, options.max_listeners),
      history_(std::move(options.history), std::move(options.history_readers)) {
  if (options.login) {
    login_.emplace(access_, std::move(*options.login), options.teach.teaching != nullptr);
    if (options.teach.teaching) teach_.emplace(*login_, std::move(options.teach));
  }
  if (options.pictures != nullptr) predict_.emplace(*options.pictures, options.predict);
}

HttpServiceCounts HttpService::counts() {
  HttpServiceCounts counts;
  if (predict_) {
    counts.predict_queue = predict_->predictor().waiting();
    counts.decoders = &predict_->predictor().decoders();
  }
  counts.encoded = view_.encoded();
  counts.passed = view_.passed();
  counts.frames_sent = view_.sent();
  counts.frames_skipped = view_.skipped();
  return counts;
}

void HttpService::set_wake(const std::function<void()>& wake) {
  slots_.set_wake(wake);
  history_.set_wake(wake);
  if (predict_) predict_->predictor().set_wake(wake);
  if (login_) login_->set_wake(wake);
  if (teach_) teach_->set_wake(wake);
}

void HttpService::poll() {
  if (predict_) predict_->predictor().deliver();
  history_.poll();
  if (login_) login_->poll();
  if (teach_) teach_->poll();
  const Clock::time_point now = Clock::now();
  view_.advance(now);
  feed_.advance(now);
}

void HttpService::handle(const HttpRequest& request, const HttpRespond& respond) {
  if (!may_show(access_, request)) {
    answer_later(request, respond);
    return;
  }
  answer_later(request, [respond](HttpResponse response) {
    response.embeddable = true;
    respond(std::move(response));
  });
}

void HttpService::answer_later(const HttpRequest& request, const HttpRespond& respond) {
  const std::string path = path_of(request);
  const Route* route = find_route(path);
  if (auto refused = refusal(request)) {
    respond(std::move(*refused));
  } else if (is_login(request)) {
    login_->handle(request, respond);
  } else if (is_teach(request)) {
    teach_->handle(request, configured_names(), respond);
  } else if (!has_source_ && route != nullptr && route->needs == Needs::kCamera) {
    respond(http_error(503, "no_camera", "this server has no camera"));
  } else if (sends(request.method)) {
    if (has_rate(request)) predictions_.count(request.address, Clock::now());
    if (request.path == "/predict") {
      predict_->predict(request, slots_.list(), respond);
    } else {
      predict_->predict_like_torchserve(request, respond);
    }
  } else if (route == nullptr) {
    respond(page(path));
  } else if (route == &kHistory) {
    history_.handle(request, respond);
  } else if (route->answer == nullptr) {
    view_.snapshot(respond, Clock::now());
  } else {
    respond(while_allowed(request, (this->*route->answer)(request)));
  }
}

// Who needs a session to see a stream sees no more of it when that ends.
HttpResponse HttpService::while_allowed(const HttpRequest& request, HttpResponse response) {
  const bool is_for_guests =
      access_.token.empty() ? guests_ : is_token_right(access_, request.authorization);
  if (response.stream && login_ && !is_for_guests) {
    response.stream = std::make_unique<OwnersStream>(
        std::move(response.stream), [this, request] { return login_->is_owner(request); });
  }
  return response;
}

// Without a camera there is nothing to see but the form.
HttpResponse HttpService::page(const std::string& path) const {
  const bool is_form = predict_ && !has_source_ && path == "/";
  const HttpPage& page = *find_page(is_form ? "/predict" : path);
  std::string content(page.content);
  if (is_form || path == "/predict") {
    content = with(std::move(content), "{{max-upload}}", max_upload_);
    content = with(std::move(content), "{{hidden}}", has_source_ ? "" : " hidden");
    const std::string options = options_of(slots_.list());
    content = with(std::move(content), "{{no-watches}}", options.empty() ? " hidden" : "");
    content = with(std::move(content), "{{watches}}", options);  // last: a title may be anything
  } else if (path == "/") {
    content = with(std::move(content), "{{owners}}", login_ ? "may log in" : "none");
    const bool remembers = history_.route("/api/1/timeline") != nullptr;
    content = with(std::move(content), "{{history}}", remembers ? "kept" : "none");
  }
  return http_text(page.type, std::move(content));
}

HttpResponse HttpService::metrics(const HttpRequest& /*request*/) {
  return http_text("text/plain; version=0.0.4; charset=utf-8", metrics_());
}

HttpResponse HttpService::state(const HttpRequest& /*request*/) {
  if (!slots_.last_ready()) {
    return http_error(503, "no_result", "no frame has been classified yet");
  }
  return http_text("application/json", lines_.all() + "\n");
}

// TorchServe's.
HttpResponse HttpService::ping(const HttpRequest& request) {
  HttpResponse health = this->health(request);
  return health.status == 200 ? http_text("application/json", R"({"status":"Healthy"})"
                                                              "\n")
                              : std::move(health);
}

HttpResponse HttpService::health(const HttpRequest& /*request*/) {
  if (!has_source_) return http_text("text/plain", "ok\n");
  const auto ready = slots_.last_ready();
  if (!slots_.status().online) return http_error(503, "camera_away", "the camera is away");
  if (!ready) return http_error(503, "starting", "no frame has been classified yet");
  if (Clock::now() - *ready > kStall) {
    return http_error(503, "stalled", "no frame has been classified for 30 s");
  }
  return http_text("text/plain", "ok\n");
}

HttpResponse HttpService::events(const HttpRequest& request) {
  ListenerOptions options;
  options.last_id = request.last_event_id;
  if (const auto asked = request.query.find("rate"); asked != request.query.end()) {
    const auto rate = parse_number<double>(asked->second);
    if (!rate || !(*rate == 0 || (*rate >= 0.01 && *rate <= options.rate))) {
      return http_error(400, "bad_rate", "rate is a number from 0.01 to 10, or 0");
    }
    options.rate = *rate;
  }
  if (auto stream = feed_.open(options, Clock::now())) {
    return http_stream("text/event-stream", std::move(stream));
  }
  return http_error(503, "too_many_listeners", "as many clients as allowed get the events");
}

HttpResponse HttpService::stream(const HttpRequest& request) {
  double fps = 0;
  if (const auto asked = request.query.find("fps"); asked != request.query.end()) {
    const auto number = parse_number<double>(asked->second);
    if (!number || !(*number >= 0.1 && *number <= 1000)) {
      return http_error(400, "bad_fps", "fps is a number from 0.1 to 1000");
    }
    fps = *number;
  }
  const auto advance = request.query.find("advance_headers");
  const bool advances = advance != request.query.end() && advance->second == "1";
  if (auto stream = view_.open(fps, advances, Clock::now())) {
    return http_stream(LiveView::stream_type(), std::move(stream));
  }
  return http_error(503, "too_many_viewers", "as many clients as allowed watch the stream");
}

}  // namespace lookout
