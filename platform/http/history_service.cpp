#include "platform/http/history_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "platform/history/history_reader.h"
#include "platform/history/history_text.h"
#include "platform/system/parse_number.h"

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

// What a request asks for, once its parameters are known to be right.
struct Asked {
  HistoryQuery query;
  std::optional<HistoryCursor> after;
  std::size_t limit = HistoryService::kRows;
  bool by_hour = false;
  std::string wrong;  // the code of an error; empty: all is right
};

class Parameters {
 public:
  explicit Parameters(const HttpRequest& request) : query_(request.query) {}

  std::optional<std::string> text(const char* name) const {
    const auto found = query_.find(name);
    if (found == query_.end()) return std::nullopt;
    return without_escapes(found->second);
  }

 private:
  const std::map<std::string, std::string>& query_;
};

// The name of a place in a list: the time in ms and the number of the last event before it.
std::string to_text(const HistoryEvent& last) {
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
  const Parameters parameters(request);
  Asked asked;
  asked.limit = limit;
  asked.query.watch = parameters.text("watch");
  asked.query.state = parameters.text("state");
  asked.query.from = from;
  asked.query.to = now;
  if (const auto text = parameters.text("from")) {
    const auto time = parse_history_time(*text, now);
    if (!time) asked.wrong = "bad_time";
    asked.query.from = time.value_or(now);
  }
  if (const auto text = parameters.text("to")) {
    const auto time = parse_history_time(*text, now);
    if (!time) asked.wrong = "bad_time";
    asked.query.to = time.value_or(now);
  }
  if (const auto text = parameters.text("before")) {
    asked.after = parse_cursor(*text);
    if (!asked.after) asked.wrong = "bad_cursor";
  }
  if (const auto text = parameters.text("limit")) {
    const auto number = parse_number<std::size_t>(*text);
    if (!number || *number == 0 || *number > HistoryService::kMaxRows) asked.wrong = "bad_limit";
    asked.limit = number.value_or(limit);
  }
  if (const auto text = parameters.text("by")) {
    asked.by_hour = *text == "hour";
    if (!asked.by_hour && *text != "change") asked.wrong = "bad_by";
  }
  return asked;
}

HttpResponse events_answer(HistoryReader& reader, const Asked& asked, bool csv) {
  const auto events = reader.events(asked.query, asked.after, asked.limit);
  const bool may_go_on = events.size() == asked.limit;
  if (csv) return http_text("text/csv; charset=utf-8", to_csv(events));
  const std::string next = may_go_on ? "\"" + to_text(events.back()) + "\"" : "null";
  return http_text("application/json",
                   fmt::format("{{\"events\":{},\"next\":{}}}\n", to_json(events), next));
}

HttpResponse timeline_answer(HistoryReader& reader, const Asked& asked, HistoryTime now, bool csv) {
  const HistoryTime known = known_until(reader, now);
  const auto as_json = [&](const char* name, const std::string& list) {
    return http_text("application/json",
                     timeline_json(asked.query, known, reader.complete_since(), name, list));
  };
  if (asked.by_hour) {
    const auto hours = reader.hours(asked.query, known);
    return csv ? http_text("text/csv; charset=utf-8", to_csv(hours))
               : as_json("hours", to_json(hours));
  }
  const auto changes = reader.timeline(asked.query, HistoryService::kMaxRows);
  return csv ? http_text("text/csv; charset=utf-8", to_csv(changes))
             : as_json("changes", to_json(changes));
}

HttpResponse picture_answer(const HistoryReader& reader, std::int64_t number) {
  const auto file = reader.picture(number);
  if (!file) return http_error(404, "no_picture", "this change has no picture");
  std::ifstream jpeg(*file, std::ios::binary);
  return http_text("image/jpeg", {std::istreambuf_iterator<char>(jpeg), {}});
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
  const bool lists_all = csv || ends_with(path, ".json");
  const bool timeline = path.rfind(kTimeline, 0) == 0;
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
    return timeline ? timeline_answer(reader, asked, now, csv) : events_answer(reader, asked, csv);
  } catch (const std::exception& error) {
    return http_error(503, "no_history",
                      fmt::format("the history cannot be read: {}", error.what()));
  }
}

}  // namespace lookout
