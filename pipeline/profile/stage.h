// The stages of a frame, and their names in traces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lookout {

// A frame passes these stages in this order. Each but kQueueWait runs on a thread.
enum class Stage : std::uint8_t {
  kCapture,    // copying, converting or decoding the frame
  kQueueWait,  // in the double buffer, or waiting for room there
  kCompare,    // with the last classified frame, while results are reused
  kPreprocess,
  kInference,
  kTopK,  // and the state
  kReport,
};
inline constexpr int kStages = 7;
inline constexpr std::array<Stage, kStages> kAllStages{
    Stage::kCapture,   Stage::kQueueWait, Stage::kCompare, Stage::kPreprocess,
    Stage::kInference, Stage::kTopK,      Stage::kReport};
inline constexpr std::array<const char*, kStages> kStageNames{
    "capture", "queue-wait", "compare", "preprocess", "inference", "top-k", "report"};

// The name in traces: "queue-wait".
inline const char* to_text(Stage stage) { return kStageNames.at(static_cast<std::size_t>(stage)); }

// The stage of that name; empty: there is none.
inline std::optional<Stage> parse_stage(std::string_view name) {
  for (const Stage stage : kAllStages) {
    if (name == to_text(stage)) return stage;
  }
  return std::nullopt;
}

}  // namespace lookout
