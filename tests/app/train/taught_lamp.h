// A watch that is taught, and what trains it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <thread>
#include <vector>

#include "paths.h"
#include "pipeline/training/head_file.h"
#include "platform/teach/taught_trainer.h"
#include "tests/support/temp_dir.h"

namespace lookout {

// Lamps that are on and off, in front of a background that changes from picture to picture.
class TaughtLamp : public testing::Test {
 protected:
  TaughtLamp() { make_trainer(LOOKOUT_SELFTEST); }

  void make_trainer(const std::string& base) {
    trainer_ =
        std::make_unique<TaughtTrainer>(TaughtTrainerOptions{library(),
                                                             {LOOKOUT_PROGRAM, "train-taught"},
                                                             base,
                                                             [this] { ++reloads_; },
                                                             {LOOKOUT_PROGRAM, "preview-taught"}});
  }
  // The library's folder, as a run with this test's state folder has it.
  std::filesystem::path library() const {
    const std::filesystem::path folder = folder_.path() / "teach";
    std::filesystem::create_directory(folder);
    return folder;
  }

  // So many pictures of each class, in turn.
  void draw(int of_each) {
    for (int i = 0; i < 2 * of_each; ++i) {
      TaughtPicture picture;
      picture.number = i + 1;
      picture.hold = i + 1;
      picture.label = i % 2 == 0 ? "on" : "off";
      picture.night = i % 5 == 0;
      draw(picture);
      pictures_.push_back(picture);
    }
  }
  std::filesystem::path file(std::int64_t number) const {
    const TaughtPicture& picture = pictures_.at(static_cast<std::size_t>(number) - 1);
    return std::filesystem::path(classes_folder()) / picture.label / name_of(number);
  }
  // Pictures as `lookout train` takes them.
  std::string classes_folder() const { return folder_ / "classes"; }

  void start() {
    trainer_->start(watch_, pictures_, [this](std::int64_t number) { return file(number); });
  }
  // The first look for which `is_so` is true.
  template <typename Condition>
  TeachLook look_until(const cv::Mat& bgr, Condition is_so) {
    for (;;) {
      trainer_->look(
          watch_, pictures_, [this](std::int64_t number) { return file(number); }, bgr.clone());
      const auto look = trainer_->newest_look(watch_.name);
      if (look && is_so(*look)) return *look;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  TeachJob end() {
    while (trainer_->job()->state == TeachJob::State::kRunning) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return *trainer_->job();
  }
  TaughtModel train() {
    start();
    const TeachJob job = end();
    EXPECT_EQ(job.state, TeachJob::State::kDone) << job.failure.sentence;
    return trainer_->models(watch_.name).trained.value_or(TaughtModel());
  }
  HeadFile newest_head() const {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(library() / "models/lamp")) {
      if (entry.path().extension() == ".head") newest = std::max(newest, entry.path());
    }
    return read_head(read_file(newest));
  }

  TempDir folder_;
  TaughtWatch watch_{"lamp", "The lamp", {0.1, 0.2, 0.8, 0.7}, {"on", "off"}, 1};
  std::vector<TaughtPicture> pictures_;
  int reloads_ = 0;
  std::unique_ptr<TaughtTrainer> trainer_;

 private:
  // A picture every minute.
  static std::string name_of(std::int64_t number) {
    return fmt::format("cam_20271122T10{:02}00.000Z.png", number);
  }
  void draw(const TaughtPicture& picture) {
    cv::Mat coarse(4, 5, CV_8UC3);
    random_.fill(coarse, cv::RNG::UNIFORM, 0, 160);
    cv::Mat bgr;
    cv::resize(coarse, bgr, {320, 240}, 0, 0, cv::INTER_CUBIC);
    const cv::Point place(random_.uniform(120, 200), random_.uniform(100, 150));
    const bool is_on = picture.label == "on";
    cv::circle(bgr, place, is_on ? 70 : 60,
               is_on ? cv::Scalar(60, 230, 255) : cv::Scalar(90, 30, 20), cv::FILLED);
    const std::filesystem::path folder = std::filesystem::path(classes_folder()) / picture.label;
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(cv::imwrite(folder / name_of(picture.number), bgr));
  }

  cv::RNG random_{7};
};

}  // namespace lookout
