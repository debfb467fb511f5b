#include "platform/http/teach_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "platform/history/history_text.h"

namespace lookout {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMistakes = 12;  // that are told of a model

const char* origin_text(PictureOrigin origin) {
  switch (origin) {
    case PictureOrigin::kUnsure:
      return "unsure";
    case PictureOrigin::kRandom:
      return "random";
    case PictureOrigin::kEvent:
      return "event";
    default:
      return "held";
  }
}

const char* kind_text(MissingPictures::Kind kind) {
  using Kind = MissingPictures::Kind;
  switch (kind) {
    case Kind::kOccasion:
      return "occasion";
    case Kind::kDay:
      return "day";
    case Kind::kNight:
      return "night";
    case Kind::kHours:
      return "hours";
    default:
      return "pictures";
  }
}

const char* job_state_text(TeachJob::State state) {
  switch (state) {
    case TeachJob::State::kDone:
      return "done";
    case TeachJob::State::kFailed:
      return "failed";
    case TeachJob::State::kCancelled:
      return "cancelled";
    default:
      return "running";
  }
}

// Four digits of a share, which a float has.
double share_of(float value) {
  constexpr double kTenThousand = 1e4;
  return std::round(double{value} * kTenThousand) / kTenThousand;
}

json json_of(const TaughtModel& model);

json json_of(const cv::Rect2d& roi) { return {roi.x, roi.y, roi.width, roi.height}; }

json json_of(const RightShare& share) {
  if (share.pictures == 0) return {};
  return {{"right", share.right}, {"of", share.pictures}};
}

json json_of(const Comparison& comparison) {
  return {{"trained", json_of(comparison.trained)}, {"in_use", json_of(comparison.in_use)}};
}

json json_of(const Mistake& mistake) {
  return {{"picture", mistake.number},
          {"label", mistake.label},
          {"predicted", mistake.predicted},
          {"score", share_of(mistake.score)}};
}

json json_of(const TaughtConfusion& confusion) {
  return {{"label", confusion.label},
          {"predicted", confusion.predicted},
          {"pictures", confusion.pictures}};
}

template <typename Value>
json optional_json(const std::optional<Value>& value) {
  return value ? json_of(*value) : json();
}

// By which one is chosen.
json short_json_of(const TaughtModel& model) {
  json interval;
  if (model.interval) interval = {model.interval->low, model.interval->high};
  return {{"sha256", model.sha256},
          {"time", to_iso_text(std::chrono::floor<std::chrono::milliseconds>(model.time))},
          {"pictures", model.all.pictures},
          {"right", model.all.right},
          {"of", model.all.pictures},
          {"interval", std::move(interval)},
          {"can_tell", model.can_tell},
          {"classes", model.classes},
          {"roi", optional_json(model.roi)}};
}

json json_of(const TaughtModel& model) {
  json mistakes = json::array();
  for (const Mistake& mistake : model.mistakes) {
    if (mistakes.size() < kMaxMistakes) mistakes.push_back(json_of(mistake));
  }
  json confusions = json::array();
  for (const TaughtConfusion& each : model.confusions) confusions.push_back(json_of(each));
  json text = short_json_of(model);
  text["day"] = json_of(model.day);
  text["night"] = json_of(model.night);
  text["compared"] = optional_json(model.comparison);
  text["mistakes"] = std::move(mistakes);
  text["confusions"] = std::move(confusions);
  return text;
}

json json_of(const TeachProgress& progress) {
  json classes = json::array();
  for (const ClassProgress& each : progress.classes) {
    classes.push_back({{"label", each.label},
                       {"pictures", each.pictures},
                       {"night", each.night},
                       {"occasions", each.occasions},
                       {"hours", each.hours}});
  }
  json missing = json::array();
  for (const MissingPictures& each : progress.missing) {
    missing.push_back(
        {{"kind", kind_text(each.kind)}, {"label", each.label}, {"count", each.count}});
  }
  return {{"classes", std::move(classes)},
          {"missing", std::move(missing)},
          {"can_train", progress.can_train},
          {"can_tell", progress.can_tell}};
}

[[noreturn]] void refuse_member(const char* name, const char* what) {
  throw TeachError(TeachProblem::kInvalid, fmt::format("\"{}\" has to be {}", name, what));
}

// Null when there is none.
const json* find_member(const json& body, const char* name) {
  const auto found = body.find(name);
  return found == body.end() ? nullptr : &*found;
}

const json& member(const json& body, const char* name, const char* what) {
  const json* const found = find_member(body, name);
  if (found == nullptr) refuse_member(name, what);
  return *found;
}

bool bool_member(const json& body, const char* name) {
  constexpr const char* kWhat = "true or false";
  const json& value = member(body, name, kWhat);
  if (!value.is_boolean()) refuse_member(name, kWhat);
  return value.get<bool>();
}

cv::Rect2d roi_member(const json& body) {
  constexpr const char* kWhat = "four numbers: x, y, width and height, as parts of the picture";
  constexpr std::size_t kSides = 4;
  const json& value = member(body, "roi", kWhat);
  const bool fits =
      value.is_array() && value.size() == kSides &&
      std::all_of(value.begin(), value.end(), [](const json& side) { return side.is_number(); });
  if (!fits) refuse_member("roi", kWhat);
  return {value[0].get<double>(), value[1].get<double>(), value[2].get<double>(),
          value[3].get<double>()};
}

std::vector<std::string> classes_member(const json& body) {
  constexpr const char* kWhat = "a list of texts";
  const json& value = member(body, "classes", kWhat);
  const bool fits =
      value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const json& label) { return label.is_string(); });
  if (!fits) refuse_member("classes", kWhat);
  return value.get<std::vector<std::string>>();
}

}  // namespace

