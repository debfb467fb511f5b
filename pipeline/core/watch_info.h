// What a result is about when a run watches several things.
#pragma once

#include <memory>
#include <opencv2/core/types.hpp>
#include <string>

namespace lookout {

// Immutable: results share it, and it lives as long as they do.
struct WatchInfo {
  std::string name;  // letters, digits, - and _
  cv::Rect2d roi;    // as View::roi
};

using WatchInfoPtr = std::shared_ptr<const WatchInfo>;

}  // namespace lookout
