#include "pipeline/core/model_info.h"

#include <fmt/format.h>

namespace lookout {

ModelInfo model_info(const ModelSpec& spec) {
  ModelInfo info;
  info.name = spec.name;
  info.labels = spec.labels;
  info.class_ids = spec.class_ids;
  info.unknown = spec.unknown;
  info.input = fmt::format(R"("resize":"{}","width":{},"height":{})", to_text(spec.input.resize),
                           spec.input.width, spec.input.height);
  return info;
}

}  // namespace lookout
