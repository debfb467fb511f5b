#include "platform/metrics/run_metrics.h"
#include "pipeline/results/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

const RunInfo kRun{"front", "a test"};

ModelInfoPtr model_of(std::vector<std::string> labels) {
  ModelInfo info;
  info.name = "small";
  info.labels = std::move(labels);
  info.archive = R"({"weights":"mine","quantization":"qint8","library":"LibTorch 2.9.1"})";
  info.sha256 = "0123456789abcdef";
  return std::make_shared<ModelInfo>(std::move(info));
}

// The text of metrics without a result.
std::string text_of(std::vector<std::string> labels, const MetricSources& sources = {},
                    const RunInfo& info = kRun) {
  RunMetrics metrics(info, sources);
  metrics.watching({{nullptr, model_of(std::move(labels))}});
  return metrics.text();
}

Result result_of_watch(std::uint64_t sequence, milliseconds inference) {
  Result result;
  result.sequence = sequence;
  result.durations.inference = inference;
  result.durations.total = inference;
  result.frame_age = inference + milliseconds(5);
  return result;
}

// Of a metric without labels.
double value_of(const std::string& text, const std::string& name) {
  const std::size_t line = text.find("\n" + name + " ");
  if (line == std::string::npos) throw std::runtime_error("no " + name);
  return std::stod(text.substr(line + name.size() + 2));
}

TEST(MetricsText, EscapesWhatTheFormatGivesAMeaning) {
  MetricsText text;
  text.begin("lookout_a", "gauge", "A test.");
  text.add({{"camera", "a\"b\\c\nd\xc3\xa9"}, {"other", "\xff"}}, 0.5);
  EXPECT_EQ(text.text(),
            "# HELP lookout_a A test.\n# TYPE lookout_a gauge\n"
            "lookout_a{camera=\"a\\\"b\\\\c\\nd\xc3\xa9\",other=\"?\"} 0.5\n");
}

TEST(MetricsText, AHistogramCountsUpToEachBound) {
  DurationBuckets buckets;
  for (const int ms : {0, 1, 2, 30, 31, 5000}) buckets.record(milliseconds(ms));
  buckets.record(milliseconds(-1));
  MetricsText text;
  text.begin("lookout_h", "histogram", "A test.");
  text.add({}, buckets);
  for (const char* line :
       {"lookout_h_bucket{le=\"0.001\"} 3\n", "lookout_h_bucket{le=\"0.002\"} 4\n",
        "lookout_h_bucket{le=\"0.03\"} 5\n", "lookout_h_bucket{le=\"0.04\"} 6\n",
        "lookout_h_bucket{le=\"2.5\"} 6\n", "lookout_h_bucket{le=\"+Inf\"} 7\n",
        "lookout_h_count 7\n"}) {
    EXPECT_THAT(text.text(), HasSubstr(line));
  }
  EXPECT_THAT(text.text(), HasSubstr("lookout_h_sum 5.06"));
}

TEST(RunMetrics, NamesAModelThatFailed) {
  RunMetrics metrics(kRun, {});
  const ModelInfoPtr model = model_of({"cat"});
  metrics.watching({{nullptr, model}});
  EXPECT_EQ(metrics.text().find("fallback"), std::string::npos);
  ModelInfo before = *model;
  before.failed = "gate (0123456789ab)";
  metrics.watching({{nullptr, std::make_shared<ModelInfo>(before)}});
  EXPECT_THAT(metrics.text(), HasSubstr("lookout_model_fallback{camera=\"front\",failed=\"gate "
                                        "(0123456789ab)\"} 1\n"));
}

