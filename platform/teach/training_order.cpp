#include "platform/teach/training_order.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

using nlohmann::json;

using PictureClock = decltype(TeachTime::at);

json picture_json(const TrainingOrder::Picture& entry) {
  const TaughtPicture& picture = entry.picture;
  return {{"number", picture.number}, {"label", picture.label},
          {"hold", picture.hold},     {"time", picture.time.at.time_since_epoch().count()},
          {"night", picture.night},   {"minute", picture.time.minute},
          {"file", entry.file}};
}

TrainingOrder::Picture picture_of(const json& entry, const std::string& watch) {
  TrainingOrder::Picture read;
  TaughtPicture& picture = read.picture;
  picture.number = entry.at("number").get<std::int64_t>();
  picture.watch = watch;
  picture.label = entry.at("label").get<std::string>();
  picture.hold = entry.at("hold").get<std::int64_t>();
  picture.time.at = PictureClock(std::chrono::milliseconds(entry.at("time").get<std::int64_t>()));
  picture.time.minute = entry.at("minute").get<int>();
  picture.night = entry.at("night").get<bool>();
  read.file = entry.at("file").get<std::string>();
  return read;
}

TrainingOrder order_of_json(const json& text) {
  TrainingOrder order;
  order.watch.name = text.at("watch").get<std::string>();
  order.watch.title = text.at("title").get<std::string>();
  order.watch.classes = text.at("classes").get<std::vector<std::string>>();
  const auto roi = text.at("roi").get<std::array<double, 4>>();
  order.watch.roi = {roi[0], roi[1], roi[2], roi[3]};
  order.name = text.at("name").get<std::string>();
  order.base = text.at("base").get<std::string>();
  order.folder = text.at("folder").get<std::string>();
  order.output = text.at("output").get<std::string>();
  order.in_use = text.at("in_use").get<std::string>();
  order.in_use_newest = text.at("in_use_newest").get<std::int64_t>();
  order.parent = text.at("parent").get<pid_t>();
  const auto frame = text.at("frame").get<std::array<int, 2>>();
  order.frame = {frame[0], frame[1]};
  for (const json& entry : text.at("pictures")) {
    order.pictures.push_back(picture_of(entry, order.watch.name));
  }
  return order;
}

json failure_json(const TeachFailure& failure) {
  return {{"code", failure.code}, {"sentence", failure.sentence}};
}

// Of a process, whose texts may be anything.
TeachFailure failure_in(const json& text) {
  TeachFailure failure;
  if (!text.contains("failure")) return failure;
  failure.code = printable(text["failure"].at("code").get<std::string>());
  failure.sentence = printable(text["failure"].at("sentence").get<std::string>());
  return failure;
}

}  // namespace

std::string to_text(const TrainingOrder& order) {
  const cv::Rect2d& roi = order.watch.roi;
  json text{{"watch", order.watch.name},
            {"title", order.watch.title},
            {"classes", order.watch.classes},
            {"roi", {roi.x, roi.y, roi.width, roi.height}},
            {"name", order.name},
            {"base", order.base},
            {"folder", order.folder.string()},
            {"output", order.output.string()},
            {"in_use", order.in_use.string()},
            {"in_use_newest", order.in_use_newest},
            {"parent", order.parent},
            {"frame", {order.frame.width, order.frame.height}},
            {"pictures", json::array()}};
  for (const auto& entry : order.pictures) text["pictures"].push_back(picture_json(entry));
  return to_text(text);
}

std::optional<TrainingOrder> parse_order(std::string_view text) {
  try {
    return order_of_json(parse_json(text));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string to_text(const TrainingNews& news) {
  json text{{"done", news.done}, {"step", news.step}};
  if (news.report) text["report"] = parse_json(to_text(*news.report));
  if (!news.failure.empty()) text["failure"] = failure_json(news.failure);
  return to_text(text);
}

std::optional<TrainingNews> parse_news(std::string_view line) {
  try {
    const json text = parse_json(line);
    TrainingNews news{text.at("done").get<float>(), text.at("step").get<std::string>()};
    news.failure = failure_in(text);
    if (!text.contains("report")) return news;
    news.report = parse_report(to_text(text["report"]));
    if (!news.report) return std::nullopt;
    return news;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string to_text(const TeachLook& look) {
  json text{{"missing", look.missing}};
  if (!look.failure.empty()) text["failure"] = failure_json(look.failure);
  if (look.preview) {
    text["label"] = look.preview->label;
    text["similarity"] = look.preview->similarity;
    text["lead"] = look.preview->lead;
  }
  return to_text(text);
}

std::optional<TeachLook> parse_look(std::string_view line) {
  try {
    const json text = parse_json(line);
    TeachLook look;
    look.failure = failure_in(text);
    look.missing = text.at("missing").get<std::size_t>();
    if (text.contains("label")) {
      look.preview = Preview{text["label"].get<std::string>(), text.at("similarity").get<float>(),
                             text.at("lead").get<float>()};
    }
    return look;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace lookout
