// A run for tests of the HTTP server: the names, frames and results of one.
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <utility>
#include <vector>

#include "platform/http/http_reporter.h"

namespace lookout {

inline RunInfo http_run_info() {
  RunInfo info;
  info.camera = "Front <door>";
  info.roi = "[0,0,1,1]";
  info.source = "a test";
  info.live = true;
  return info;
}

inline ModelInfoPtr http_model() {
  static const ModelInfoPtr model = [] {
    ModelInfo info;
    info.name = "fake";
    info.labels = {"cat", "dog"};
    info.archive = R"({"producer":"nobody"})";
    info.input = R"("resize":"stretch","width":64,"height":48)";
    return std::make_shared<ModelInfo>(info);
  }();
  return model;
}

// A frame of one grey, which its JPEG shows.
inline Frame grey_frame(int grey) {
  Frame frame;
  frame.bgr = cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(grey));
  return frame;
}

inline int grey_of(const std::string& jpeg) {
  const std::vector<char> bytes(jpeg.begin(), jpeg.end());
  const cv::Mat picture = cv::imdecode(bytes, cv::IMREAD_GRAYSCALE);
  return picture.empty() ? -1 : picture.at<unsigned char>(picture.rows / 2, picture.cols / 2);
}

inline Result result_of(std::uint64_t sequence, bool changed = false) {
  Result result;
  result.model = http_model();
  result.sequence = sequence;
  result.timestamp = std::chrono::system_clock::time_point(std::chrono::seconds(1'795'000'000));
  result.top = {{1, "dog", 0.9F}, {0, "cat", 0.1F}};
  result.state.kind = SceneState::Kind::kClass;
  result.state.prediction = result.top[0];
  result.state_changed = changed;
  return result;
}

// Watches with these names and the model, each of the left half.
inline WatchList http_watches(const std::vector<std::string>& names) {
  WatchList watches;
  for (const std::string& name : names) {
    const WatchInfo info{name, {0, 0, 0.5, 1}, "The " + name};
    watches.push_back({std::make_shared<WatchInfo>(info), http_model()});
  }
  return watches;
}

inline Result result_of(const Watching& watch, std::uint64_t sequence, bool changed = false) {
  Result result = result_of(sequence, changed);
  result.watch = watch.watch;
  return result;
}

// A reporter with its server on a port of the system's choice.
class HttpRun {
 public:
  explicit HttpRun(const HttpLimits& limits = {}, HttpServiceOptions options = {}) {
    auto sockets = std::make_unique<ListenSockets>(parse_http_address("127.0.0.1:0"));
    const std::string name = sockets->names().at(0);
    port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
    reporter_ = std::make_unique<HttpReporter>(std::move(sockets), http_run_info(),
                                               std::move(options), limits);
    reporter_->watching({{nullptr, http_model()}});
  }

  std::uint16_t port() const { return port_; }
  HttpReporter& reporter() { return *reporter_; }
  void report(int grey, std::uint64_t sequence, bool changed = false) {
    reporter_->report(result_of(sequence, changed), grey_frame(grey));
  }
  void end() { reporter_.reset(); }

 private:
  std::uint16_t port_ = 0;
  std::unique_ptr<HttpReporter> reporter_;
};

}  // namespace lookout
