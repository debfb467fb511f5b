#include "platform/http/http_service.h"

#include <optional>
#include <utility>

#include "platform/http/http_pages.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr const char* kAllowed = "GET, HEAD";

bool is_known(const std::string& path) {
  for (const char* known :
       {"/state", "/healthz", "/snapshot.jpg", "/snapshot", "/stream", "/events"}) {
    if (path == known) return true;
  }
  return find_page(path) != nullptr;
}

// `/?action=stream`, as mjpg-streamer has it, is `/stream`.
std::string route_of(const HttpRequest& request) {
  if (request.path != "/") return request.path;
  const auto action = request.query.find("action");
  if (action == request.query.end()) return request.path;
  return "/" + action->second;
}

HttpResponse page(const HttpPage& page) { return http_text(page.type, std::string(page.content)); }

// What is wrong with the request, whatever it asks for.
std::optional<HttpResponse> refusal(const HttpAccess& access, const HttpRequest& request,
                                    const std::string& path) {
  if (!is_host_allowed(access, request.host)) {
    return http_error(421, "wrong_host",
                      "this server does not answer to the name in Host; its "
                      "names are set by http.hosts");
  }
  if (!is_origin_allowed(access, request.origin, request.host)) {
    return http_error(403, "cross_origin", "other sites may not ask this server");
  }
  if (!is_known(path)) return http_error(404, "not_found", "there is no such page");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse response = http_error(405, "wrong_method", "only GET and HEAD are answered");
    response.headers.emplace_back("Allow", kAllowed);
    return response;
  }
  if (path != "/healthz" && !is_token_right(access, request.authorization)) {
    HttpResponse response = http_error(401, "wrong_token", "the token is missing or wrong");
    response.headers.emplace_back("WWW-Authenticate", R"(Basic realm="lookout", charset="UTF-8")");
    return response;
  }
  return std::nullopt;
}

}  // namespace

HttpService::HttpService(LiveSlots& slots, const RunInfo& info, HttpServiceOptions options)
    : slots_(slots),
      access_(std::move(options.access)),
      lines_(slots, info),
      view_(slots, options.view),
      feed_(slots, lines_, options.max_listeners) {}

void HttpService::beat() {
  const Clock::time_point now = Clock::now();
  view_.advance(now);
  feed_.advance(now);
}

void HttpService::handle(const HttpRequest& request, const HttpRespond& respond) {
  const std::string path = route_of(request);
  if (auto refused = refusal(access_, request, path)) {
    respond(std::move(*refused));
    return;
  }
  if (path == "/snapshot" || path == "/snapshot.jpg") {
    view_.snapshot(respond, Clock::now());
  } else if (path == "/state") {
    respond(state());
  } else if (path == "/healthz") {
    respond(health());
  } else if (path == "/events") {
    respond(events());
  } else if (path == "/stream") {
    respond(stream(request));
  } else {
    respond(page(*find_page(path)));
  }
}

HttpResponse HttpService::state() {
  if (!slots_.result()) {
    return http_error(503, "no_result", "no frame has been classified yet");
  }
  return http_text("application/json", lines_.all() + "\n");
}

HttpResponse HttpService::health() const {
  const auto result = slots_.result();
  if (!slots_.status().online) return http_error(503, "camera_away", "the camera is away");
  if (!result) return http_error(503, "starting", "no frame has been classified yet");
  if (Clock::now() - result->ready > kStall) {
    return http_error(503, "stalled", "no frame has been classified for 30 s");
  }
  return http_text("text/plain", "ok\n");
}

HttpResponse HttpService::events() {
  HttpResponse response;
  response.type = "text/event-stream";
  response.stream = feed_.open(Clock::now());
  if (response.stream) return response;
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
  HttpResponse response;
  response.type = LiveView::stream_type();
  response.stream =
      view_.open(fps, advance != request.query.end() && advance->second == "1", Clock::now());
  if (response.stream) return response;
  return http_error(503, "too_many_viewers", "as many clients as allowed watch the stream");
}

}  // namespace lookout