TEST(RunMetrics, CountsFramesStagesAndLosses) {
  RunMetrics metrics(kRun, {});
  metrics.watching({{nullptr, model_of({"cat", "dog"})}});
  Result result = result_of_watch(9, milliseconds(12));
  result.dropped = 4;
  metrics.record(result);
  metrics.record(CameraStatus{false, {}});
  std::string text = metrics.text();
  for (const char* line :
       {"lookout_camera_up{camera=\"front\"} 0\n",
        "lookout_camera_losses_total{camera=\"front\"} 1\n",
        "lookout_frames_captured_total{camera=\"front\"} 10\n",
        "lookout_frames_classified_total{camera=\"front\"} 1\n",
        "lookout_frames_dropped_total{camera=\"front\"} 4\n",
        "lookout_stage_duration_seconds_bucket{camera=\"front\",stage=\"inference\",le=\"0.02\"} "
        "1\n",
        "lookout_stage_duration_seconds_bucket{camera=\"front\",stage=\"inference\",le=\"0.01\"} "
        "0\n",
        "lookout_frame_age_seconds_count{camera=\"front\"} 1\n", "process_open_fds ",
        "lookout_model_info{camera=\"front\",model=\"small\",weights=\"mine\","
        "quantization=\"qint8\",sha256=\"0123456789ab\"} 1\n",
        "library=\"LibTorch 2.9.1\""}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  metrics.record(CameraStatus{true, {}});
  StatsSnapshot stats;
  stats.captured = 20;
  stats.skipped = 3;
  metrics.record(stats);
  text = metrics.text();
  EXPECT_THAT(text, HasSubstr("lookout_camera_up{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_camera_losses_total{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_frames_captured_total{camera=\"front\"} 20\n"));
  EXPECT_THAT(text, HasSubstr("lookout_frames_skipped_total{camera=\"front\"} 3\n"));
}

TEST(RunMetrics, StatesHaveTheirScoreTheirStartAndTheirTime) {
  RunMetrics metrics(kRun, {});
  metrics.watching({{nullptr, model_of({"cat", "dog"})}});
  Result result = result_of_watch(0, milliseconds(1));
  result.timestamp = std::chrono::system_clock::time_point(std::chrono::seconds(1'795'000'000));
  result.state.kind = SceneState::Kind::kClass;
  result.state.prediction = {1, "dog", 0.75F};
  result.state_changed = true;
  metrics.record(result);
  std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("lookout_state_changes_total{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_state_score{camera=\"front\"} 0.75\n"));
  EXPECT_THAT(text, HasSubstr("lookout_state_start_time_seconds{camera=\"front\"} 1795000000\n"));
  EXPECT_THAT(text, HasSubstr("lookout_state_seconds_total{camera=\"front\",state=\"dog\"} 0\n"));
  result.state_changed = false;
  metrics.record(result);
  text = metrics.text();
  EXPECT_THAT(text, HasSubstr("lookout_state_seconds_total{camera=\"front\",state=\"cat\"} 0\n"));
  EXPECT_THAT(text,
              Not(HasSubstr("lookout_state_seconds_total{camera=\"front\",state=\"dog\"} 0\n")));
  // While the camera is away there is no state.
  metrics.record(CameraStatus{false, {}});
  EXPECT_THAT(metrics.text(), Not(HasSubstr("lookout_state_score")));
}

TEST(RunMetrics, AStateKeepsItsTimeWithAnotherModel) {
  RunMetrics metrics(kRun, {});
  const auto seconds_of_dog = [&metrics] {
    const std::string text = metrics.text();
    const std::string start = R"(lookout_state_seconds_total{camera="front",state="dog"} )";
    const std::size_t at = text.find(start);
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  metrics.watching({{nullptr, model_of({"cat", "dog"})}});
  Result result = result_of_watch(0, milliseconds(1));
  result.state = {SceneState::Kind::kClass, {1, "dog", 0.75F}};
  metrics.record(result);
  metrics.record(result);
  const std::string before = seconds_of_dog();
  metrics.watching({{nullptr, model_of({"dog", "cow", "pig"})}});
  EXPECT_EQ(seconds_of_dog(), before);
  EXPECT_THAT(metrics.text(), Not(HasSubstr("state=\"cat\"")));
  metrics.watching({{nullptr, model_of({"cow"})}});
  EXPECT_EQ(seconds_of_dog(), "");
}

Watching watch_of(const char* name, const ModelInfoPtr& model, const cv::Rect2d& roi = {}) {
  return {std::make_shared<WatchInfo>(WatchInfo{name, roi}), model};
}

// Of a frame, after 10 ms of inference, with the first label as the state.
Result result_of_watch(const Watching& watch, std::uint64_t sequence, bool changed = false) {
  Result result = result_of_watch(sequence, milliseconds(10));
  result.watch = watch.watch;
  result.model = watch.model;
  result.timestamp = std::chrono::system_clock::time_point(std::chrono::seconds(1'795'000'000));
  result.state = {SceneState::Kind::kClass, {0, watch.model->labels[0], 0.5F}};
  result.state_changed = changed;
  return result;
}

TEST(RunMetrics, EachWatchHasItsStates) {
  RunMetrics metrics(kRun, {});
  const Watching gate = watch_of("gate", model_of({"open", "shut"}));
  const Watching lamp = watch_of("lamp", model_of({"on"}), {0, 0, 1, 1});
  metrics.watching({gate, lamp});
  metrics.record(result_of_watch(gate, 0, true));
  Result reused = result_of_watch(lamp, 0);
  reused.reused = true;
  metrics.record(reused);
  reused.state = {};
  metrics.record(reused);
  const std::string text = metrics.text();
  for (const char* line :
       {R"(lookout_model_info{camera="front",watch="gate",model="small",)",
        R"(lookout_model_info{camera="front",watch="lamp",model="small",)",
        "lookout_watch_results_total{camera=\"front\",watch=\"gate\"} 1\n",
        "lookout_watch_results_total{camera=\"front\",watch=\"lamp\"} 2\n",
        "lookout_watch_reused_total{camera=\"front\",watch=\"lamp\"} 2\n",
        "lookout_watch_classified_time_seconds{camera=\"front\",watch=\"gate\"} 1795000000\n",
        "lookout_state_changes_total{camera=\"front\",watch=\"gate\"} 1\n",
        "lookout_state_changes_total{camera=\"front\",watch=\"lamp\"} 0\n",
        "lookout_state_score{camera=\"front\",watch=\"gate\"} 0.5\n",
        "lookout_state_start_time_seconds{camera=\"front\",watch=\"gate\"} 1795000000\n",
        "lookout_state_seconds_total{camera=\"front\",watch=\"gate\",state=\"shut\"} 0\n",
        "lookout_state_seconds_total{camera=\"front\",watch=\"lamp\",state=\"(unknown)\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr(R"(lookout_state_score{camera="front",watch="lamp"})")));
  EXPECT_THAT(text, Not(HasSubstr(R"(classified_time_seconds{camera="front",watch="lamp"})")));
}

TEST(RunMetrics, ResultsAreCountedByCertainty) {
  RunMetrics metrics(kRun, {});
  const Watching gate = watch_of("gate", model_of({"open", "shut"}));
  metrics.watching({gate});
  Result result = result_of_watch(gate, 0);
  for (const float second : {0.1F, 0.2F, 0.4F}) {
    result.top = {{0, "open", 0.55F}, {1, "shut", second}};
    metrics.record(result);
  }
  result.top.clear();
  metrics.record(result);
  const std::string text = metrics.text();
  const std::string start = R"(lookout_results_total{camera="front",watch="gate",certainty=)";
  EXPECT_THAT(text, HasSubstr(start + "\"sure\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(start + "\"unsure\"} 2\n"));
}

TEST(RunMetrics, AFrameOfSeveralWatchesIsCountedOnceWithTheTimesOfItsRegions) {
  RunMetrics metrics(kRun, {});
  const Watching gate = watch_of("gate", model_of({"open"}));
  const Watching slow = watch_of("slow", gate.model);  // the same region
  const Watching lamp = watch_of("lamp", model_of({"on"}));
  metrics.watching({gate, slow, lamp});
  for (std::uint64_t frame = 0; frame < 3; ++frame) {
    for (const Watching& watch : {gate, slow, lamp}) metrics.record(result_of_watch(watch, frame));
  }
  const std::string text = metrics.text();
  // The third one may have more regions to come.
  EXPECT_THAT(text, HasSubstr("lookout_frames_classified_total{camera=\"front\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("lookout_stage_duration_seconds_sum{camera=\"front\","
                              "stage=\"inference\"} 0.04\n"));
  EXPECT_THAT(text, HasSubstr("lookout_stage_duration_seconds_count{camera=\"front\","
                              "stage=\"inference\"} 2\n"));
}

TEST(RunMetrics, AWatchThatStaysGoesOnAndOneThatIsGoneHasNoMetrics) {
  RunMetrics metrics(kRun, {});
  const Watching gate = watch_of("gate", model_of({"open"}));
  const Watching lamp = watch_of("lamp", model_of({"on"}));
  metrics.watching({gate, lamp});
  metrics.record(result_of_watch(gate, 0, true));
  metrics.record(result_of_watch(lamp, 0, true));
  const Watching box = watch_of("box", lamp.model);
  metrics.watching({box, watch_of("gate", model_of({"shut", "open"}))});
  std::string text = metrics.text();
  EXPECT_THAT(text, Not(HasSubstr("watch=\"lamp\"")));
  EXPECT_THAT(text, HasSubstr("lookout_state_changes_total{camera=\"front\",watch=\"gate\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_watch_results_total{camera=\"front\",watch=\"gate\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_state_changes_total{camera=\"front\",watch=\"box\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("lookout_frames_classified_total{camera=\"front\"} 1\n"));
  // One that comes back begins again.
  metrics.watching({gate, lamp});
  text = metrics.text();
  EXPECT_THAT(text, HasSubstr("lookout_state_changes_total{camera=\"front\",watch=\"lamp\"} 0\n"));
}

TEST(RunMetrics, ManyClassesHaveNoTimesOfTheirOwn) {
  EXPECT_THAT(text_of(std::vector<std::string>(RunMetrics::kMaxStates, "a")),
              HasSubstr("lookout_state_seconds_total{camera=\"front\",state=\"a\"} 0\n"));
  EXPECT_THAT(text_of(std::vector<std::string>(RunMetrics::kMaxStates + 1, "a")),
              Not(HasSubstr("lookout_state_seconds_total")));
}

TEST(RunMetrics, OperatorsBeyondTheFirst64AreOthers) {
  MetricSources sources;
  sources.operators = [] {
    OperatorTable table;
    for (std::size_t i = 0; i < RunMetrics::kMaxOperators + 2; ++i) {
      OperatorRow row;
      row.name = "op" + std::to_string(i);
      row.calls = 100;
      row.sampled = 1;
      row.self = std::chrono::seconds(1);
      row.total = std::chrono::seconds(2);
      table.rows.push_back(row);
    }
    return table;
  };
  const std::string text = text_of({"a"}, sources);
  EXPECT_THAT(text,
              HasSubstr("lookout_operator_calls_total{camera=\"front\",operator=\"op63\"} 100\n"));
  EXPECT_THAT(text, Not(HasSubstr("operator=\"op64\"")));
  EXPECT_THAT(text, HasSubstr("lookout_operator_self_seconds_total{camera=\"front\","
                              "operator=\"(other)\"} 2\n"));
}

TEST(RunMetrics, WhatTheMachineDoesNotReportIsNotThere) {
  MetricSources sources;
  sources.machine = [] { return MachineState{61.5, std::nullopt, 0x40004}; };
  const std::string text = text_of({"a"}, sources);
  EXPECT_THAT(text, HasSubstr("lookout_soc_temperature_celsius 61.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("lookout_cpu_frequency_hertz")));
  EXPECT_THAT(text, HasSubstr("lookout_throttled{reason=\"throttled\",when=\"now\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_throttled{reason=\"throttled\",when=\"boot\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_throttled{reason=\"under_voltage\",when=\"now\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("lookout_throttled{reason=\"under_voltage\",when=\"boot\"} 0\n"));
  sources.machine = [] { return MachineState{std::nullopt, std::nullopt, 1, true}; };
  const std::string voltage = text_of({"a"}, sources);
  EXPECT_THAT(voltage, HasSubstr("lookout_throttled{reason=\"under_voltage\",when=\"now\"} 1\n"));
  EXPECT_THAT(voltage, Not(HasSubstr("when=\"boot\"")));
  EXPECT_THAT(voltage, Not(HasSubstr("reason=\"throttled\"")));
}

TEST(RunMetrics, MqttHasFiguresWhenItIsOn) {
  MetricSources sources;
  EXPECT_THAT(text_of({"cat"}, sources), Not(HasSubstr("lookout_mqtt")));
  sources.mqtt = [] { return MqttFigures{true, 12, 3}; };
  const std::string text = text_of({"cat"}, sources);
  EXPECT_THAT(text, HasSubstr("lookout_mqtt_connected{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_mqtt_messages_total{camera=\"front\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("lookout_mqtt_dropped_total{camera=\"front\"} 3\n"));
}

TEST(RunMetrics, TheHistoryHasFiguresWhenThereIsOne) {
  MetricSources sources;
  EXPECT_THAT(text_of({"cat"}, sources), Not(HasSubstr("lookout_history")));
  sources.history = [] { return HistoryFigures{12, 3, 9, 2, 1, 4096}; };
  const std::string text = text_of({"cat"}, sources);
  EXPECT_THAT(text, HasSubstr("lookout_history_changes_total{camera=\"front\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("lookout_history_lost_total{camera=\"front\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("lookout_history_pictures_total{camera=\"front\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("lookout_history_without_picture_total{camera=\"front\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("lookout_history_set_aside_total{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_history_database_bytes{camera=\"front\"} 4096\n"));
}

TEST(RunMetrics, OfALineThereAreItsStateAndAttempts) {
  MetricSources sources;
  EXPECT_THAT(text_of({"cat"}, sources), Not(HasSubstr("lookout_gpio")));
  sources.gpio = [] { return GpioFigures{true, true, 7, 3}; };
  const std::string text = text_of({"cat"}, sources);
  EXPECT_THAT(text, HasSubstr("lookout_gpio_active{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_gpio_pending{camera=\"front\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_gpio_changes_total{camera=\"front\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("lookout_gpio_failed_total{camera=\"front\"} 3\n"));
}

TEST(RunMetrics, FeaturesOfLibTorchAreTold) {
  MetricSources sources;
  sources.api_usage = [] { return std::map<std::string, std::uint64_t>(); };
  EXPECT_THAT(text_of({"cat"}, sources), Not(HasSubstr("api_usage")));
  sources.api_usage = [] {
    return std::map<std::string, std::uint64_t>{{"torch.jit.load", 1}, {"tensor.create", 3}};
  };
  const std::string text = text_of({"cat"}, sources);
  EXPECT_THAT(text, HasSubstr("lookout_libtorch_api_usage{event=\"torch.jit.load\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("lookout_libtorch_api_usage{event=\"tensor.create\"} 3\n"));
}

// What a scraper shows as the type of a metric.
std::string type_of(const std::string& text, const std::string& name) {
  const std::string start = "# TYPE " + name + " ";
  const std::size_t line = text.find(start);
  if (line == std::string::npos) throw std::runtime_error("no " + name);
  const std::size_t type = line + start.size();
  return text.substr(type, text.find('\n', type) - type);
}

TEST(RunMetrics, EachHasAType) {
  MetricSources sources;
  sources.operators = [] {
    OperatorTable table;
    table.rows.emplace_back();
    return table;
  };
  sources.mqtt = [] { return MqttFigures{}; };
  sources.machine = [] { return MachineState{61.5, 1500, 0}; };
  RunMetrics metrics(kRun, sources);
  metrics.watching({{nullptr, model_of({"cat"})}});
  Result result = result_of_watch(0, milliseconds(12));
  result.state = {SceneState::Kind::kClass, {0, "cat", 0.9F}};
  result.state_changed = true;
  metrics.record(result);
  const std::string text = metrics.text();
  EXPECT_EQ(value_of(text, "lookout_cpu_frequency_hertz"), 1.5e9);
  EXPECT_EQ(type_of(text, "lookout_operator_calls_total"), "counter");
  EXPECT_EQ(type_of(text, "lookout_state_start_time_seconds"), "gauge");
  std::istringstream lines(text);
  const std::set<std::string> types{"counter", "gauge", "histogram"};
  int metrics_with_type = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# TYPE ", 0) != 0) continue;
    EXPECT_EQ(types.count(line.substr(line.rfind(' ') + 1)), 1U) << line;
    ++metrics_with_type;
  }
  EXPECT_GT(metrics_with_type, 20);
}

TEST(RunMetrics, TheProcessStartedBeforeItsTests) {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const double now = std::chrono::duration<double>(since_1970).count();
  const std::string text = text_of({"a"});
  EXPECT_LE(value_of(text, "process_start_time_seconds"), now);
  EXPECT_GT(value_of(text, "process_start_time_seconds"), now - 86400);
  const double age = now - value_of(text, "process_start_time_seconds") + 1;
  EXPECT_GT(value_of(text, "process_cpu_seconds_total"), 0);
  EXPECT_LT(value_of(text, "process_cpu_seconds_total"), age * std::thread::hardware_concurrency());
}

TEST(RunMetrics, TheStartOfTheProcessIsTheSameInEveryScrape) {
  const auto start_line = [] {
    const std::string text = text_of({"a"});
    const std::size_t begin = text.find("\nprocess_start_time_seconds ") + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const std::string first = start_line();
  for (int scrape = 0; scrape < 20; ++scrape) EXPECT_EQ(start_line(), first);
}

TEST(RunMetrics, WithoutASourceThereAreNoFrames) {
  EXPECT_THAT(text_of({"a"}, {}, {"front"}), Not(HasSubstr("lookout_frames")));
}

}  // namespace
}  // namespace lookout
