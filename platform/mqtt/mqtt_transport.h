// Between lookout and liblookout-mqtt.so, the module that speaks MQTT with libmosquitto: one
// connection to a broker. The program starts without libmosquitto.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/core/module.h"

namespace lookout {

inline const char* const kMqttModule = "liblookout-mqtt.so";
inline const char* const kMqttEntry = "lookout_mqtt";

// Changes with every change of this file.
inline constexpr int kMqttInterface = 3;

// Of a message that is heard. Nothing that lookout listens for is as long, but anybody who may
// publish can let the broker keep 256 MB at a topic.
inline constexpr std::size_t kMaxHeardBytes = 64 * 1024;

struct MqttMessage {
  std::string topic;
  std::string payload;
  int qos = 0;  // 0 or 1
  bool retained = false;
};

struct MqttSettings {
  std::string client_id;
  std::string host;  // a name or an IP address; the path of a Unix socket when `port` is 0
  int port = 0;
  std::string user;         // empty: none
  std::string password;     // empty: none
  bool tls = false;         // the broker's certificate and name are always verified
  std::string ca;           // a file; empty: the system's
  std::string certificate;  // a file; empty: none
  std::string key;          // a file; empty: none
  bool version_5 = true;    // of MQTT, else 3.1.1
  std::optional<MqttMessage> will;
};

// Why a connection ended or never came.
struct MqttFailure {
  enum class Kind {
    kName,     // the host's name cannot be resolved
    kConnect,  // nobody listens, or the network is not reachable
    kTls,
    kLost,    // the broker closed the connection
    kSilent,  // the broker does not answer any more
    kOther,
  };
  Kind kind = Kind::kOther;
  std::string detail;  // the system's or the library's words; may be empty
};

// Called by the transport within its functions. A `reason` is a code of MQTT: of version 5 from 128
// on, of 3.1.1 from 1 to 5.
class MqttListener {
 public:
  virtual ~MqttListener() = default;
  virtual void on_connected() = 0;
  virtual void on_refused(int reason) = 0;
  // The broker ends the connection and tells why.
  virtual void on_disconnected(int reason) = 0;
  // The message was received by the broker, or, of QoS 0, sent. `reason`: 128 and more: refused.
  virtual void on_published(int id, int reason) = 0;
  virtual void on_subscribed(int reason) = 0;
  // Not called for a payload of more than kMaxHeardBytes.
  virtual void on_message(const MqttMessage& message) = 0;
};

struct MqttPublished {
  int id = 0;              // 0: the message was not accepted
  bool too_large = false;  // for this broker
  std::string problem{};   // why this broker never takes it otherwise; empty: the connection ended
};

// One attempt to connect, and the connection. Used by one thread. The destructor closes the
// connection without a word to the broker, which then publishes the will.
class MqttTransport {
 public:
  virtual ~MqttTransport() = default;

  // Resolves the name, which can take long, and begins to connect.
  virtual std::optional<MqttFailure> connect() = 0;

  // To be polled; -1: there is none.
  virtual int fd() const = 0;
  virtual bool wants_write() const = 0;
  // Reads, writes and keeps the connection alive. To be called when the descriptor is ready, and
  // every second.
  virtual std::optional<MqttFailure> advance(bool readable, bool writable) = 0;

  // on_published() may come before this returns.
  virtual MqttPublished publish(const MqttMessage& message) = 0;
  virtual void subscribe(const std::string& topic) = 0;
  virtual void unsubscribe(const std::string& topic) = 0;
  // Ends the connection properly: without the will.
  virtual void disconnect() = 0;
};

// Returned by the module's entry, `extern "C" const MqttModule* lookout_mqtt()`.
struct MqttModule {
  ModuleVersion version;  // kMqttInterface
  // `listener` outlives the transport. Throws std::runtime_error when there is no memory.
  std::unique_ptr<MqttTransport> (*open)(const MqttSettings& settings, MqttListener& listener);
};

}  // namespace lookout
