// Publishes a run on an MQTT broker.
#pragma once

#include <chrono>
#include <memory>
#include <opencv2/core/types.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "pipeline/core/reporter.h"
#include "pipeline/results/statistics.h"
#include "platform/mqtt/mqtt_feed.h"
#include "platform/mqtt/mqtt_link.h"

namespace lookout {

// The statistics that are published, whose intervals are longer than the log's. Used by the frame
// loop alone.
class MqttStatistics {
 public:
  // `interval`: at least, from one to the next.
  MqttStatistics(std::chrono::milliseconds interval, Clock::time_point start)
      : interval_(interval), statistics_(start) {}

  // A frame counts once. Its times are the sums of its watches', those of which share an inference
  // once.
  void record(const Result& result);

  // `stats`: of the log's interval, which ends `now`; not the last ones of the run. Returns what
  // happened since the statistics before, or nothing when that was not long ago. The first ones
  // come at once.
  std::optional<StatsSnapshot> tick(const StatsSnapshot& stats, Clock::time_point now);

 private:
  // What shares an inference.
  struct Region {
    cv::Rect2d roi;
    const ModelInfo* model;
  };
  void record_frame();

  const std::chrono::milliseconds interval_;
  Statistics statistics_;
  // Of watches with names: the times of a frame, until another one comes.
  Result frame_;
  std::vector<Region> regions_;  // that are in frame_; empty: there is none
  std::optional<Clock::time_point> next_;
};

// Puts what is new where the thread "mqtt" finds it, which connects, publishes and executes
// commands. A picture is copied at a change, at most one in 10 s. A broker that is away or stalls
// holds up nothing: the end waits for it at most kStop, and for a name that is being resolved as
// long.
class MqttReporter : public Reporter {
 public:
  static constexpr std::chrono::seconds kStop{1};

  MqttReporter(MqttLinkOptions link, MqttFeedOptions feed, OpenMqtt open,
               std::shared_ptr<MqttCounters> counters);
  // Publishes that the program has stopped.
  ~MqttReporter() override;
  MqttReporter(const MqttReporter&) = delete;
  MqttReporter& operator=(const MqttReporter&) = delete;

  // The first one starts the thread.
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  // The summary comes when the connection ends.
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  class Worker;

  MqttStatistics statistics_;
  const std::shared_ptr<Worker> worker_;  // shared with the thread, which may be detached
  std::thread thread_;                    // none before the first model
};

}  // namespace lookout
