#include "platform/http/teach_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <utility>

#include "pipeline/core/json_text.h"
#include "pipeline/core/log.h"
#include "platform/pictures/encode_picture.h"
#include "platform/pictures/jpeg_decoder.h"
#include "platform/system/parse_number.h"
#include "platform/system/picture_files.h"

namespace lookout {

// What a path names.
struct NamedByPath {
  std::string name;
  std::int64_t number = 0;
};

namespace {

using nlohmann::json;

constexpr int kThumbQuality = 80;
constexpr const char* kTeach = "/api/1/teach";
// A picture of a number never changes. After a day a library that was replaced shows.
constexpr const char* kKeptByBrowsers = "private, max-age=86400, immutable";

// Takes "/teach" of "/teach/watches".
std::string_view take_segment(std::string_view& path) {
  const std::string_view segment = path.substr(0, std::min(path.find('/', 1), path.size()));
  path.remove_prefix(segment.size());
  return segment;
}

// The number of "/12" and "/12.jpg"; nothing: it is none.
std::optional<std::int64_t> number_of_segment(std::string_view segment, std::string_view end) {
  if (segment.size() <= end.size() || segment.substr(segment.size() - end.size()) != end) {
    return std::nullopt;
  }
  segment.remove_suffix(end.size());
  const auto number = parse_number<std::int64_t>(segment.substr(1));
  return number && *number > 0 ? number : std::nullopt;
}

// Nothing: the path is not of this pattern.
std::optional<NamedByPath> named_by(std::string_view pattern, std::string_view path) {
  constexpr std::string_view kNumber = "/NUMBER";
  NamedByPath named;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view expected = take_segment(pattern);
    const std::string_view segment = take_segment(path);
    if (expected == "/NAME" && segment.size() > 1) {
      named.name = segment.substr(1);
    } else if (expected.substr(0, kNumber.size()) == kNumber) {
      const auto number = number_of_segment(segment, expected.substr(kNumber.size()));
      if (!number) return std::nullopt;
      named.number = *number;
    } else if (segment != expected) {
      return std::nullopt;
    }
  }
  return named;
}

HttpResponse json_answer(const json& body, int status = 200) {
  HttpResponse response = http_text("application/json", to_text(body) + "\n");
  response.status = status;
  return response;
}

HttpResponse nothing_to_tell() {
  HttpResponse response;
  response.status = 204;
  return response;
}

// The parameters of a request.
class TeachFields {
 public:
  explicit TeachFields(const std::map<std::string, std::string>& query) : query_(query) {}

  // Nothing: it is not there.
  std::optional<std::string> text(const char* name) const { return query_value(query_, name); }
  // Nothing: it is wrong.
  std::optional<bool> flag(const char* name) const {
    const auto given = text(name);
    if (given && *given != "1") return std::nullopt;
    return given.has_value();
  }
  std::optional<std::int64_t> number(const char* name, std::int64_t least, std::int64_t most,
                                     std::int64_t otherwise) const {
    const auto given = text(name);
    if (!given) return otherwise;
    const auto number = parse_number<std::int64_t>(*given);
    return number && *number >= least && *number <= most ? number : std::nullopt;
  }

