#include "pipeline/profile/stage.h"

namespace lookout {

const char* to_text(Stage stage) {
  switch (stage) {
    case Stage::kCapture:
      return "capture";
    case Stage::kQueueWait:
      return "queue-wait";
    case Stage::kPreprocess:
      return "preprocess";
    case Stage::kInference:
      return "inference";
    case Stage::kTopK:
      return "top-k";
    case Stage::kReport:
      return "report";
  }
  return "";
}

std::optional<Stage> parse_stage(std::string_view name) {
  for (const Stage stage : kAllStages) {
    if (name == to_text(stage)) return stage;
  }
  return std::nullopt;
}

}  // namespace lookout
