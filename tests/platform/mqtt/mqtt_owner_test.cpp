#include "platform/mqtt/mqtt_owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/platform/mqtt/mqtt_testing.h"

namespace lookout {
namespace {

using State = MqttOwner::State;
using std::chrono::milliseconds;
using std::chrono::seconds;

const MqttMachine kOurs{"a", "pi"};
const MqttMachine kTheirs{"b", "pi2"};

class MqttOwnerTest : public testing::Test {
 protected:
  void hear(const std::string& payload, bool retained = false) {
    owner_.hear(payload, retained, clock_.now());
  }
  // Whether there is a claim to be published.
  bool pass(Clock::duration time) {
    clock_.advance(time);
    const auto claim = owner_.advance(clock_.now());
    EXPECT_TRUE(!claim || parse_machine(*claim).id == kOurs.id);
    return claim.has_value();
  }
  void own_for(Clock::duration time) {
    owner_.ask(clock_.now());
    hear(to_payload(kOurs), true);
    pass(time);
  }

  TestClock clock_;
  MqttOwner owner_{kOurs};
};

TEST_F(MqttOwnerTest, WhatWasOursIsOursAtOnce) {
  own_for({});
  EXPECT_EQ(owner_.state(), State::kOurs);
  EXPECT_EQ(owner_.next_due(), Clock::time_point::max());
}

TEST_F(MqttOwnerTest, NobodysIsClaimedAndOursWhenTheClaimIsHeard) {
  owner_.ask(clock_.now());
  EXPECT_FALSE(pass(milliseconds(999)));
  EXPECT_TRUE(pass(milliseconds(1)));
  EXPECT_EQ(owner_.state(), State::kAsking);
  hear(to_payload(kOurs));
  EXPECT_EQ(owner_.state(), State::kOurs);
}

TEST_F(MqttOwnerTest, AnotherClaimThatCameFirstWins) {
  owner_.ask(clock_.now());
  EXPECT_TRUE(pass(seconds(1)));
  hear(to_payload(kTheirs));
  EXPECT_EQ(owner_.state(), State::kTheirs);
  EXPECT_EQ(to_text(owner_.other()), "the machine pi2 (b)");
}

TEST_F(MqttOwnerTest, AnOwnerRepeatsItsClaimOnceASecond) {
  own_for(seconds(10));
  hear(to_payload(kTheirs));
  EXPECT_TRUE(pass({}));
  hear(to_payload(kTheirs));
  EXPECT_FALSE(pass(milliseconds(999)));
  EXPECT_TRUE(pass(milliseconds(1)));
  hear("");  // removed under way
  EXPECT_TRUE(pass(seconds(1)));
  EXPECT_EQ(owner_.state(), State::kOurs);
}

// As with a broker that sends what is retained late.
TEST_F(MqttOwnerTest, AnOwnerWhoseClaimIsYoungGivesWay) {
  own_for(seconds(1));
  hear(to_payload(kTheirs));
  EXPECT_EQ(owner_.state(), State::kTheirs);
  own_for(seconds(10));
  hear(to_payload(kTheirs), /*retained=*/true);
  EXPECT_EQ(owner_.state(), State::kTheirs);
}

TEST_F(MqttOwnerTest, WhoMayNotHearOwnsAfterAWhile) {
  owner_.ask(clock_.now());
  EXPECT_TRUE(pass(MqttOwner::kQuiet));
  EXPECT_FALSE(pass(MqttOwner::kPatience));
  EXPECT_EQ(owner_.state(), State::kOurs);
}

TEST_F(MqttOwnerTest, ABrokerThatForgotWaitsForTheOwnerToReturn) {
  owner_.ask(clock_.now());
  hear(to_payload(kTheirs), true);
  for (int connection = 0; connection < 2; ++connection) {
    owner_.ask(clock_.now());
    EXPECT_FALSE(pass(seconds(89)));
  }
  EXPECT_TRUE(pass(seconds(1)));
}

TEST_F(MqttOwnerTest, WhatIsRemovedOnRequestIsClaimedSoon) {
  owner_.ask(clock_.now());
  hear(to_payload(kTheirs), true);
  hear("");
  EXPECT_TRUE(pass(MqttOwner::kQuiet));
}

TEST_F(MqttOwnerTest, AnyPayloadIsAnOwner) {
  for (const char* payload : {"x", "{}", "[1]", "{\"machine\":7}", "\xff\n"}) {
    owner_.ask(clock_.now());
    hear(payload, true);
    EXPECT_EQ(owner_.state(), State::kTheirs) << payload;
    EXPECT_THAT(to_text(owner_.other()), testing::StartsWith("the machine "));
  }
  owner_.ask(clock_.now());
  hear(std::string(1 << 20, 'x'), true);
  EXPECT_LT(to_text(owner_.other()).size(), 100U);
}

// Some boards and a broker, which sends every board the claims in one order, each after any time.
class MqttOwnersTest : public testing::TestWithParam<unsigned int> {
 protected:
  struct Board {
    MqttOwner owner;
    std::size_t heard;  // claims
  };

  void step() {
    Board& board = boards_[random_() % boards_.size()];
    if (random_() % 2 == 0 && board.heard < claims_.size()) {
      board.owner.hear(claims_[board.heard++], false, clock_.now());
    }
    if (auto claim = board.owner.advance(clock_.now())) claims_.push_back(std::move(*claim));
  }
  // Until every board has heard everything and has nothing to do for the next seconds.
  void settle() {
    for (int i = 0; i < 5000; ++i) {
      step();
      if (random_() % 8 == 0) clock_.advance(milliseconds(random_() % 50));
    }
  }
  std::size_t owners() const {
    std::size_t count = 0;
    for (const Board& board : boards_) count += board.owner.state() == State::kOurs ? 1 : 0;
    return count;
  }

  TestClock clock_;
  std::mt19937 random_{GetParam()};
  std::vector<std::string> claims_;  // of which the last one is retained
  std::vector<Board> boards_;
};

TEST_P(MqttOwnersTest, ThatStartAtOnceAgreeOnOne) {
  for (const char* id : {"a", "b", "c"}) {
    boards_.push_back({MqttOwner(MqttMachine{id, ""}), 0});
    boards_.back().owner.ask(clock_.now());
    clock_.advance(milliseconds(random_() % 3));
  }
  settle();
  ASSERT_EQ(owners(), 1U);
  for (const Board& board : boards_) {
    if (board.owner.state() != State::kOurs) continue;
    EXPECT_EQ(claims_.back(), board.owner.payload());
  }
  const std::size_t claims = claims_.size();
  clock_.advance(std::chrono::hours(1));
  settle();
  EXPECT_EQ(claims_.size(), claims) << "they have come to rest";
}

INSTANTIATE_TEST_SUITE_P(Orders, MqttOwnersTest, testing::Range(0U, 200U));

}  // namespace
}  // namespace lookout
