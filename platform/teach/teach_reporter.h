// Hands the frames of a run to the button that is held.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/reporter.h"
#include "pipeline/model/preprocessor.h"
#include "platform/teach/teaching.h"

namespace lookout {

// The thread "teach", at a low priority, encodes and writes, and removes at the start and each day
// what was thrown away long ago; the frame loop copies the pixels of two frames a second while a
// button is held or somebody asks what the picture looks like, and waits for nothing.
class TeachReporter : public Reporter {
 public:
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr std::chrono::hours kPurge{24};

  using ReadClocks = std::function<TeachNow()>;

  // `view` turns the pictures. `patience`: how long the end may take.
  TeachReporter(std::shared_ptr<Teaching> teaching, const View& view,
                ReadClocks clocks = read_clocks, std::chrono::seconds patience = kPatience);
  ~TeachReporter() override;
  TeachReporter(const TeachReporter&) = delete;
  TeachReporter& operator=(const TeachReporter&) = delete;

  void report(const Result& result, const Frame& frame) override;
  void status(const CameraStatus& status) override;
  void poll() override;

  // The machine's clocks.
  static TeachNow read_clocks();
  // A time of the wall clock, in the machine's time zone.
  static TeachTime teach_time(decltype(TeachTime::at) at);

 private:
  struct Turn {
    std::optional<Hold> hold;         // that the picture is for
    std::optional<std::string> look;  // the watch that it is to be looked at for
    cv::Mat bgr;
    TeachNow now;
  };
  class Desk;

  const std::shared_ptr<Teaching> teaching_;
  const ReadClocks clocks_;
  const std::chrono::seconds patience_;
  std::optional<std::uint64_t> last_frame_;  // that was reported
  std::chrono::milliseconds purge_due_{};
  AsyncWorker<Turn> worker_;
};

}  // namespace lookout
