// Which machine a camera's topics belong to. Two boards whose cameras have one name would
// overwrite each other's topics.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"

namespace lookout {

struct MqttMachine {
  std::string id;    // see machine_id()
  std::string host;  // its name, for people; may be empty
};

// The payload of the retained topic `owner`. Another text is taken for the id alone.
std::string to_payload(const MqttMachine& machine);
MqttMachine parse_machine(const std::string& payload);
// "the machine front-pi (0123456789ab)", printable.
std::string to_text(const MqttMachine& machine);

// Decides by what the broker says of the retained topic `owner`, to which this machine is
// subscribed. A machine that finds no owner claims the topics, and has them when it hears its own
// claim before another one: the broker sends all subscribers the claims in one order. An owner
// repeats its claim when it hears another one. Used by one thread.
class MqttOwner {
 public:
  enum class State {
    kAsking,  // nothing may be published yet
    kOurs,
    kTheirs,
  };

  // A broker sends what is retained at once.
  static constexpr std::chrono::seconds kQuiet{1};
  // A broker that has lost what it retained hears of the owner again only when that has connected
  // again, which takes it up to MqttLinkOptions::max_delay.
  static constexpr std::chrono::seconds kReturn{90};
  // Whoever may not listen, or not write a claim, publishes nevertheless after this time.
  static constexpr std::chrono::seconds kPatience{5};
  // Two claims are close together for that long: the later one gives way.
  static constexpr std::chrono::seconds kProbation{5};
  static constexpr std::chrono::seconds kBetweenClaims{1};

  explicit MqttOwner(MqttMachine machine) : machine_(std::move(machine)) {}

  // With each connection, before the subscription is answered.
  void ask(Clock::time_point now);
  void hear(const std::string& payload, bool retained, Clock::time_point now);
  // Returns the payload to be retained on the topic, when it is time for that.
  std::optional<std::string> advance(Clock::time_point now);
  // When advance() has to be called.
  Clock::time_point next_due() const { return due_; }

  State state() const { return state_; }
  // Its claim.
  std::string payload() const { return to_payload(machine_); }
  // For kTheirs.
  const MqttMachine& other() const { return other_; }

 private:
  void ask_until(Clock::time_point due);
  void own(Clock::time_point now);
  void claim_again(Clock::time_point now);

  const MqttMachine machine_;
  MqttMachine other_;
  State state_ = State::kAsking;
  bool claimed_ = false;     // and not heard yet
  bool returning_ = false;   // an owner, when the connection began, whom nobody removed since
  Clock::time_point since_;  // kOurs
  Clock::time_point last_claim_;
  Clock::time_point due_ = Clock::time_point::max();  // a claim, or the end of the patience
};

}  // namespace lookout