json json_of(const WatchFacts& facts) {
  const TaughtWatch& watch = facts.watch;
  json models = json::array();
  for (const TaughtModel& model : facts.models.kept) models.push_back(short_json_of(model));
  return {{"name", watch.name},
          {"title", watch.title},
          {"roi", json_of(watch.roi)},
          {"classes", watch.classes},
          {"revision", watch.revision},
          {"progress", json_of(facts.progress)},
          {"unlabelled", facts.unlabelled},
          {"model", optional_json(facts.models.used)},
          {"previous", optional_json(facts.models.previous)},
          {"trained", optional_json(facts.models.trained)},
          {"models", std::move(models)}};
}

json json_of(const HoldStatus& hold) {
  return {{"number", hold.number},
          {"watch", hold.watch},
          {"label", hold.label},
          {"held", hold.held},
          {"kept", hold.kept},
          {"similar", hold.similar},
          {"problem", hold.problem ? row_of(*hold.problem).code : ""},
          {"why", hold.why}};
}

json json_of(const TeachJob& job) {
  return {{"watch", job.watch},
          {"state", job_state_text(job.state)},
          {"done", share_of(job.done)},
          {"step", job.step},
          {"left", job.left ? json(job.left->count()) : json()},
          {"code", job.failure.code},
          {"message", job.failure.sentence}};
}

json json_of(const TeachLook& look) {
  json text{{"label", nullptr},
            {"lead", nullptr},
            {"missing", look.missing},
            {"code", look.failure.code},
            {"problem", look.failure.sentence}};
  if (look.preview) {
    text["label"] = look.preview->label;
    text["lead"] = look.preview->lead;
  }
  return text;
}

json json_of(const TaughtPicture& picture) {
  return {{"number", picture.number},  {"watch", picture.watch},
          {"label", picture.label},    {"time", to_iso_text(picture.time.at)},
          {"night", picture.night},    {"origin", origin_text(picture.origin)},
          {"guess", picture.guess},    {"revision", picture.revision},
          {"trashed", picture.trashed}};
}

json json_of(const std::vector<PictureMark>& marks) {
  json list = json::array();
  for (const PictureMark& mark : marks) {
    list.push_back({{"number", mark.number},
                    {"label", mark.label},
                    {"trashed", mark.trashed},
                    {"revision", mark.revision}});
  }
  return list;
}

HttpResponse http_error(const TeachError& error) {
  const TeachProblemRow& row = row_of(error.problem());
  return http_error(row.status, row.code, error.what(), error.about());
}

std::string text_member(const json& body, const char* name) {
  constexpr const char* kWhat = "a text";
  const json& value = member(body, name, kWhat);
  if (!value.is_string()) refuse_member(name, kWhat);
  return value.get<std::string>();
}

std::int64_t number_member(const json& body, const char* name) {
  constexpr const char* kWhat = "a whole number, not below 0";
  const json& value = member(body, name, kWhat);
  // Numbers that are not negative are unsigned; those of 64 bits do not fit.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX) {
    refuse_member(name, kWhat);
  }
  return value.get<std::int64_t>();
}

TaughtWatch parse_new_watch(const json& body) {
  TaughtWatch watch;
  watch.name = text_member(body, "name");
  if (find_member(body, "title") != nullptr) watch.title = text_member(body, "title");
  watch.roi = roi_member(body);
  watch.classes = classes_member(body);
  return watch;
}

void change_watch(const json& body, TaughtWatch& watch) {
  watch.revision = number_member(body, "revision");
  if (find_member(body, "title") != nullptr) watch.title = text_member(body, "title");
  if (find_member(body, "roi") != nullptr) watch.roi = roi_member(body);
  if (find_member(body, "classes") != nullptr) watch.classes = classes_member(body);
}

std::vector<PictureMark> parse_marks(const json& body) {
  constexpr const char* kWhat = "a list of objects";
  const json& list = member(body, "marks", kWhat);
  if (!list.is_array()) refuse_member("marks", kWhat);
  std::vector<PictureMark> marks;
  marks.reserve(list.size());
  for (const json& each : list) {
    if (!each.is_object()) refuse_member("marks", kWhat);
    marks.push_back({number_member(each, "number"), text_member(each, "label"),
                     bool_member(each, "trashed"), number_member(each, "revision")});
  }
  return marks;
}

}  // namespace lookout
