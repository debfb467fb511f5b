#include "platform/mqtt/mqtt_payloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

bool begins_character(char c) {
  constexpr unsigned char kMask = 0xC0;
  constexpr unsigned char kContinuation = 0x80;
  return (static_cast<unsigned char>(c) & kMask) != kContinuation;
}

std::string class_id(const SceneState& state, const RunInfo& info) {
  const std::size_t index = state.prediction.index;
  if (state.kind != SceneState::Kind::kClass || index >= info.class_ids.size()) return "null";
  return to_json(info.class_ids[index]);
}

std::string name_json(const std::string& state) { return state.empty() ? "null" : to_json(state); }

}  // namespace

std::string state_label(const std::string& label) {
  if (!is_utf8(label)) return state_label(printable(label));
  std::size_t characters = 0;
  std::size_t last = 0;  // where the last permitted character begins
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (!begins_character(label[i])) continue;
    if (++characters == kMaxState) last = i;
    if (characters > kMaxState) return label.substr(0, last) + "…";
  }
  return label;
}

std::string state_payload(const SceneState& state, const RunInfo& info) {
  switch (state.kind) {
    case SceneState::Kind::kClass:
      return state_label(info.labels[state.prediction.index]);
    case SceneState::Kind::kUnknown:
      return "unknown";
    case SceneState::Kind::kNone:
      break;
  }
  return {};
}

std::string attributes_payload(const Result& result, std::chrono::system_clock::time_point since,
                               const std::string& previous, const RunInfo& info) {
  std::string json;
  if (result.state.kind == SceneState::Kind::kClass) {
    append_format(json, R"({{"index":{},"class_id":{},"score":{:.4f},)",
                  result.state.prediction.index, class_id(result.state, info),
                  result.state.prediction.score);
  } else {
    json += R"({"index":null,"class_id":null,"score":null,)";
  }
  append_format(json, R"("previous":{},"since":)", name_json(previous));
  append_seconds(since, json);
  json += R"(,"results":[)";
  const std::size_t count = std::min(result.top.size(), kMaxResults);
  for (std::size_t i = 0; i < count; ++i) {
    const Prediction& prediction = result.top[i];
    append_format(json, R"({}{{"label":{},"score":{:.4f}}})", i == 0 ? "" : ",",
                  to_json(info.labels[prediction.index]), prediction.score);
  }
  return json + "]}";
}

std::string event_payload(const std::string& state_line, const std::string& previous) {
  constexpr std::string_view kPrevious = R"("previous":)";  // the last member
  std::string line = state_line.substr(0, state_line.find_last_not_of('\n') + 1);
  const std::size_t member = line.rfind(kPrevious);
  if (member != std::string::npos && !previous.empty()) {
    line.replace(member + kPrevious.size(), std::string::npos, to_json(previous) + "}");
  }
  return R"({"event_type":"changed",)" + line.substr(1);
}

}  // namespace lookout
