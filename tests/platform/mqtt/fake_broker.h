// A broker that does what a test says, on the other side of MqttTransport.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/core/mutex.h"
#include "platform/mqtt/mqtt_link.h"

namespace lookout {

// The methods may be called by any thread; the client's thread carries out what they say. It
// accepts connections and acknowledges messages at once, unless a test says otherwise. The client
// hears what is retained on the topics that it subscribes to, and what it publishes. Of wildcards
// it knows "/#" at the end.
class FakeBroker {
 public:
  FakeBroker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~FakeBroker() { close(fd_); }
  FakeBroker(const FakeBroker&) = delete;
  FakeBroker& operator=(const FakeBroker&) = delete;

  // It outlives the transports.
  OpenMqtt open() {
    return [this](const MqttSettings& settings, MqttListener& listener) {
      const MutexLock lock(mutex_);
      settings_ = settings;
      ++attempts_;
      actions_.clear();
      subscribed_.clear();
      if (greeting_) actions_.push_back(greeting_);
      ring();
      return std::make_unique<Transport>(*this, listener);
    };
  }

  using Action = std::function<std::optional<MqttFailure>(MqttListener&)>;
  // What it does with each connection, in place of accepting it; empty: nothing.
  void set_greeting(Action greeting) {
    const MutexLock lock(mutex_);
    greeting_ = std::move(greeting);
  }
  static std::optional<MqttFailure> accept(MqttListener& listener) {
    listener.on_connected();
    return std::nullopt;
  }
  static Action refuse(int reason) {
    return [reason](MqttListener& listener) {
      listener.on_refused(reason);
      return MqttFailure{MqttFailure::Kind::kLost, ""};
    };
  }
  static Action fail(MqttFailure::Kind kind, const std::string& detail = "") {
    return [failure = MqttFailure{kind, detail}](MqttListener&) { return failure; };
  }
  void set_connect_failure(std::optional<MqttFailure> failure) {
    const MutexLock lock(mutex_);
    connect_failure_ = std::move(failure);
  }
  // Once.
  void act(Action action) {
    const MutexLock lock(mutex_);
    actions_.push_back(std::move(action));
    ring();
  }
  void send(const MqttMessage& message) {
    act([message](MqttListener& listener) {
      listener.on_message(message);
      return std::optional<MqttFailure>();
    });
  }

  // As if another client had published it with the flag, before the connection.
  void retain(const std::string& topic, const std::string& payload) {
    const MutexLock lock(mutex_);
    keep({topic, payload, 1, true});
  }

  // The reason that answers messages of a topic; nothing: it does not answer.
  using Answer = std::function<std::optional<int>(const MqttMessage&)>;
  void set_answer(Answer answer) {
    const MutexLock lock(mutex_);
    answer_ = std::move(answer);
  }
  // Why it takes no message at all.
  void set_problem(const std::string& problem) {
    const MutexLock lock(mutex_);
    problem_ = problem;
  }
  void set_max_size(std::size_t bytes) {
    const MutexLock lock(mutex_);
    max_size_ = bytes;
  }

  std::vector<MqttMessage> published() const {
    const MutexLock lock(mutex_);
    return published_;
  }
  // The payloads of a topic, in order.
  std::vector<std::string> of(const std::string& topic) const {
    std::vector<std::string> payloads;
    for (const MqttMessage& message : published()) {
      if (message.topic == topic) payloads.push_back(message.payload);
    }
    return payloads;
  }
  // What it has retained, by topic.
  std::map<std::string, std::string> retained() const {
    const MutexLock lock(mutex_);
    return retained_;
  }
  void forget_published() {
    const MutexLock lock(mutex_);
    published_.clear();
  }
  // On this connection.
  std::vector<std::string> subscribed() const {
    const MutexLock lock(mutex_);
    return subscribed_;
  }
  MqttSettings settings() const {
    const MutexLock lock(mutex_);
    return settings_;
  }
  int attempts() const {
    const MutexLock lock(mutex_);
    return attempts_;
  }
  bool left_properly() const {
    const MutexLock lock(mutex_);
    return left_;
  }
  // Waits until the condition is true of the broker.
  void wait_until(const std::function<bool()>& condition) const {
    while (!condition()) std::this_thread::yield();
  }

