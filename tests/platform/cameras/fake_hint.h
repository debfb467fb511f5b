// A FrameHint that a test decides.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <utility>
#include <vector>

#include "pipeline/core/frame_hint.h"

namespace lookout {

class FakeHint : public FrameHint {
 public:
  // Called with the number of the look, from 0.
  explicit FakeHint(std::function<bool(int)> is_still) : is_still_(std::move(is_still)) {}

  cv::Size least_size() override { return least; }

  bool looks_still(const cv::Mat& picture, const cv::Size& frame,
                   std::vector<LumaBlocks>& blocks) override {
    looked_at.push_back({picture.type(), picture.size(), frame});
    const int look = static_cast<int>(looked_at.size());
    blocks.resize(1);
    blocks.front().means.assign(1, static_cast<std::uint16_t>(look));
    return is_still_(look - 1);
  }

  bool looks_unwanted(std::chrono::steady_clock::time_point /*captured*/) override {
    return unwanted;
  }

  struct Look {
    int type;
    cv::Size size;
    cv::Size frame;
    bool operator==(const Look& other) const {
      return type == other.type && size == other.size && frame == other.frame;
    }
  };
  std::vector<Look> looked_at;
  bool unwanted = false;
  cv::Size least{240, 240};

 private:
  std::function<bool(int)> is_still_;
};

}  // namespace lookout
