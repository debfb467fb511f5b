// A server at which an owner teaches.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/mutex.h"
#include "platform/http/teach_service.h"
#include "platform/teach/teach_progress.h"
#include "tests/platform/http/owner_testing.h"

namespace lookout {

inline constexpr int kWide = 1280;  // pixels, of a picture that is taught
inline constexpr const char* kGate =
    R"({"name":"gate","title":"The gate","roi":[0.1,0.2,0.5,0.25],"classes":["open","half open"]})";

// All routes, and a body for each.
struct TeachRoute {
  const char* method;
  const char* path;
  const char* body = "{}";
};
inline constexpr TeachRoute kTeachRoutes[] = {
    {"GET", "/api/1/teach"},
    {"GET", "/api/1/teach/pictures?watch=gate"},
    {"GET", "/api/1/teach/pictures/1.jpg"},
    {"GET", "/api/1/teach/pictures/1.jpg?size=thumb"},
    {"POST", "/api/1/teach/watches", kGate},
    {"PATCH", "/api/1/teach/watches/gate", R"({"revision":1,"title":"Gate"})"},
    {"POST", "/api/1/teach/watches/gate/rename-class", R"({"from":"open","to":"wide open"})"},
    {"POST", "/api/1/teach/watches/gate/holds", R"({"class":"open"})"},
    {"POST", "/api/1/teach/watches/gate/events", R"({"event":1,"class":"open"})"},
    {"PUT", "/api/1/teach/holds/1"},
    {"DELETE", "/api/1/teach/holds/1"},
    {"PATCH", "/api/1/teach/pictures", R"({"marks":[]})"},
    {"POST", "/api/1/teach/watches/gate/job"},
    {"DELETE", "/api/1/teach/job"},
    {"PUT", "/api/1/teach/watches/gate/model", R"({"sha256":"abc"})"},
    {"GET", "/api/1/teach/watches/gate/preview"},
    {"POST", "/api/1/teach/watches/gate/restore"},
    {"DELETE", "/api/1/teach/watches/gate"},
};

// Has two models, and trains until it is cancelled.
class FakeTrainer : public TeachTrainer {
 public:
  // A model of it is in use, though it is in no library.
  static constexpr const char* kUsedName = "hut";

  void start(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
             const PictureFile& file) override {
    std::size_t files = 0;
    for (const auto& picture : pictures) files += std::filesystem::exists(file(picture.number));
    const MutexLock lock(mutex_);
    if (job_ && job_->state == TeachJob::State::kRunning) {
      throw TeachError(TeachProblem::kTraining, "another watch is trained already");
    }
    if (!progress_of(watch, pictures).can_train) {
      throw TeachError(TeachProblem::kTooFewPictures, "each class needs 5 pictures at least");
    }
    job_ = TeachJob{watch.name, TeachJob::State::kRunning, 0.25F, "pictures"};
    job_->left = std::chrono::seconds(12);
    files_ = files;
  }
  void cancel() override {
    const MutexLock lock(mutex_);
    if (!job_) return;
    job_->state = TeachJob::State::kCancelled;
    job_->left.reset();
  }
  std::optional<TeachJob> job() override {
    const MutexLock lock(mutex_);
    return job_;
  }
  void look(const TaughtWatch& /*watch*/, const std::vector<TaughtPicture>& /*pictures*/,
            const PictureFile& /*file*/, cv::Mat /*bgr*/) override {}
  std::optional<TeachLook> newest_look(const std::string& watch) override {
    if (watch != "gate") return std::nullopt;
    return TeachLook{Preview{"open", 0.9F, 0.25F}, 3, {}};
  }
  TaughtModels models(const std::string& /*watch*/) override {
    const MutexLock lock(mutex_);
    TaughtModels models;
    models.trained = model("new");
    models.kept = {model("new"), model("old")};
    if (used_.empty()) return models;
    models.used = model(used_);
    models.previous = model("old");
    return models;
  }
  void use(const std::string& /*watch*/, const std::string& sha256) override {
    const MutexLock lock(mutex_);
    if (sha256 != "new" && sha256 != "old") {
      throw TeachError(TeachProblem::kNoModel, "there is no such model");
    }
    used_ = sha256;
  }
  void keep_only(const TeachLibrary::Contents& /*contents*/) override {}
  void rename(const std::string& watch, const std::string& title) override {
    note("rename " + watch + ": " + title);
  }
  void begin(const std::string& watch) override {
    if (watch == kUsedName) {
      throw TeachError(TeachProblem::kWatchExists, "there is a watch 'hut' already", watch);
    }
    note("begin " + watch);
  }
  void retire(const std::string& watch) override { note("retire " + watch); }
  void restore(const std::string& watch) override { note("restore " + watch); }

  std::size_t files() const {
    const MutexLock lock(mutex_);
    return files_;
  }
  // What became of watches, in order.
  std::vector<std::string> notes() const {
    const MutexLock lock(mutex_);
    return notes_;
  }