 private:
  const std::map<std::string, std::string>& query_;
};

// What a list of pictures is asked for; nothing: a parameter is wrong.
std::optional<PictureQuery> parse_picture_query(const TeachFields& fields) {
  constexpr auto kMost = static_cast<std::int64_t>(TeachService::kMaxPictures);
  PictureQuery asked;
  asked.watch = fields.text("watch").value_or("");
  asked.label = fields.text("class");
  const auto trash = fields.flag("trash");
  const auto unlabelled = fields.flag("unlabelled");
  const auto before = fields.number("before", 0, INT64_MAX, 0);
  const auto limit = fields.number("limit", 1, kMost, kMost);
  const auto origin = fields.text("origin");
  if (asked.watch.empty() || !trash || !unlabelled || !before || !limit) return std::nullopt;
  if (origin && *origin != "event") return std::nullopt;
  if (origin) asked.origin = PictureOrigin::kEvent;
  if (*unlabelled && asked.label) return std::nullopt;
  if (*unlabelled) asked.label = "";
  asked.trashed = *trash;
  asked.before = *before;
  asked.limit = static_cast<std::size_t>(*limit);
  return asked;
}

// Decodes no more of the picture than the thumb needs. Empty: it is damaged.
std::string thumb_of(const std::string& jpeg) {
  DecodeLimits limits;
  limits.pixels = std::int64_t{Teaching::kMaxSide} * Teaching::kMaxSide;
  DecodedPicture picture;
  for (const int eighths : {2, 4, 8}) {
    JpegOptions options;
    options.eighths = eighths;
    decode_jpeg(jpeg, limits, options, picture);
    if (picture.problem != DecodeProblem::kNone) return {};
    if (std::max(picture.bgr.cols, picture.bgr.rows) >= TeachService::kThumbSide) break;
  }
  const double scale =
      double{TeachService::kThumbSide} / std::max(picture.bgr.cols, picture.bgr.rows);
  cv::Mat small = picture.bgr;
  if (scale < 1) cv::resize(picture.bgr, small, {}, scale, scale, cv::INTER_AREA);
  return encode_jpeg(small, kThumbQuality);
}

}  // namespace

// What a method and a path name.
struct TeachService::Found {
  const char* path;  // as Route::path
  NamedByPath named;
  const Route* route = nullptr;  // null: the method is none of those that are allowed
  std::string allowed{};         // methods
};

// A request, once its path and body are read.
struct TeachService::Asked : NamedByPath {
  std::map<std::string, std::string> query;
  json body = json::object();
  std::vector<std::string> configured;
};

const TeachService::Route TeachService::kRoutes[] = {
    {"GET", "/api/1/teach", &TeachService::overview},
    {"POST", "/api/1/teach/watches", &TeachService::add_watch},
    {"PATCH", "/api/1/teach/watches/NAME", &TeachService::change_watch},
    {"DELETE", "/api/1/teach/watches/NAME", &TeachService::remove_watch},
    {"POST", "/api/1/teach/watches/NAME/restore", &TeachService::restore_watch},
    {"POST", "/api/1/teach/watches/NAME/rename-class", &TeachService::rename_class},
    {"POST", "/api/1/teach/watches/NAME/holds", &TeachService::begin_hold},
    {"POST", "/api/1/teach/watches/NAME/events", &TeachService::teach_event},
    {"PUT", "/api/1/teach/holds/NUMBER", &TeachService::renew_hold, /*at_once=*/true},
    {"DELETE", "/api/1/teach/holds/NUMBER", &TeachService::release_hold, /*at_once=*/true},
    {"GET", "/api/1/teach/pictures", &TeachService::pictures},
    {"PATCH", "/api/1/teach/pictures", &TeachService::change_pictures},
    {"GET", "/api/1/teach/pictures/NUMBER.jpg", &TeachService::picture},
    {"POST", "/api/1/teach/watches/NAME/job", &TeachService::begin_job},
    {"DELETE", "/api/1/teach/job", &TeachService::cancel_job},
    {"PUT", "/api/1/teach/watches/NAME/model", &TeachService::use_model},
    {"GET", "/api/1/teach/watches/NAME/preview", &TeachService::preview},
};

TeachService::TeachService(LoginService& login, TeachServiceOptions options)
    : login_(login),
      teaching_(std::move(options.teaching)),
      trainer_(std::move(options.trainer)),
      damage_(std::move(options.damage)),
      damaged_file_(std::move(options.damaged_file)),
      clocks_(std::move(options.clocks)),
      event_picture_(std::move(options.event_picture)) {}

std::optional<TeachService::Found> TeachService::find(std::string_view method,
                                                      std::string_view path) {
  if (path.substr(0, std::string_view(kTeach).size()) != kTeach) return std::nullopt;
  if (method == "HEAD") method = "GET";
  std::optional<Found> found;
  for (const Route& route : kRoutes) {
    auto named = named_by(route.path, path);
    if (!named) continue;
    if (!found) found = Found{route.path, std::move(*named)};
    if (method == route.method) found->route = &route;
    found->allowed += (found->allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == std::string_view("GET")) found->allowed += ", HEAD";
  }
  return found;
}

