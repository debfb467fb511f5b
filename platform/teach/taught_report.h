// What is told of a taught model, as JSON: beside the model, and from the process that trained it.
#pragma once

#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "platform/teach/teach_trainer.h"

namespace lookout {

// A model, and what it was trained for.
struct TaughtReport {
  // Mistakes are at most so many.
  static constexpr std::size_t kMaxMistakes = 12;

  TaughtModel model;
  std::string title;  // of the watch then
  cv::Rect2d roi;     // likewise; a report that was read has it as the model's, too
};

// On one line.
std::string to_text(const TaughtReport& report);

// Nothing: the text is none, or damaged.
std::optional<TaughtReport> parse_report(std::string_view text);

}  // namespace lookout
