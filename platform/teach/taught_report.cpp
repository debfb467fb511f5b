#include "platform/teach/taught_report.h"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "pipeline/core/json_text.h"

namespace lookout {
namespace {

using nlohmann::json;

std::int64_t to_ms(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

json share_json(const RightShare& share) {
  return {{"right", share.right}, {"of", share.pictures}};
}

RightShare share_of(const json& share) {
  return {share.at("right").get<std::size_t>(), share.at("of").get<std::size_t>()};
}

json mistakes_json(const std::vector<Mistake>& mistakes) {
  json list = json::array();
  for (const Mistake& mistake : mistakes) {
    if (list.size() == TaughtReport::kMaxMistakes) break;
    list.push_back({{"picture", mistake.number},
                    {"label", mistake.label},
                    {"predicted", mistake.predicted},
                    {"score", mistake.score}});
  }
  return list;
}

json confusions_json(const std::vector<TaughtConfusion>& confusions) {
  json list = json::array();
  for (const TaughtConfusion& each : confusions) {
    list.push_back(
        {{"label", each.label}, {"predicted", each.predicted}, {"pictures", each.pictures}});
  }
  return list;
}

TaughtModel model_of(const json& report) {
  TaughtModel model;
  model.sha256 = report.at("sha256").get<std::string>();
  model.time = std::chrono::system_clock::time_point(
      std::chrono::milliseconds(report.at("time").get<std::int64_t>()));
  model.classes = report.at("classes").get<std::vector<std::string>>();
  model.can_tell = report.at("can_tell").get<bool>();
  model.all = share_of(report.at("all"));
  model.day = share_of(report.at("day"));
  model.night = share_of(report.at("night"));
  if (const json& interval = report.at("interval"); !interval.is_null()) {
    model.interval = {interval.at(0).get<double>(), interval.at(1).get<double>()};
  }
  model.newest = report.value("newest", std::int64_t{0});
  // A former lookout judged the model in use by pictures that it had learned from.
  if (report.contains("trained")) {
    model.comparison = Comparison{share_of(report["trained"]), share_of(report.at("in_use"))};
  }
  for (const json& mistake : report.at("mistakes")) {
    model.mistakes.push_back(
        {mistake.at("picture").get<std::int64_t>(), mistake.at("label").get<std::string>(),
         mistake.at("predicted").get<std::string>(), mistake.at("score").get<float>()});
  }
  // Those of a former lookout have none.
  for (const json& each : report.value("confusions", json::array())) {
    model.confusions.push_back({each.at("label").get<std::string>(),
                                each.at("predicted").get<std::string>(),
                                each.at("pictures").get<std::size_t>()});
  }
  return model;
}

}  // namespace

std::string to_text(const TaughtReport& report) {
  const TaughtModel& model = report.model;
  const cv::Rect2d& roi = report.roi;
  json text{{"sha256", model.sha256},
            {"time", to_ms(model.time)},
            {"title", report.title},
            {"roi", {roi.x, roi.y, roi.width, roi.height}},
            {"classes", model.classes},
            {"can_tell", model.can_tell},
            {"all", share_json(model.all)},
            {"day", share_json(model.day)},
            {"night", share_json(model.night)},
            {"newest", model.newest},
            {"interval", nullptr},
            {"in_use", nullptr},
            {"mistakes", mistakes_json(model.mistakes)},
            {"confusions", confusions_json(model.confusions)}};
  if (model.interval) text["interval"] = {model.interval->low, model.interval->high};
  if (model.comparison) {
    text["trained"] = share_json(model.comparison->trained);
    text["in_use"] = share_json(model.comparison->in_use);
  }
  return to_text(text);
}

std::optional<TaughtReport> parse_report(std::string_view text) {
  try {
    const json report = parse_json(text);
    const auto roi = report.at("roi").get<std::array<double, 4>>();
    TaughtReport read{
        model_of(report), report.at("title").get<std::string>(), {roi[0], roi[1], roi[2], roi[3]}};
    read.model.roi = read.roi;
    return read;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace lookout
