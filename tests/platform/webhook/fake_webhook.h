// A server of webhooks that a test plays.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/core/mutex.h"
#include "platform/webhook/webhook_transport.h"

namespace lookout {

// Answers each request with the next of some outcomes, at once; without one it does not answer. Any
// thread.
class FakeWebhook {
 public:
  void answer(WebhookOutcome outcome) {
    const MutexLock lock(mutex_);
    outcomes_.push_back(std::move(outcome));
    changed_.notify_all();
  }

  std::vector<WebhookRequest> requests() {
    const MutexLock lock(mutex_);
    return requests_;
  }
  // Waits until there were so many.
  void wait_for(std::size_t requests) {
    const MutexLock lock(mutex_);
    while (requests_.size() < requests) changed_.wait(mutex_);
  }

  std::unique_ptr<WebhookTransport> open() { return std::make_unique<Transport>(*this); }

 private:
  class Transport : public WebhookTransport {
   public:
    explicit Transport(FakeWebhook& server) : server_(server) {}

    void begin(WebhookRequest request) override {
      const MutexLock lock(server_.mutex_);
      server_.requests_.push_back(std::move(request));
      server_.changed_.notify_all();
      open_ = true;
    }
    std::optional<WebhookOutcome> advance() override {
      const MutexLock lock(server_.mutex_);
      if (!open_ || server_.outcomes_.empty()) return std::nullopt;
      open_ = false;
      const WebhookOutcome outcome = server_.outcomes_.front();
      server_.outcomes_.pop_front();
      return outcome;
    }
    void wait(std::chrono::milliseconds timeout) override {
      const MutexLock lock(server_.mutex_);
      const auto end = std::chrono::steady_clock::now() + timeout;
      while (!woken_ && !(open_ && !server_.outcomes_.empty())) {
        if (!server_.changed_.wait_until(server_.mutex_, end)) break;
      }
      woken_ = false;
    }
    void wake() override {
      const MutexLock lock(server_.mutex_);
      woken_ = true;
      server_.changed_.notify_all();
    }

   private:
    FakeWebhook& server_;
    bool open_ = false;
    bool woken_ = false;
  };

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<WebhookOutcome> outcomes_ GUARDED_BY(mutex_);
  std::vector<WebhookRequest> requests_ GUARDED_BY(mutex_);
};

}  // namespace lookout
