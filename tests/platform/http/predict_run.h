// A server that classifies pictures, for tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/run/pipeline.h"
#include "platform/http/http_reporter.h"
#include "platform/sources/no_source.h"
#include "tests/platform/http/http_client.h"
#include "tests/support/fakes.h"

namespace lookout {

inline std::string png_of(int grey, int side = 16) {
  std::vector<unsigned char> bytes;
  cv::imencode(".png", cv::Mat(side, side, CV_8UC3, cv::Scalar::all(grey)), bytes);
  return {bytes.begin(), bytes.end()};
}

struct UploadedFile {
  std::string name;
  std::string bytes;
};

inline constexpr const char* kFormType = "multipart/form-data; boundary=x";

inline std::string form_of(const std::vector<UploadedFile>& files) {
  std::string form;
  for (const UploadedFile& file : files) {
    form += "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file.name +
            "\"\r\n\r\n" + file.bytes + "\r\n";
  }
  return form + "--x--\r\n";
}

inline std::string request_of(const std::string& body, const std::string& type,
                              const std::string& path = "/predict",
                              const std::string& method = "POST") {
  return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
         (type.empty() ? "" : "Content-Type: " + type + "\r\n") +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// What a model that names the grey of a picture looks at. `name`: of the model.
inline PipelineRegion grey_region(bool has_ids = true, const std::string& name = "grey") {
  PipelineRegion region;
  region.classifiers.push_back(std::make_shared<FakeClassifier>());
  ModelInfo info = model_info(region.classifiers.front()->spec());
  info.name = name;
  for (std::size_t i = 0; has_ids && i < info.labels.size(); ++i) {
    info.class_ids.push_back("n" + std::to_string(1000 + i));
  }
  region.model = std::make_shared<ModelInfo>(std::move(info));
  return region;
}

inline Plan grey_plan(float threshold = 0, bool has_ids = true) {
  Plan plan;
  plan.regions.push_back(grey_region(has_ids));
  plan.watches.emplace_back();
  plan.top_k = 3;
  plan.threshold = threshold;
  return plan;
}

// A server without a camera. `classify`: false: pictures are never classified.
class PredictRun {
 public:
  explicit PredictRun(const HttpLimits& limits = {}, HttpServiceOptions options = {},
                      float threshold = 0, bool has_ids = true, bool classify = true)
      : PredictRun(limits, std::move(options), grey_plan(threshold, has_ids), classify) {}

  PredictRun(const HttpLimits& limits, HttpServiceOptions options, Plan plan, bool classify = true)
      : selector_({}, selected_regions(plan)), plans_(std::move(plan)) {
    auto sockets = std::make_unique<ListenSockets>(parse_http_address("127.0.0.1:0"));
    const std::string name = sockets->names().at(0);
    port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
    options.pictures = &pictures_;
    reporter_ =
        std::make_unique<HttpReporter>(std::move(sockets), RunInfo(), std::move(options), limits);
    reporter_->watching(watch_list(*plans_.current()));
    if (!classify) return;
    thread_ = std::thread([this] {
      NoSource source(nullptr);
      PipelineOptions pipeline;
      pipeline.pictures = &pictures_;
      pipeline.selector = &selector_;
      run_pipeline(source, plans_, {}, pipeline, stop_);
    });
  }
  ~PredictRun() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  PredictRun(const PredictRun&) = delete;
  PredictRun& operator=(const PredictRun&) = delete;

  std::uint16_t port() const { return port_; }
  void end() { reporter_.reset(); }

  HttpAnswer send(const std::string& request, const char* address = "127.0.0.1") const {
    HttpClient client(port_, 0, address);
    client.send(request);
    return client.read_answer();
  }
  nlohmann::json ask(const std::string& body, const std::string& type = kFormType) const {
    return nlohmann::json::parse(send(request_of(body, type)).body);
  }
  // "415 not_a_picture"
  std::string mistake(const std::string& body, const std::string& type = kFormType) const {
    const HttpAnswer answer = send(request_of(body, type));
    return std::to_string(answer.status) + " " +
           nlohmann::json::parse(answer.body)["error"]["code"].get<std::string>();
  }

 private:
  FrameSelector selector_;
  PlanSlot plans_;
  PictureQueue pictures_;
  std::uint16_t port_ = 0;
  std::unique_ptr<HttpReporter> reporter_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace lookout
