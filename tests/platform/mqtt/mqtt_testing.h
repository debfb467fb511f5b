// What tests of MQTT share: a run and its results, and a clock.
#pragma once

#include <chrono>
#include <memory>
#include <opencv2/core.hpp>

#include "pipeline/core/frame.h"
#include "pipeline/core/result.h"
#include "pipeline/results/run_info.h"

namespace lookout {

inline RunInfo mqtt_run_info() {
  RunInfo info;
  info.camera = "front";
  info.source = "a test";
  info.live = true;
  return info;
}

inline ModelInfoPtr mqtt_model() {
  static const ModelInfoPtr model = [] {
    ModelInfo info;
    info.name = "fake";
    info.labels = {"cat", "dog"};
    info.class_ids = {"n1", "n2"};
    return std::make_shared<ModelInfo>(info);
  }();
  return model;
}

inline SceneState class_state(std::size_t index, float score) {
  SceneState state;
  state.kind = SceneState::Kind::kClass;
  state.model = mqtt_model();
  state.prediction = {index, state.model->labels.at(index), score};
  return state;
}

inline Result result_with(std::size_t index, float score) {
  Result result;
  result.model = mqtt_model();
  result.timestamp = std::chrono::system_clock::time_point(std::chrono::seconds(1'795'000'000));
  result.state = class_state(index, score);
  result.top = {result.state.prediction, class_state(1 - index, 1 - score).prediction};
  return result;
}

inline Result change_to(std::size_t index, float score) {
  Result result = result_with(index, score);
  result.state_changed = true;
  return result;
}

inline Frame small_frame(int grey = 100) {
  Frame frame;
  frame.bgr = cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(grey));
  return frame;
}

// Time goes on when the test says so.
class TestClock {
 public:
  Clock::time_point now() const { return now_; }
  void advance(Clock::duration duration) { now_ += duration; }

 private:
  Clock::time_point now_{std::chrono::hours(1000)};
};

}  // namespace lookout
