// The figures of a run for Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/model_spec.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/picture_queue.h"
#include "platform/metrics/metrics_text.h"
#include "platform/system/wall_moment.h"

namespace lookout {

struct MqttFigures {
  bool connected = false;
  std::uint64_t messages = 0;
  std::uint64_t dropped = 0;
};

// Of the history since the start of the run.
struct HistoryFigures {
  std::uint64_t written = 0;    // changes
  std::uint64_t lost = 0;       // changes that could not be written
  std::uint64_t pictures = 0;   // written
  std::uint64_t without = 0;    // changes whose picture was not written
  std::uint64_t set_aside = 0;  // databases that were damaged
  std::uint64_t bytes = 0;      // of the database now
};

struct WebhookFigures {
  std::uint64_t sent = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
};

struct GpioFigures {
  bool active = false;
  bool pending = false;  // not yet what the state asks for
  std::uint64_t changes = 0;
  std::uint64_t failed = 0;
};

// Read when somebody asks, by the thread that does. Empty: there are none.
struct MetricSources {
  std::function<OperatorTable()> operators;
  std::function<MachineState()> machine;
  const PictureQueue* pictures = nullptr;  // outlives the metrics
  std::function<MqttFigures()> mqtt;
  std::function<WebhookFigures()> webhook;
  std::function<std::map<std::string, std::uint64_t>()> api_usage;  // as of open_model.h
  std::function<HistoryFigures()> history{};
  std::function<GpioFigures()> gpio{};
};

// watching() and record() are called by the frame loop, record() in constant time and without
// allocation; text() by any other thread, after the first watching(). Names follow
// https://prometheus.io/docs/practices/naming/.
//
// What is about a state has the label `watch` where watches have names. Frames are counted once,
// however many of their regions are classified: their times are the sums of these. A frame with
// named watches is counted when the next one comes.
class RunMetrics {
 public:
  static constexpr std::size_t kMaxStates = 32;     // classes whose time is counted
  static constexpr std::size_t kMaxOperators = 64;  // others are called "(other)"

  RunMetrics(const RunInfo& info, MetricSources sources);

  // Whose results follow. A watch that was there before goes on with its counters, and its states
  // keep the time that they had with the model before; one that is missing is forgotten.
  void watching(const WatchList& watches) EXCLUDES(mutex_);
  void record(const Result& result) EXCLUDES(mutex_);
  void record(const StatsSnapshot& stats) EXCLUDES(mutex_);
  void record(const CameraStatus& status) EXCLUDES(mutex_);

  // All metrics in the text format.
  std::string text() const EXCLUDES(mutex_);

 private:
  struct Counters {
    bool online = true;
    std::uint64_t losses = 0;
    std::uint64_t captured = 0;
    std::uint64_t classified = 0;
    std::uint64_t reused = 0;
    std::uint64_t unwanted = 0;
    std::uint64_t dropped = 0;
    std::uint64_t skipped = 0;
    DurationBuckets capture;
    DurationBuckets preprocess;
    DurationBuckets inference;
    DurationBuckets total;
    DurationBuckets frame_age;
  };
  struct WatchCounters {
    WatchInfoPtr watch;  // null: the only one, without a name
    ModelInfoPtr model;
    bool shares_region = false;  // with a watch before it, whose result has the region's times
    std::uint64_t results = 0;
    std::uint64_t reused = 0;     // of these
    std::uint64_t unsure = 0;     // likewise
    double classified_frame = 0;  // the last one's capture, s since 1970; 0: there was none
    std::uint64_t changes = 0;
    bool has_class = false;  // the state is one; else unknown, or none
    std::size_t state = 0;   // its class; of unknown the number of classes
    bool has_state = false;
    double state_score = 0;
    WallMoment state_start;
    Clock::time_point last_result;
    std::vector<double> state_seconds;  // of each class and unknown; may be empty
  };
  using Watches = std::vector<WatchCounters>;

  void count_frame(const Result& result) REQUIRES(mutex_);
  void count_region(const Result& result, bool shares_region) REQUIRES(mutex_);
  void end_frame() REQUIRES(mutex_);
  MetricLabels labels_of(const WatchCounters& watch) const;
  void append_models(const Watches& watches, MetricsText& text) const;
  void append_frames(const Counters& counters, MetricsText& text) const;
  void append_certainty(const Watches& watches, MetricsText& text) const;
  void append_watches(const Watches& watches, MetricsText& text) const;
  void append_states(const Watches& watches, MetricsText& text) const;

  const bool has_source_;
  const MetricLabels camera_;
  const MetricSources sources_;
  mutable Mutex mutex_;
  Counters counters_ GUARDED_BY(mutex_);
  Watches watches_ GUARDED_BY(mutex_);
  // Of named watches, the frame whose regions come now: numbers alone.
  std::optional<Result> frame_ GUARDED_BY(mutex_);
};

}  // namespace lookout
