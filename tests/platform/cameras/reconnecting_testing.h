// Shared by the tests of ReconnectingSource: a camera and a clock that a test controls.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/cameras/reconnecting_source.h"
#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"

namespace lookout {

inline std::ptrdiff_t count_lines(const CapturedLog& log) {
  const std::string text = log.text();
  return std::count(text.begin(), text.end(), '\n');
}

// Time that passes only when somebody sleeps or waits for a frame.
class ReconnectingSourceTest : public testing::Test {
 protected:
  // The camera's behavior from one opening to its closing; `read` counts from 0.
  using Life = std::function<ReadStatus(int read, Frame& frame)>;

  // A fake camera that takes 100 ms for a read, and whose end is counted.
  class Camera : public FakeSource {
   public:
    Camera(ReconnectingSourceTest& test, Life life)
        : FakeSource(/*live=*/true,
                     [&test, life = std::move(life)](int read, Frame& frame) {
                       test.now_ += std::chrono::milliseconds(100);
                       return life(read, frame);
                     }),
          test_(test) {
      ++test_.open_;
      EXPECT_EQ(test_.open_, 1) << "the one before was not closed";
      test_.openings_.push_back(test_.now_ - Clock::time_point());
    }
    ~Camera() override {
      --test_.open_;
      if (test_.on_close_) test_.on_close_();
    }
    Camera(const Camera&) = delete;
    Camera& operator=(const Camera&) = delete;
    const SourceInfo& info() const override { return test_.info_; }

   private:
    ReconnectingSourceTest& test_;
  };

  ReconnectingSourceTest() {
    info_.name = "video0";
    info_.live = true;
    info_.fps = 30;
    options_.now = [this] { return now_; };
    options_.sleep = [this](Clock::duration duration) {
      max_sleep_ = std::max(max_sleep_, duration);
      now_ += duration;
    };
  }

  void add_life(Life life) {
    lives_.emplace_back([this, life = std::move(life)]() -> std::unique_ptr<Source> {
      return std::make_unique<Camera>(*this, life);
    });
  }
  void add_refusals(int count, ErrorKind kind, const std::string& why = "not now") {
    for (int i = 0; i < count; ++i) {
      lives_.emplace_back([this, kind, why]() -> std::unique_ptr<Source> {
        attempts_.push_back(now_);
        throw Error(kind, why);
      });
    }
  }

  // The lives that were added, one for each opening.
  ReconnectingSource make() {
    return ReconnectingSource(
        [this] {
          if (lives_.empty()) throw std::logic_error("opened more often than the test wants");
          const auto life = lives_.front();
          lives_.pop_front();
          return life();
        },
        options_);
  }

  // Reads until something comes, while the fake's time passes.
  ReadStatus read(ReconnectingSource& source) {
    ReadStatus status = ReadStatus::kTimeout;
    for (int i = 0; i < 10'000 && status == ReadStatus::kTimeout; ++i) {
      status = source.read(frame_, kTimeout);
    }
    return status;
  }

  static Life frames_then(int count, const Life& then) {
    return [=](int read, Frame& frame) {
      return read < count ? fill(frame, read) : then(read, frame);
    };
  }
  static ReadStatus lose(int /*read*/, Frame& /*frame*/) {
    throw Error(ErrorKind::kDeviceLost, "the plug was pulled");
  }
  static ReadStatus send_damage(int /*read*/, Frame& /*frame*/) { return ReadStatus::kSkipped; }
  static ReadStatus stay_silent(int /*read*/, Frame& /*frame*/) { return ReadStatus::kTimeout; }

  Clock::time_point now_;
  std::function<void()> on_close_;
  SourceInfo info_;
  ReconnectOptions options_;
  std::deque<std::function<std::unique_ptr<Source>()>> lives_;
  std::vector<Clock::duration> openings_;
  std::vector<Clock::time_point> attempts_;
  Clock::duration max_sleep_{};
  int open_ = 0;
  Frame frame_;
};

}  // namespace lookout
