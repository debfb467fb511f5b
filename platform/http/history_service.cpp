#include "platform/http/history_service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "platform/history/history_reader.h"
#include "platform/history/history_text.h"
#include "platform/system/parse_number.h"
#include "platform/system/percent_encoding.h"

namespace lookout {
namespace {

constexpr std::string_view kEvents = "/api/1/events";
constexpr std::string_view kTimeline = "/api/1/timeline";
constexpr const char* kEventPicture = "/api/1/events/NUMBER.jpg";
constexpr std::array<const char*, 5> kHistoryRoutes{"/api/1/events", "/api/1/events.csv",
                                                    "/api/1/events.json", "/api/1/timeline",
                                                    "/api/1/timeline.csv"};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The number of a picture's path; nothing: it is none.
std::optional<std::int64_t> picture_number(std::string_view path) {
  constexpr std::string_view kJpeg = ".jpg";
  if (path.substr(0, kEvents.size() + 1) != "/api/1/events/" || !ends_with(path, kJpeg)) {
    return std::nullopt;
  }
  path.remove_prefix(kEvents.size() + 1);
  return parse_number<std::int64_t>(path.substr(0, path.size() - kJpeg.size()));
}

// The names of parameters that a path has.
std::vector<std::string_view> parameters_of(const std::string& path) {
  if (picture_number(path)) return {};
  if (path.rfind(kTimeline, 0) == 0) return {"watch", "from", "to", "limit", "by"};
  return {"watch", "state", "from", "to", "limit", "before"};
}

// What was meant by a parameter that is not looked at is unknown: the answer would be another one.
std::optional<HttpResponse> parameter_refusal(const HttpRequest& request) {
  const auto known = parameters_of(request.path);
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return http_error(400, "bad_parameter",
                      fmt::format("{} has no parameter {}: it has {}", request.path, name,
                                  known.empty() ? "none" : fmt::to_string(fmt::join(known, ", "))),
                      name);
  }
  return std::nullopt;
}

// What a request asks for, once its parameters are known to be right.
struct Asked {
  HistoryQuery query;
  std::optional<HistoryCursor> after;
  std::size_t limit = HistoryService::kRows;
  bool by_hour = false;
  std::string wrong;  // the code of an error; empty: all is right
};

// The name of a place in a list: the time in ms and the number of the last event before it.
std::string cursor_text(const HistoryEvent& last) {
  return fmt::format("{}-{}", last.at.time_since_epoch().count(), last.number);
}

std::optional<HistoryCursor> parse_cursor(std::string_view text) {
  const auto dash = text.find('-', 1);
  const auto at = parse_number<std::int64_t>(text.substr(0, dash));
  if (!at || dash == text.npos) return std::nullopt;
  const auto number = parse_number<std::int64_t>(text.substr(dash + 1));
  if (!number) return std::nullopt;
  return HistoryCursor{HistoryTime(std::chrono::milliseconds(*at)), *number};
}

Asked parse_asked(const HttpRequest& request, std::size_t limit, HistoryTime from,
                  HistoryTime now) {
  const auto value = [&](const char* name) { return query_value(request.query, name); };
  Asked asked;
  asked.limit = limit;
  asked.query.watch = value("watch");
  asked.query.state = value("state");
  asked.query.from = from;
  asked.query.to = now;
  if (const auto text = value("from")) {
    const auto time = parse_history_time(*text, now);
    if (!time) asked.wrong = "bad_time";
    asked.query.from = time.value_or(now);
  }
  if (const auto text = value("to")) {
    const auto time = parse_history_time(*text, now);
    if (!time) asked.wrong = "bad_time";
    asked.query.to = time.value_or(now);
  }
  if (const auto text = value("before")) {
    asked.after = parse_cursor(*text);
    if (!asked.after) asked.wrong = "bad_cursor";
  }
  if (const auto text = value("limit")) {
    const auto number = parse_number<std::size_t>(*text);
    if (!number || *number == 0 || *number > HistoryService::kMaxRows) asked.wrong = "bad_limit";
    asked.limit = number.value_or(limit);
  }
  if (const auto text = value("by")) {
    asked.by_hour = *text == "hour";
    if (!asked.by_hour && *text != "change") asked.wrong = "bad_by";
  }
  return asked;
}

std::string seconds_of(HistoryTime time) {
  constexpr std::int64_t kMs = 1000;
  const std::int64_t ms = time.time_since_epoch().count();
  return fmt::format("{}{}.{:03}", ms < 0 ? "-" : "", std::abs(ms / kMs), std::abs(ms % kMs));
}

// The head of an answer that is not all tells where it goes on, also that of a table in CSV. The
// address is relative: a proxy may have another path. `place`: "&before=..." or nothing.
void add_next(const HttpRequest& request, const Asked& asked, const std::string& place,
              HttpResponse& response) {
  std::string link =
      fmt::format("{}?from={}&to={}&limit={}", request.path.substr(request.path.rfind('/') + 1),
                  seconds_of(asked.query.from), seconds_of(asked.query.to), asked.limit);
  if (asked.query.watch) link += "&watch=" + percent_encoded(*asked.query.watch);
  if (asked.query.state) link += "&state=" + percent_encoded(*asked.query.state);
  if (asked.by_hour) link += "&by=hour";
  response.headers.emplace_back("Link", "<" + link + place + R"(>; rel="next")");
}

HttpResponse events_answer(HistoryReader& reader, const HttpRequest& request, const Asked& asked,
                           bool csv) {
  auto events = reader.events(asked.query, asked.after, asked.limit + 1);
  std::string next;
  if (events.size() > asked.limit) {
    events.pop_back();
    next = cursor_text(events.back());
  }
  HttpResponse response =
      csv ? http_text("text/csv; charset=utf-8", to_csv(events))
          : http_text("application/json",
                      fmt::format("{{\"events\":{},\"next\":{}}}\n", to_json(events),
                                  next.empty() ? "null" : "\"" + next + "\""));
  if (!next.empty()) add_next(request, asked, "&before=" + next, response);
  return response;
}

HttpResponse timeline_answer(HistoryReader& reader, const HttpRequest& request, Asked asked,
                             HistoryTime now, bool csv) {
  const HistoryTime known = known_until(reader, now);
  const auto answer = [&](const auto& part, const char* name) {
    const TimelineHead head{asked.query.from, asked.query.to, known, reader.complete_since(),
                            part.next};
    HttpResponse response =
        csv ? http_text("text/csv; charset=utf-8", to_csv(part.rows))
            : http_text("application/json", timeline_json(head, name, to_json(part.rows)));
    if (part.next) {
      asked.query.from = *part.next;
      add_next(request, asked, "", response);
    }
    return response;
  };
  if (asked.by_hour) return answer(reader.hours(asked.query, known, asked.limit), "hours");
  return answer(reader.timeline(asked.query, asked.limit), "changes");
}

HttpResponse picture_answer(const HistoryReader& reader, std::int64_t number) {
  const auto file = reader.picture(number);
  auto jpeg = file ? read_picture(*file) : std::nullopt;
  if (!jpeg) return http_error(404, "no_picture", "this change has no picture");
  return http_text("image/jpeg", std::move(*jpeg));
}

}  // namespace

