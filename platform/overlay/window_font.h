// The font of the window system: Qt's, which takes each character from a font that has it, and
// shapes scripts that need it.
#pragma once

#include <map>
#include <opencv2/core/mat.hpp>
#include <set>
#include <string>
#include <utility>

#include "platform/overlay/overlay_layout.h"

namespace lookout {

// To be used by the thread of the window, once there is one. Texts are drawn when they change.
class WindowFont : public OverlayFont {
 public:
  // Whether OpenCV's windows are Qt's, as Debian's are. To be asked when there is one.
  static bool is_there();

  cv::Mat picture(const std::string& text, int width) override;

  // The first character so far that no font has, UTF-8; empty: none.
  const std::string& missing() const { return missing_; }

 private:
  cv::Mat drawn(const std::string& text) const;
  cv::Mat cut(const std::string& text, int width) const;
  void look_for(const std::string& character);

  std::map<std::pair<std::string, int>, cv::Mat> pictures_;
  std::set<std::string> seen_;  // characters
  std::string missing_;
};

}  // namespace lookout