 private:
  class Transport : public MqttTransport {
   public:
    Transport(FakeBroker& broker, MqttListener& listener) : broker_(broker), listener_(listener) {}

    std::optional<MqttFailure> connect() override {
      const MutexLock lock(broker_.mutex_);
      return broker_.connect_failure_;
    }
    int fd() const override { return broker_.fd_; }
    bool wants_write() const override { return false; }
    std::optional<MqttFailure> advance(bool, bool) override {
      broker_.silence();
      while (Action action = broker_.next()) {
        if (const auto failure = action(listener_)) return failure;
      }
      return std::nullopt;
    }
    MqttPublished publish(const MqttMessage& message) override {
      return broker_.take(message, listener_);
    }
    void subscribe(const std::string& topic) override {
      const MutexLock lock(broker_.mutex_);
      broker_.subscribed_.push_back(topic);
      for (const auto& [name, payload] : broker_.retained_) {
        if (matches(topic, name)) broker_.deliver({name, payload, 1, true});
      }
    }
    void unsubscribe(const std::string& topic) override {
      const MutexLock lock(broker_.mutex_);
      auto& topics = broker_.subscribed_;
      topics.erase(std::remove(topics.begin(), topics.end(), topic), topics.end());
    }
    void disconnect() override {
      const MutexLock lock(broker_.mutex_);
      broker_.left_ = true;
    }

   private:
    FakeBroker& broker_;
    MqttListener& listener_;
  };

  static bool matches(const std::string& filter, const std::string& topic) {
    if (filter.size() < 2 || filter.substr(filter.size() - 2) != "/#") return filter == topic;
    const std::string parent = filter.substr(0, filter.size() - 2);
    return topic == parent || topic.rfind(parent + "/", 0) == 0;
  }
  void ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(write(fd_, &one, sizeof one));
  }
  void silence() const {
    std::uint64_t count = 0;
    static_cast<void>(read(fd_, &count, sizeof count));
  }
  Action next() {
    const MutexLock lock(mutex_);
    if (actions_.empty()) return {};
    Action action = std::move(actions_.front());
    actions_.pop_front();
    return action;
  }
  void keep(const MqttMessage& message) REQUIRES(mutex_) {
    retained_[message.topic] = message.payload;
    if (message.payload.empty()) retained_.erase(message.topic);
  }
  void deliver(const MqttMessage& message) REQUIRES(mutex_) {
    actions_.push_back([message](MqttListener& listener) {
      listener.on_message(message);
      return std::optional<MqttFailure>();
    });
    ring();
  }
  MqttPublished take(const MqttMessage& message, MqttListener& listener) {
    std::optional<int> reason;
    int id = 0;
    {
      const MutexLock lock(mutex_);
      if (!problem_.empty()) return {0, false, problem_};
      if (max_size_ > 0 && message.payload.size() > max_size_) return {0, true, ""};
      published_.push_back(message);
      if (message.retained) keep(message);
      const bool is_heard = std::any_of(
          subscribed_.begin(), subscribed_.end(),
          [&message](const std::string& filter) { return matches(filter, message.topic); });
      if (is_heard) {
        deliver({message.topic, message.payload, message.qos, false});
      }
      id = ++last_id_;
      reason = answer_(message);
    }
    if (reason) listener.on_published(id, *reason);
    return {id, false, ""};
  }

  const int fd_;
  mutable Mutex mutex_;
  Action greeting_ GUARDED_BY(mutex_) = accept;
  std::optional<MqttFailure> connect_failure_ GUARDED_BY(mutex_);
  std::deque<Action> actions_ GUARDED_BY(mutex_);
  Answer answer_ GUARDED_BY(mutex_) = [](const MqttMessage&) { return 0; };
  std::size_t max_size_ GUARDED_BY(mutex_) = 0;
  std::string problem_ GUARDED_BY(mutex_);
  std::vector<MqttMessage> published_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> retained_ GUARDED_BY(mutex_);  // payloads by topic
  std::vector<std::string> subscribed_ GUARDED_BY(mutex_);
  MqttSettings settings_ GUARDED_BY(mutex_);
  int attempts_ GUARDED_BY(mutex_) = 0;
  int last_id_ GUARDED_BY(mutex_) = 0;
  bool left_ GUARDED_BY(mutex_) = false;
};

}  // namespace lookout
