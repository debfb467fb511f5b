// What a process that trains is told, and what it tells.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/teach/taught_report.h"
#include "platform/teach/teach_library.h"
#include "platform/teach/teach_trainer.h"

namespace lookout {

// The stdin of a process that trains: one JSON document. A process that looks finds it in the file
// kOrderFile whenever a byte comes on its stdin.
struct TrainingOrder {
  // A larger one is none: 2000 pictures have 0.5 MB.
  static constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

  struct Picture {
    TaughtPicture picture;  // number, label, hold, time and night
    std::string file;
  };

  TaughtWatch watch;
  std::vector<Picture> pictures;   // oldest first
  std::string name;                // of the model
  std::string base;                // archive; empty: the one that is installed
  std::filesystem::path folder;    // of the EmbeddingCache
  std::filesystem::path output;    // the head
  std::filesystem::path in_use;    // the head that is in use; empty: none
  std::int64_t in_use_newest = 0;  // TaughtModel::newest of it
  pid_t parent = 0;                // with which the process ends
  cv::Size frame;                  // of the picture to look at, in kFrameFile: BGR, line by line
};

// Descriptors of a process that looks.
inline constexpr int kOrderFile = 3;
inline constexpr int kFrameFile = 4;

std::string to_text(const TrainingOrder& order);
// Nothing: the text is none.
std::optional<TrainingOrder> parse_order(std::string_view text);

// A line of its stdout, JSON. The last one has a report or a failure.
struct TrainingNews {
  float done = 0;    // 0..1, of all
  std::string step;  // as TeachJob::step
  std::optional<TaughtReport> report{};
  TeachFailure failure{};
};

// Without a newline.
std::string to_text(const TrainingNews& news);
std::optional<TrainingNews> parse_news(std::string_view line);

// The line that a process answers which looks.
std::string to_text(const TeachLook& look);
std::optional<TeachLook> parse_look(std::string_view line);

}  // namespace lookout
