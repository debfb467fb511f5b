// Keeps a connection to a broker, sends the newest message of each topic, and tells in sentences
// for the log what goes wrong.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/wake_event.h"
#include "platform/mqtt/mqtt_transport.h"

namespace lookout {

// What the sentences name.
struct MqttParty {
  std::string broker;     // as logs show it: "mqtt://broker:1883"
  std::string client_id;  // ours
  bool is_service = false;
};

// When in the life of a connection it fails.
enum class MqttPhase { kConnecting, kConnected };

// Each is without "mqtt: " at its beginning and without a full stop, and names the way out.
std::string problem_text(const MqttFailure& failure, MqttPhase phase, const MqttParty& party);
// For a connection that the broker refuses or ends; codes of MQTT 3.1.1 and 5.
std::string refusal_text(int reason, const MqttParty& party);
// For a message that the broker refuses.
std::string refused_message_text(const std::string& topic, int reason, const MqttParty& party);

// Read by other threads.
struct MqttCounters {
  // There is a connection, and the topics are this machine's.
  std::atomic<bool> publishes = false;
  std::atomic<std::uint64_t> messages = 0;  // that the broker received
  // Messages that were never sent, since a newer one came first or the connection was lost.
  std::atomic<std::uint64_t> dropped = 0;
};

using OpenMqtt = std::function<std::unique_ptr<MqttTransport>(const MqttSettings&, MqttListener&)>;

// A random number from 0 to 1.
double random_share();

struct MqttLinkOptions {
  MqttSettings settings;
  MqttParty party;
  bool log = true;  // else only last_problem() tells
  // Between attempts to connect. Doubled each time, and reset once a connection has lasted for
  // `stable`; each delay is a random part of it, from the half to the whole.
  std::chrono::milliseconds first_delay{1000};
  std::chrono::milliseconds max_delay{60'000};
  std::chrono::milliseconds stable{60'000};
  std::chrono::milliseconds patience{10'000};  // for the broker's first answer
  // Tests pass their own.
  std::function<Clock::time_point()> now = Clock::now;
  std::function<double()> random = random_share;
};

// Logs one line each for
// - a connection, and one after a loss,
// - every kind of refusal and loss, once until a connection has lasted for options.stable,
// - a topic that the broker does not permit, and messages that are too large for it, once.
// At most one message of each topic is on its way and one waits, so memory does not grow with a
// broker that stalls. Used by one thread.
class MqttLink : private MqttListener {
 public:
  struct Handlers {
    std::function<void()> connected;  // may publish and subscribe
    std::function<void(const MqttMessage&)> received;
  };

  MqttLink(MqttLinkOptions options, OpenMqtt open, std::shared_ptr<MqttCounters> counters);
  void set_handlers(Handlers handlers) { handlers_ = std::move(handlers); }

  // Connects, reads and writes. `readable`, `writable`: what poll() found.
  void advance(bool readable, bool writable);
  // When advance() has to be called, even if the descriptor is not ready.
  Clock::time_point next_due() const;
  // To be polled; -1: there is none.
  int fd() const { return transport_ ? transport_->fd() : -1; }
  bool wants_write() const { return transport_ && transport_->wants_write(); }

  bool connected() const { return connected_; }
  // Replaces a message of the same topic that waits. Dropped while there is no connection.
  void publish(MqttMessage message);
  void subscribe(const std::string& topic);
  void unsubscribe(const std::string& topic);
  // Ends the connection properly, and connects again, with settings.will or without. Not to be
  // called by handlers.
  void reconnect(bool with_will);
  // Whether the broker publishes settings.will when the connection is lost.
  bool has_will() const { return with_will_; }
  // Whether the broker has received everything.
  bool idle() const { return waiting_.empty() && sent_.empty(); }
  // Ends the connection properly, or the attempt. For good.
  void close();

  // The sentence of the last failure; empty: there was none.
  const std::string& last_problem() const { return last_problem_; }

 private:
  struct Sent {
    std::string topic;
    std::size_t size;
  };
  // The last large message, until the broker received it: the connection may end because of it.
  struct Suspect {
    Sent sent;
    Clock::time_point time;
  };

  void on_connected() override;
  void on_refused(int reason) override { reason_ = reason; }
  void on_disconnected(int reason) override { reason_ = reason; }
  void on_published(int id, int reason) override;
  void on_subscribed(int reason) override;
  void on_message(const MqttMessage& message) override;

  void begin();
  void end(const MqttFailure& failure);
  void forget_messages();
  bool check_suspect(const MqttFailure& failure, Clock::time_point now);
  void send_waiting();
  bool send(const MqttMessage& message);
  void settle(const Sent& sent, int reason);
  void ban(const Sent& sent);
  void warn(const std::string& sentence);
  std::string reason_text(const MqttFailure& failure, bool flapping) const;

  MqttLinkOptions options_;
  const OpenMqtt open_;
  const std::shared_ptr<MqttCounters> counters_;
  Handlers handlers_;
  std::unique_ptr<MqttTransport> transport_;  // null between attempts
  bool connected_ = false;
  bool was_connected_ = false;  // since the start
  bool closed_ = false;
  bool with_will_ = true;
  int short_connections_ = 0;  // that were lost, since the last stable one
  int reason_ = 0;             // why the broker refused or ended this connection; 0: none
  Clock::time_point since_;    // the attempt, or the connection
  Clock::time_point next_attempt_;
  std::chrono::milliseconds delay_;
  std::vector<MqttMessage> waiting_;  // at most one of a topic
  std::map<int, Sent> sent_;          // at most one of a topic
  std::map<int, int> early_;          // answers that came before their number was known
  std::optional<Suspect> suspect_;
  std::map<std::string, int> ended_by_;        // how often messages of a topic were the last ones
  std::map<std::string, std::size_t> banned_;  // topics, and the size that was too large
  std::set<std::string> logged_;               // until a connection is stable
  std::set<std::string> logged_once_;
  std::string last_problem_;
};

struct MqttReady {
  bool readable = false;
  bool writable = false;
};

// Returns when the connection is ready, somebody woke `wake`, or `deadline` has passed.
MqttReady poll_link(const MqttLink& link, const WakeEvent& wake, Clock::time_point deadline);

}  // namespace lookout