 private:
  void note(const std::string& what) {
    const MutexLock lock(mutex_);
    notes_.push_back(what);
  }
  static TaughtModel model(const std::string& sha256) {
    TaughtModel model;
    model.sha256 = sha256;
    model.time = std::chrono::system_clock::time_point(std::chrono::seconds(1'795'262'400));
    model.classes = {"half open", "open"};
    model.roi = {0, 0.5, 1, 0.25};
    model.all = {9, 10};
    model.day = {9, 10};
    model.comparison = Comparison{{9, 10}, {8, 10}};
    model.interval = ConfidenceInterval{0.5, 0.75};
    model.confusions = {{"open", "half open", 20}};
    model.mistakes.assign(20, Mistake{7, "open", "half open", 0.75F});
    return model;
  }

  mutable Mutex mutex_;
  std::optional<TeachJob> job_ GUARDED_BY(mutex_);
  std::size_t files_ GUARDED_BY(mutex_) = 0;
  std::string used_ GUARDED_BY(mutex_);
  std::vector<std::string> notes_ GUARDED_BY(mutex_);
};

// A server with an owner, and a library whose clocks are the test's.
class TeachServiceTest : public OwnerTest {
 protected:
  TeachServiceTest() {
    open({});
    run_.emplace(HttpLimits{}, teach_options());
    run_->reporter().watching(http_watches({"door", "yard"}));
    cookie_ = "Cookie: " + cookie_of(log_in(*run_, kRightPassword)) + "\r\n";
  }

  void open(TeachLimits limits) {
    limits.free = 0;
    teaching_ = nullptr;  // its folder is free then
    teaching_ = std::make_shared<Teaching>(
        std::make_unique<TeachLibrary>(directory_.path() / "teach", limits));
  }
  HttpServiceOptions teach_options(std::shared_ptr<TeachTrainer> trainer = nullptr) {
    HttpServiceOptions options = this->options();
    options.teach.teaching = teaching_;
    options.teach.trainer = std::move(trainer);
    options.teach.clocks = [this] { return now(); };
    return options;
  }
  void start(HttpServiceOptions options) {
    run_.reset();
    run_.emplace(HttpLimits{}, std::move(options));
  }

  TeachNow now() const {
    const std::chrono::milliseconds passed(passed_.load());
    return {{decltype(TeachTime::at)(std::chrono::seconds(1'795'262'400)) + passed, 780}, passed};
  }
  void pass(std::chrono::milliseconds time) { passed_ += time.count(); }

  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& body = "{}",
                 const std::string& headers = "") {
    if (method == "GET") return http_get(run_->port(), path, "Host: localhost\r\n" + cookie_);
    return send(*run_, method, path, own_headers(*run_, cookie_ + headers), body);
  }
  // The body of an answer that has to have this status.
  nlohmann::json told(int status, const std::string& method, const std::string& path,
                      const std::string& body = "{}") {
    const HttpAnswer answer = ask(method, path, body);
    EXPECT_EQ(answer.status, status) << method << " " << path << ": " << answer.body;
    return answer.body.empty() ? nlohmann::json() : nlohmann::json::parse(answer.body);
  }
  // Status and code.
  std::string refused(const std::string& method, const std::string& path,
                      const std::string& body = "{}") {
    const HttpAnswer answer = ask(method, path, body);
    return std::to_string(answer.status) + " " + code(answer);
  }
  nlohmann::json add_gate() { return told(201, "POST", "/api/1/teach/watches", kGate); }

  // A picture in which something is at another place than in those before.
  static cv::Mat scene(int place) {
    cv::Mat bgr(kWide * 9 / 16, kWide, CV_8UC3, cv::Scalar(60, 120, 180));
    bgr(cv::Rect(place * 97 % (kWide - 200), place * 41 % 400, 200, 200))
        .setTo(cv::Scalar(0, 0, 255));
    return bgr;
  }
  // What the frame loop does while the button is held.
  void keep(int count) {
    for (int i = 0; i < count; ++i) {
      pass(HoldLease::kEvery);
      const auto hold = teaching_->take(now().uptime);
      ASSERT_TRUE(hold);
      teaching_->add(*hold, scene(++scenes_), now().wall);
      told(200, "PUT", "/api/1/teach/holds/" + std::to_string(hold->number));
    }
  }
  // Holds the button until there are so many more pictures.
  void teach(const std::string& label, int count) {
    const nlohmann::json hold = told(201, "POST", "/api/1/teach/watches/gate/holds",
                                     nlohmann::json({{"class", label}}).dump());
    keep(count);
    told(200, "DELETE", "/api/1/teach/holds/" + std::to_string(hold["number"].get<int>()));
  }
  std::vector<int> numbers(const std::string& query) {
    std::vector<int> numbers;
    const nlohmann::json list =
        told(200, "GET", "/api/1/teach/pictures?watch=gate" + query)["pictures"];
    for (const nlohmann::json& picture : list) numbers.push_back(picture["number"]);
    return numbers;
  }

  std::atomic<std::int64_t> passed_ = 1'000'000;
  int scenes_ = 0;
  std::shared_ptr<Teaching> teaching_;
  std::optional<HttpRun> run_;
  std::string cookie_;
};

}  // namespace lookout
