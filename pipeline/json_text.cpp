#include "pipeline/json_text.h"

#include <nlohmann/json.hpp>

namespace lookout {

using Json = nlohmann::json;

Json parse_json(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

Json parse_json(std::string_view text, int max_depth, bool& too_deep) {
  const auto keep = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    too_deep = too_deep || depth > max_depth;
    return depth <= max_depth;
  };
  return Json::parse(text, keep, /*allow_exceptions=*/false);
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_json(const std::string& text) { return to_text(Json(text)); }

}  // namespace lookout
