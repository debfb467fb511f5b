// Hands the frames of a run to the button that is held, and finds pictures worth a label.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/reporter.h"
#include "pipeline/model/preprocessor.h"
#include "platform/teach/teaching.h"

namespace lookout {

// While a taught watch runs, pictures of it are kept without a label: one that the model is unsure
// of, see is_unsure(), each kUnsureEvery, and one by chance each kRandomEvery. A frame that shows
// what the last one showed, so that its result is taken, is none, nor is a near-copy of the picture
// that was kept before.
//
// The thread "teach", at a low priority, encodes and writes, and removes at the start and each day
// what was thrown away long ago; the frame loop copies the pixels of two frames a second while a
// button is held or somebody asks what the picture looks like, and those of a picture that is
// found, and waits for nothing.
class TeachReporter : public Reporter {
 public:
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr std::chrono::hours kPurge{24};
  static constexpr std::chrono::minutes kUnsureEvery{10};
  static constexpr std::chrono::hours kRandomEvery{1};

  using ReadClocks = std::function<TeachNow()>;
  using Draw = std::function<double()>;  // a number by chance, from 0 to below 1

  // `view` turns the pictures. `patience`: how long the end may take.
  TeachReporter(std::shared_ptr<Teaching> teaching, const View& view,
                ReadClocks clocks = read_clocks, Draw draw = draw_number,
                std::chrono::seconds patience = kPatience);
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
  static double draw_number();

 private:
  class Desk;
  // Of a watch, by the clock that is never set.
  struct Due {
    std::chrono::milliseconds unsure{};  // not before
    std::chrono::milliseconds random{};
    std::chrono::milliseconds hour{};  // in which `random` is: its beginning
  };

  Due& due_of(const std::string& watch, std::chrono::milliseconds uptime);
  void draw_random(Due& due, std::chrono::milliseconds hour);
  void find(const Result& result, const Frame& frame, const TeachNow& now);

  const std::shared_ptr<Teaching> teaching_;
  const ReadClocks clocks_;
  const Draw draw_;
  const std::chrono::seconds patience_;
  std::optional<std::uint64_t> last_frame_;  // that was reported
  std::chrono::milliseconds purge_due_{};
  std::map<std::string, Due> dues_;   // by watch
  const std::shared_ptr<Desk> desk_;  // shared with the thread, which may outlive this
  AsyncWorker<TeachNow> worker_;
};

}  // namespace lookout
