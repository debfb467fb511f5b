// Hands the changes of a run's states to its history.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/reporter.h"
#include "pipeline/model/preprocessor.h"
#include "platform/history/history_recorder.h"

namespace lookout {

// The thread "history", at a low priority, encodes pictures and writes; the frame loop copies the
// pixels of a changed state and waits for nothing. While the camera is away, and at the end, the
// state is not known.
class HistoryReporter : public Reporter {
 public:
  static constexpr std::chrono::seconds kPatience{2};

  using ReadClocks = std::function<HistoryNow()>;

  // `view` turns the pictures. `patience`: how long the end may take.
  HistoryReporter(HistoryOptions options, const View& view, ReadClocks clocks = read_clocks,
                  std::chrono::seconds patience = kPatience);
  // Writes what waits, and logs the counts.
  ~HistoryReporter() override;
  HistoryReporter(const HistoryReporter&) = delete;
  HistoryReporter& operator=(const HistoryReporter&) = delete;

  // The states of watches that are gone end.
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  void status(const CameraStatus& status) override;
  void poll() override;

  // The machine's clocks.
  static HistoryNow read_clocks();

 private:
  class Desk;
  struct Turn {
    HistoryNow now;
    bool last = false;
  };

  void end_states(const HistoryNow& now, HistoryTime at,
                  const std::function<bool(const std::string& watch)>& ends);
  void wake(const HistoryNow& now, std::chrono::milliseconds again);

  const bool pictures_;
  const std::shared_ptr<HistoryReaders> readers_;  // null: nobody
  const View view_;
  const ReadClocks clocks_;
  const std::chrono::seconds patience_;
  std::map<std::string, std::string> known_;  // watches whose state is known, and their models
  std::chrono::milliseconds due_{};
  const std::shared_ptr<Desk> desk_;  // shared with the thread, which may outlive this
  AsyncWorker<Turn> worker_;
};

}  // namespace lookout