const char* TeachService::route(std::string_view path) const {
  const auto found = find("", path);
  return found ? found->path : nullptr;
}

std::optional<HttpResponse> TeachService::refusal(const HttpRequest& request) {
  if (!login_.has_password()) return http_error(404, "not_found", "there is no such page");
  const Found found = *find(request.method, request.path);
  if (found.route == nullptr) {
    HttpResponse error =
        http_error(405, "wrong_method", "the methods that are answered are " + found.allowed);
    error.headers.emplace_back("Allow", found.allowed);
    return error;
  }
  return found.route->method == std::string_view("GET") ? login_.read_refusal(request)
                                                        : login_.write_refusal(request);
}

void TeachService::handle(const HttpRequest& request, std::vector<std::string> configured,
                          const HttpRespond& respond) {
  Found found = *find(request.method, request.path);
  const Route& route = *found.route;
  const auto asked = std::make_shared<Asked>();
  static_cast<NamedByPath&>(*asked) = std::move(found.named);
  asked->query = request.query;
  asked->configured = std::move(configured);
  if (request.body && !request.body->empty()) asked->body = parse_json(*request.body);
  if (!asked->body.is_object()) {
    return respond(http_error(400, "bad_json", "the body has to be a JSON object"));
  }
  if (route.at_once) return respond(answer(route, *asked));
  const auto work = [this, &route, asked, respond]() -> BackgroundWork::Deliver {
    // Shared, since what is called can be copied.
    const auto response = std::make_shared<HttpResponse>(answer(route, *asked));
    return [respond, response] { respond(std::move(*response)); };
  };
  if (work_.put({work, request.gone})) return;
  respond(http_error(503, "busy", "too many requests wait for the library"));
}

// Any of the two threads.
HttpResponse TeachService::answer(const Route& route, const Asked& asked) {
  try {
    return (this->*route.answer)(asked);
  } catch (const TeachError& error) {
    return http_error(error);
  } catch (const SqliteError& error) {
    log_problem(error.what());
    return http_error(503, "damaged",
                      "the library is damaged: when lookout starts again, it begins a new one");
  } catch (const std::exception& error) {
    log_problem(error.what());
    return http_error(500, "internal", "this server made a mistake");
  }
}

void TeachService::log_problem(const std::string& problem) {
  const MutexLock lock(problem_mutex_);
  if (std::exchange(last_problem_, problem) != problem) log_error("teach: {}", problem);
}

TeachTrainer& TeachService::trainer() {
  if (trainer_) return *trainer_;
  throw TeachError(TeachProblem::kNoTrainer, "this server trains no models");
}

WatchFacts TeachService::facts_of(const std::string& name) {
  WatchFacts facts;
  teaching_->with_library([&](TeachLibrary& library) {
    facts.watch = library.watch(name);
    facts.progress = progress_of(facts.watch, library.labelled(name));
    facts.unlabelled = library.unlabelled(name);
  });
  if (trainer_) facts.models = trainer_->models(name);
  return facts;
}

HttpResponse TeachService::watch_answer(const std::string& name, int status) {
  return json_answer(json_of(facts_of(name)), status);
}

HttpResponse TeachService::overview(const Asked& asked) {
  std::vector<TaughtWatch> watches;
  TeachUsage usage;
  TeachLimits limits;
  teaching_->with_library([&](TeachLibrary& library) {
    watches = library.watches();
    usage = library.usage();
    limits = library.limits();
  });
  json list = json::array();
  std::set<std::string> taught;
  for (const TaughtWatch& watch : watches) {
    list.push_back(json_of(facts_of(watch.name)));
    taught.insert(watch.name);
  }
  json fixed = json::array();
  for (const std::string& name : asked.configured) {
    if (taught.count(name) == 0) fixed.push_back(name);
  }
  const auto hold = teaching_->last_hold(clocks_());
  const auto job = trainer_ ? trainer_->job() : std::nullopt;
  return json_answer(
      {{"watches", std::move(list)},
       {"usage", {{"pictures", usage.pictures}, {"bytes", usage.bytes}}},
       {"limits",
        {{"watches", limits.watches}, {"classes", limits.classes}, {"pictures", limits.pictures}}},
       {"hold", hold ? json_of(*hold) : json()},
       {"job", job ? json_of(*job) : json()},
       {"fixed", std::move(fixed)},
       {"damage", damage_},
       {"damaged_file", damaged_file_}});
}

