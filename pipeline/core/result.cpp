#include "pipeline/core/result.h"

namespace lookout {

std::string_view SceneState::name() const {
  switch (kind) {
    case Kind::kClass:
      return prediction.label;
    case Kind::kUnknown:
      return "unknown";
    case Kind::kNone:
      break;
  }
  return "";
}

bool is_unsure(const Result& result) {
  if (result.top.empty()) return true;
  const Prediction& best = result.top.front();
  const float second = result.top.size() > 1 ? result.top[1].score : 0;
  return best.index == result.model->unknown || best.score - second < kSureLead;
}

}  // namespace lookout
