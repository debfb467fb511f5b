// Waits for a connection to a broker.
#pragma once

#include "pipeline/core/frame.h"
#include "platform/mqtt/mqtt_link.h"

namespace lookout {

// Ends a poll_link() of another thread.
class MqttWake {
 public:
  MqttWake();  // throws Error(kPermission) when the process has too many files open
  ~MqttWake();
  MqttWake(const MqttWake&) = delete;
  MqttWake& operator=(const MqttWake&) = delete;

  void wake() const;  // any thread
  int fd() const { return fd_; }
  void clear() const;

 private:
  int fd_;
};

struct MqttReady {
  bool readable = false;
  bool writable = false;
};

// Returns when the connection is ready, somebody woke it, or `deadline` has passed.
MqttReady poll_link(const MqttLink& link, const MqttWake& wake, Clock::time_point deadline);

}  // namespace lookout