// A watch of the configuration has the name, which results and topics are known by.
void TeachService::check_not_fixed(const std::string& name, const Asked& asked) {
  const auto& fixed = asked.configured;
  if (std::find(fixed.begin(), fixed.end(), name) == fixed.end()) return;
  throw TeachError(TeachProblem::kFixedWatch,
                   fmt::format("this run has a watch '{}' already", name), name);
}

HttpResponse TeachService::add_watch(const Asked& asked) {
  const TaughtWatch watch = parse_new_watch(asked.body);
  check_not_fixed(watch.name, asked);
  const auto begin = [&] {
    if (trainer_) trainer_->begin(watch.name);
  };
  teaching_->with_library([&](TeachLibrary& library) { library.add_watch(watch, begin); });
  return watch_answer(watch.name, 201);
}

HttpResponse TeachService::change_watch(const Asked& asked) {
  TaughtWatch watch;
  teaching_->with_library([&](TeachLibrary& library) {
    watch = library.watch(asked.name);
    lookout::change_watch(asked.body, watch);
    library.change_watch(watch);
  });
  if (trainer_) trainer_->rename(watch.name, watch.title);
  return watch_answer(asked.name);
}

HttpResponse TeachService::remove_watch(const Asked& asked) {
  const TeachTime now = clocks_().wall;
  // Its model ends first: a power cut may leave a watch without one, but no model that nobody can
  // end.
  const auto retire = [&] {
    if (trainer_) trainer_->retire(asked.name);
  };
  teaching_->with_library(
      [&](TeachLibrary& library) { library.remove_watch(asked.name, now, retire); });
  if (trainer_) {
    const auto job = trainer_->job();
    const bool trains = job && job->state == TeachJob::State::kRunning && job->watch == asked.name;
    if (trains) trainer_->cancel();
  }
  return nothing_to_tell();
}

HttpResponse TeachService::restore_watch(const Asked& asked) {
  check_not_fixed(asked.name, asked);
  teaching_->with_library([&](TeachLibrary& library) { library.restore_watch(asked.name); });
  if (trainer_) trainer_->restore(asked.name);
  return watch_answer(asked.name);
}

HttpResponse TeachService::rename_class(const Asked& asked) {
  const std::string from = text_member(asked.body, "from");
  const std::string to = text_member(asked.body, "to");
  teaching_->with_library(
      [&](TeachLibrary& library) { library.rename_class(asked.name, from, to); });
  return watch_answer(asked.name);
}

HttpResponse TeachService::begin_hold(const Asked& asked) {
  const std::string label = text_member(asked.body, "class");
  return json_answer(json_of(teaching_->begin_hold(asked.name, label, clocks_())), 201);
}

HttpResponse TeachService::renew_hold(const Asked& asked) {
  return json_answer(json_of(teaching_->renew_hold(asked.number, clocks_())));
}

HttpResponse TeachService::release_hold(const Asked& asked) {
  return json_answer(json_of(teaching_->release_hold(asked.number, clocks_())));
}

HttpResponse TeachService::pictures(const Asked& asked) {
  const auto query = parse_picture_query(TeachFields(asked.query));
  if (!query) {
    return http_error(400, "bad_query",
                      fmt::format("watch is a name; class, or unlabelled=1, and trash=1 choose "
                                  "pictures; origin is event; before is the next of the answer "
                                  "before; limit is a number from 1 to {}",
                                  kMaxPictures));
  }
  const auto found =
      teaching_->with_library([&](TeachLibrary& library) { return library.pictures(*query); });
  json list = json::array();
  for (const TaughtPicture& picture : found) list.push_back(json_of(picture));
  const bool may_go_on = found.size() == query->limit;
  return json_answer(
      {{"pictures", std::move(list)}, {"next", may_go_on ? json(found.back().number) : json()}});
}

