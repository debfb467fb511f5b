// What sources have in common whose frames a thread of their own reads.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include "pipeline/core/latest.h"
#include "pipeline/core/source.h"
#include "pipeline/core/thread.h"

namespace lookout {

// The thread puts into `frames_` until `stop_` is true or nothing more comes; what it throws is
// thrown by the read() after the last frame. A derived class calls end_thread() in its destructor,
// before its own members go.
class ThreadedSource : public Source {
 public:
  ThreadedSource() = default;
  ThreadedSource(const ThreadedSource&) = delete;
  ThreadedSource& operator=(const ThreadedSource&) = delete;

  const SourceInfo& info() const override { return info_; }

  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override {
    switch (frames_.take(frame, timeout)) {
      case TakeStatus::kTaken:
        return ReadStatus::kFrame;
      case TakeStatus::kTimeout:
        return ReadStatus::kTimeout;
      case TakeStatus::kClosed:
        break;
    }
    return finish();
  }

 protected:
  // Once.
  void start(const std::string& thread_name, std::function<void()> read_all) {
    thread_ = start_thread(thread_name, [this, read_all = std::move(read_all)] {
      try {
        read_all();
      } catch (...) {
        error_ = std::current_exception();
      }
      frames_.close();
    });
  }

  bool is_running() const { return thread_.joinable(); }

  void end_thread() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // Throws the thread's error, else returns kEnd.
  ReadStatus finish() {
    end_thread();
    if (error_) std::rethrow_exception(error_);
    return ReadStatus::kEnd;
  }

  SourceInfo info_;
  Latest<Frame> frames_;
  std::atomic<bool> stop_{false};

 private:
  std::exception_ptr error_;  // written by the thread, read after it was joined
  std::thread thread_;
};

}  // namespace lookout
