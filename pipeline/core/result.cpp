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

}  // namespace lookout
