#include "pipeline/core/json_text.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <utility>

namespace lookout {

using Json = nlohmann::json;

namespace {

template <typename Event>
bool begins_too_deep(int depth, Event event) {
  return depth >= kMaxJsonDepth && (event == Event::array_start || event == Event::object_start);
}

template <typename Value>
Value parse_bounded(std::string_view text, bool& too_deep) {
  const auto keep = [&too_deep](int depth, typename Value::parse_event_t event, const Value&) {
    too_deep = too_deep || begins_too_deep(depth, event);
    return !too_deep;
  };
  Value value = Value::parse(text, keep, /*allow_exceptions=*/false);
  return too_deep ? Value(Value::value_t::discarded) : std::move(value);
}

}  // namespace

Json parse_json(std::string_view text, bool& too_deep) {
  return parse_bounded<Json>(text, too_deep);
}

Json parse_json(std::string_view text) {
  bool too_deep = false;
  return parse_json(text, too_deep);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  bool too_deep = false;
  return parse_bounded<nlohmann::ordered_json>(text, too_deep);
}

bool for_each_element(std::istream& text, const std::function<void(const Json&)>& use) {
  using Event = Json::parse_event_t;
  bool bounded = true;
  bool in_array = false;
  const auto take = [&](int depth, Event event, const Json& value) {
    bounded = bounded && !begins_too_deep(depth, event);
    in_array = in_array || (event == Event::array_start && depth == 0);
    const bool ends =
        event == Event::value || event == Event::object_end || event == Event::array_end;
    if (!bounded || !in_array || depth != 1 || !ends) return bounded;
    use(value);
    return false;
  };
  const Json rest = Json::parse(text, take, /*allow_exceptions=*/false);
  return bounded && rest.is_array();
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_json(const std::string& text) { return to_text(Json(text)); }

}  // namespace lookout