HistoryService::HistoryService(std::filesystem::path folder,
                               std::shared_ptr<HistoryReaders> readers)
    : folder_(std::move(folder)), readers_(std::move(readers)) {
  if (!folder_.empty()) work_.emplace("http-history", kMaxWaiting);
}

void HistoryService::set_wake(std::function<void()> wake) {
  if (work_) work_->set_wake(std::move(wake));
}

void HistoryService::poll() {
  if (work_) work_->deliver();
}

const char* HistoryService::route(std::string_view path) const {
  if (folder_.empty()) return nullptr;
  if (picture_number(path)) return kEventPicture;
  const auto* const found = std::find_if(kHistoryRoutes.begin(), kHistoryRoutes.end(),
                                         [path](const char* route) { return path == route; });
  return found == kHistoryRoutes.end() ? nullptr : *found;
}

void HistoryService::handle(const HttpRequest& request, const HttpRespond& respond) {
  const auto work = [this, request, respond]() -> BackgroundWork::Deliver {
    // Shared, since what is called can be copied.
    const auto response = std::make_shared<HttpResponse>(answer(request));
    return [respond, response] { respond(std::move(*response)); };
  };
  if (work_->put({work, request.gone})) return;
  respond(http_error(503, "busy", "too many requests wait for the history"));
}

HttpResponse HistoryService::answer(const HttpRequest& request) const {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::string& path = request.path;
  const bool csv = ends_with(path, ".csv");
  const bool timeline = path.rfind(kTimeline, 0) == 0;
  const bool lists_all = timeline || csv || ends_with(path, ".json");
  if (auto refused = parameter_refusal(request)) return std::move(*refused);
  // A list goes back as far as there is something, a timeline by a day.
  const HistoryTime from = timeline ? now - std::chrono::hours(24) : HistoryTime();
  const Asked asked = parse_asked(request, lists_all ? kMaxRows : kRows, from, now);
  if (!asked.wrong.empty()) {
    return http_error(400, asked.wrong,
                      "from and to are times, as 2026-11-21T12:00:00Z, 7d ago or seconds since "
                      "1970; by is change or hour; limit is a number from 1 to 10000; before is "
                      "the next of the answer before");
  }
  if (readers_) readers_->note();
  try {
    HistoryReader reader(folder_);
    if (const auto number = picture_number(path)) return picture_answer(reader, *number);
    return timeline ? timeline_answer(reader, request, asked, now, csv)
                    : events_answer(reader, request, asked, csv);
  } catch (const std::exception& error) {
    return http_error(503, "no_history",
                      fmt::format("the history cannot be read: {}", error.what()));
  }
}

}  // namespace lookout
