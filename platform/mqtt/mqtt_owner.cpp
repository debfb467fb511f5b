#include "platform/mqtt/mqtt_owner.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

// A text of the object; empty when it is not there.
std::string member_text(const nlohmann::json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

}  // namespace

std::string to_payload(const MqttMachine& machine) {
  return to_text(nlohmann::json{{"machine", machine.id}, {"host", machine.host}});
}

MqttMachine parse_machine(const std::string& payload) {
  const auto json = parse_json(payload);
  MqttMachine machine;
  if (json.is_object()) machine = {member_text(json, "machine"), member_text(json, "host")};
  if (machine.id.empty()) machine.id = payload;
  return machine;
}

std::string to_text(const MqttMachine& machine) {
  constexpr std::size_t kMax = 64;  // bytes of each; anybody may have written them
  const std::string id = printable(machine.id.substr(0, kMax));
  if (machine.host.empty()) return "the machine " + id;
  return "the machine " + printable(machine.host.substr(0, kMax)) + " (" + id + ")";
}

void MqttOwner::ask(Clock::time_point now) {
  returning_ = state_ == State::kTheirs || (state_ == State::kAsking && returning_);
  ask_until(now + (returning_ ? kReturn : kQuiet));
}

void MqttOwner::hear(const std::string& payload, bool retained, Clock::time_point now) {
  if (payload.empty()) {  // nobody owns the topics
    returning_ = false;
    if (state_ == State::kOurs) return claim_again(now);
    if (!claimed_) ask_until(now + kQuiet);
    return;
  }
  MqttMachine machine = parse_machine(payload);
  if (machine.id == machine_.id) {
    if (state_ == State::kAsking) own(now);
    // The broker has our claim, which was the last one. The owner repeats its own now.
    if (state_ == State::kTheirs) ask_until(now + kQuiet);
    return;
  }
  const bool is_established = state_ == State::kOurs && now - since_ >= kProbation;
  if (is_established && !retained) return claim_again(now);
  state_ = State::kTheirs;
  other_ = std::move(machine);
  claimed_ = false;
  due_ = Clock::time_point::max();
}

void MqttOwner::ask_until(Clock::time_point due) {
  state_ = State::kAsking;
  claimed_ = false;
  due_ = due;
}

void MqttOwner::own(Clock::time_point now) {
  state_ = State::kOurs;
  claimed_ = false;
  returning_ = false;
  since_ = now;
  due_ = Clock::time_point::max();
}

void MqttOwner::claim_again(Clock::time_point now) {
  due_ = std::max(now, last_claim_ + kBetweenClaims);
}

std::optional<std::string> MqttOwner::advance(Clock::time_point now) {
  if (now < due_) return std::nullopt;
  due_ = Clock::time_point::max();
  if (claimed_) {
    own(now);
    return std::nullopt;
  }
  if (state_ == State::kAsking) {
    claimed_ = true;
    due_ = now + kPatience;
  }
  last_claim_ = now;
  return payload();
}

}  // namespace lookout