HttpResponse TeachService::change_pictures(const Asked& asked) {
  const std::vector<PictureMark> marks = parse_marks(asked.body);
  const TeachTime now = clocks_().wall;
  const auto undo =
      teaching_->with_library([&](TeachLibrary& library) { return library.change(marks, now); });
  return json_answer({{"undo", json_of(undo)}});
}

HttpResponse TeachService::picture(const Asked& asked) {
  const auto size = asked.query.find("size");
  const bool is_thumb = size != asked.query.end();
  if (is_thumb && size->second != "thumb") {
    return http_error(400, "bad_query", "size is thumb, or not there");
  }
  const auto file = teaching_->with_library(
      [&](TeachLibrary& library) { return library.file(library.picture(asked.number).number); });
  auto jpeg = read_picture(file);
  if (!jpeg) return http_error(404, "no_picture", "the picture's file is missing");
  if (is_thumb) jpeg = thumb_of(*jpeg);
  if (jpeg->empty()) return http_error(422, "damaged_picture", "the picture's file is damaged");
  HttpResponse response = http_text("image/jpeg", std::move(*jpeg));
  response.cache = kKeptByBrowsers;
  return response;
}

EventPicture TeachService::event_picture(const std::string& watch, std::int64_t number) const {
  try {
    auto picture = event_picture_ ? event_picture_(watch, number) : std::nullopt;
    if (picture) return std::move(*picture);
  } catch (const SqliteError& error) {
    throw TeachError(TeachProblem::kHistory,
                     fmt::format("the history cannot be read: {}", error.what()));
  }
  throw TeachError(TeachProblem::kNoEvent,
                   fmt::format("the watch has no event {} with a picture", number),
                   std::to_string(number));
}

HttpResponse TeachService::teach_event(const Asked& asked) {
  const std::int64_t number = number_member(asked.body, "event");
  TaughtEvent event;
  event.watch = asked.name;
  event.label = text_member(asked.body, "class");
  teaching_->with_library([&](TeachLibrary& library) { library.watch(asked.name); });
  EventPicture picture = event_picture(asked.name, number);
  event.time = TeachReporter::teach_time(picture.at);
  event.jpeg = std::move(picture.jpeg);
  const TaughtEventPicture kept = teaching_->add_event(event, clocks_().wall);
  return json_answer(json_of(kept.picture), kept.is_new ? 201 : 200);
}

HttpResponse TeachService::begin_job(const Asked& asked) {
  TeachTrainer& trainer = this->trainer();
  TaughtWatch watch;
  std::vector<TaughtPicture> pictures;
  teaching_->with_library([&](TeachLibrary& library) {
    watch = library.watch(asked.name);
    pictures = library.labelled(asked.name);
  });
  const auto file = [teaching = teaching_](std::int64_t number) {
    return teaching->with_library([&](TeachLibrary& library) { return library.file(number); });
  };
  trainer.start(watch, pictures, file);
  const auto job = trainer.job();
  return json_answer(job ? json_of(*job) : json(), 202);
}

HttpResponse TeachService::cancel_job(const Asked& /*asked*/) {
  trainer().cancel();
  return nothing_to_tell();
}

HttpResponse TeachService::use_model(const Asked& asked) {
  TeachTrainer& trainer = this->trainer();
  const std::string sha256 = text_member(asked.body, "sha256");
  teaching_->with_library([&](TeachLibrary& library) { library.watch(asked.name); });
  trainer.use(asked.name, sha256);
  return watch_answer(asked.name);
}

// What the picture looked like at the last look. This is an order for the next ones, too.
HttpResponse TeachService::preview(const Asked& asked) {
  teaching_->with_library([&](TeachLibrary& library) { library.watch(asked.name); });
  teaching_->ask_look(asked.name, clocks_());
  return json_answer(json_of(trainer().newest_look(asked.name).value_or(TeachLook{})));
}

}  // namespace lookout
