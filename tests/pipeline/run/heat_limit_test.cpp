// The limit of heat on simulated boards, in virtual time. A board is a first-order model: its
// temperature follows the power of idling and of classifications with a time constant, and its
// sensor follows the temperature with a dead time, in steps and with noise.
#include "pipeline/run/heat_limit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace lookout {
namespace {

using std::chrono::seconds;

constexpr double kLimit = 75;
constexpr double kFullRate = 30;
constexpr double kSensorStep = 0.487;  // of the BCM2711

struct BoardOptions {
  double ambient = 25;      // degrees Celsius
  double idle = 15;         // K above that without a classification
  double warming = 35;      // K more at 30 classifications a second
  double lag = 30;          // time constant, in seconds
  int dead_time = 3;        // seconds
  double noise = 0.3;       // standard deviation, in K
  double quick_share = 0;   // of the warming, which follows within two seconds
  double full = kFullRate;  // classifications a second without a limit

  std::string text() const {
    return fmt::format("{} °C + {} + {} K, {} s, dead time {} s, full rate {}", ambient, idle,
                       warming, lag, dead_time, full);
  }
};

// One step is a second.
class Board {
 public:
  explicit Board(const BoardOptions& options)
      : options_(options), slow_(options.ambient + options.idle) {}

  void step(double rate) {
    const double power = options_.warming * rate / kFullRate;
    const double quick_target = options_.quick_share * power;
    const double slow_target =
        options_.ambient + options_.idle + (1 - options_.quick_share) * power;
    quick_ += (quick_target - quick_) * (1 - std::exp(-1 / 2.0));
    slow_ += (slow_target - slow_) * (1 - std::exp(-1 / options_.lag));
    past_.push_back(temperature());
    if (past_.size() > static_cast<std::size_t>(options_.dead_time) + 1) past_.pop_front();
  }

  double temperature() const { return slow_ + quick_; }

  double sensor() {
    const double noisy = past_.front() + options_.noise * normal_(random_);
    return std::round(noisy / kSensorStep) * kSensorStep;
  }

  BoardOptions& options() { return options_; }

 private:
  BoardOptions options_;
  double slow_;
  double quick_ = 0;
  std::deque<double> past_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

struct Second {
  double temperature = 0;
  double rate = 0;
  HeatLimit::Event event = HeatLimit::Event::kNone;
};

// `change`: what happens to the board at the beginning of a second.
std::vector<Second> run(
    Board& board, int length,
    const std::function<void(int, BoardOptions&)>& change = [](int, BoardOptions&) {}) {
  HeatLimit limit(kLimit);
  std::vector<Second> history;
  for (int i = 0; i < length; ++i) {
    change(i, board.options());
    Second second;
    second.rate = std::min(board.options().full, limit.rate().value_or(board.options().full));
    board.step(second.rate);
    second.temperature = board.temperature();
    second.event = limit.update(seconds(i), board.sensor(), second.rate);
    history.push_back(second);
  }
  return history;
}

double hottest(const std::vector<Second>& history, int begin = 0) {
  return std::max_element(
             history.begin() + begin, history.end(),
             [](const Second& a, const Second& b) { return a.temperature < b.temperature; })
      ->temperature;
}

long events(const std::vector<Second>& history, HeatLimit::Event event) {
  return std::count_if(history.begin(), history.end(),
                       [event](const Second& second) { return second.event == event; });
}

// From `begin` on the rate moves by less than 6 % of the full rate, from top to bottom.
void expect_settled(const std::vector<Second>& history, int begin) {
  const auto [low, high] =
      std::minmax_element(history.begin() + begin, history.end(),
                          [](const Second& a, const Second& b) { return a.rate < b.rate; });
  EXPECT_LT(high->rate - low->rate, 0.06 * kFullRate);
}

double mean_rate(const std::vector<Second>& history, int begin) {
  double sum = 0;
  for (auto second = history.begin() + begin; second != history.end(); ++second) {
    sum += second->rate;
  }
  return sum / static_cast<double>(history.size() - static_cast<std::size_t>(begin));
}

// The rate at which the board has the temperature that is held.
double ideal_rate(const BoardOptions& board) {
  const double room = kLimit - 2 - board.ambient - board.idle;
  return std::clamp(room / board.warming * kFullRate, 1.0, board.full);
}

TEST(HeatLimit, BoardsOfAllKindsStayBelowTheLimitAndSettle) {
  for (const double warming : {17.5, 35.0, 70.0}) {
    for (const double ambient : {25.0, 40.0}) {
      for (const int dead_time : {1, 3, 5}) {
        for (const double noise : {0.0, 0.3}) {
          BoardOptions options;
          options.warming = warming;
          options.ambient = ambient;
          options.dead_time = dead_time;
          options.noise = noise;
          SCOPED_TRACE(options.text());
          Board board(options);
          const auto history = run(board, 3600);
          EXPECT_LT(hottest(history), kLimit);
          expect_settled(history, 1200);
          EXPECT_NEAR(mean_rate(history, 1200), ideal_rate(options), 0.03 * kFullRate);
        }
      }
    }
  }
}

// A heat sink and a case make a board slow: what comes in the next minutes cannot be foreseen.
TEST(HeatLimit, SlowBoardsExceedTheLimitByLittle) {
  for (const double lag : {60.0, 120.0, 300.0}) {
    for (const double warming : {17.5, 35.0, 70.0}) {
      BoardOptions options;
      options.ambient = 40;
      options.lag = lag;
      options.warming = warming;
      SCOPED_TRACE(options.text());
      Board board(options);
      const auto history = run(board, 5400);
      EXPECT_LT(hottest(history), kLimit + 2);
      EXPECT_LT(hottest(history, 1800), kLimit);
      expect_settled(history, 3600);
    }
  }
}

// The die follows the power at once, the rest of the board in minutes.
TEST(HeatLimit, ABoardWithAQuickAndASlowPartSettles) {
  for (const double warming : {35.0, 70.0}) {
    BoardOptions options;
    options.ambient = 40;
    options.lag = 200;
    options.quick_share = 0.25;
    options.warming = warming;
    SCOPED_TRACE(options.text());
    Board board(options);
    const auto history = run(board, 5400);
    EXPECT_LT(hottest(history), kLimit);
    expect_settled(history, 3600);
  }
}

TEST(HeatLimit, ACoolBoardIsNotLimited) {
  for (const double warming : {5.0, 17.5, 22.0}) {
    for (const double quick_share : {0.0, 0.25}) {
      BoardOptions options;
      options.warming = warming;
      options.quick_share = quick_share;
      options.noise = 0.5;
      SCOPED_TRACE(options.text());
      Board board(options);
      const auto history = run(board, 3600);
      EXPECT_EQ(events(history, HeatLimit::Event::kStarted), 0);
      EXPECT_EQ(mean_rate(history, 0), kFullRate);
    }
  }
}

TEST(HeatLimit, ALimitEndsWhenTheRoomGetsCoolerAndIsToldOnceEach) {
  for (const double warming : {17.5, 35.0}) {
    BoardOptions options;
    options.warming = warming;
    options.ambient = 70 - options.idle - warming;
    SCOPED_TRACE(options.text());
    Board board(options);
    const double cool = options.ambient - 10;
    // A hot afternoon: 20 K more within ten minutes, an hour, and the evening.
    const auto history = run(board, 4 * 3600, [cool](int second, BoardOptions& now) {
      const double up = std::clamp((second - 1800) / 600.0, 0.0, 1.0);
      const double down = std::clamp((second - 7200) / 1200.0, 0.0, 1.0);
      now.ambient = cool + 20 * (up - down);
    });
    EXPECT_LT(hottest(history), kLimit);
    EXPECT_EQ(events(history, HeatLimit::Event::kStarted), 1);
    EXPECT_EQ(events(history, HeatLimit::Event::kEnded), 1);
    EXPECT_LT(history[7000].rate, kFullRate);
    EXPECT_EQ(history.back().rate, kFullRate);
  }
}

// Something moves for five minutes, then nothing for five minutes.
TEST(HeatLimit, ASceneThatComesAndGoesStaysBelowTheLimit) {
  for (const double warming : {35.0, 70.0}) {
    BoardOptions options;
    options.warming = warming;
    options.ambient = 35;
    SCOPED_TRACE(options.text());
    Board board(options);
    const auto history = run(board, 3600, [](int second, BoardOptions& now) {
      now.full = second / 300 % 2 == 0 ? 1 : kFullRate;
    });
    EXPECT_LT(hottest(history), kLimit);
    // Not from one minute to the next.
    EXPECT_LE(events(history, HeatLimit::Event::kStarted), 6);
  }
}

TEST(HeatLimit, ASlowerModelIsHeldAlike) {
  BoardOptions options;
  options.full = 6;
  options.warming = 35 * kFullRate / options.full;
  options.ambient = 40;
  Board board(options);
  const auto history = run(board, 3600);
  EXPECT_LT(hottest(history), kLimit);
  EXPECT_NEAR(mean_rate(history, 1200), ideal_rate(options), 0.2);
}

TEST(HeatLimit, OneFrameASecondRemainsHoweverHotItIs) {
  BoardOptions options;
  options.ambient = 70;
  Board board(options);
  const auto history = run(board, 600);
  EXPECT_EQ(history.back().rate, HeatLimit::kMinRate);
  EXPECT_EQ(events(history, HeatLimit::Event::kStarted), 1);
}

TEST(HeatLimit, ABoardWithoutASensorIsToldOnceAndNotLimited) {
  HeatLimit limit(kLimit);
  EXPECT_EQ(limit.update(seconds(0), std::nullopt, 30), HeatLimit::Event::kNoSensor);
  EXPECT_EQ(limit.update(seconds(1), std::nullopt, 30), HeatLimit::Event::kNone);
  EXPECT_FALSE(limit.rate());
}

TEST(HeatLimit, AReadingThatIsMissingChangesNothing) {
  HeatLimit limit(kLimit);
  EXPECT_EQ(limit.update(seconds(0), 74, 30), HeatLimit::Event::kNone);
  EXPECT_EQ(limit.update(seconds(1), 74, 30), HeatLimit::Event::kStarted);
  const auto rate = limit.rate();
  ASSERT_TRUE(rate);
  EXPECT_EQ(limit.update(seconds(2), std::nullopt, 30), HeatLimit::Event::kNone);
  EXPECT_EQ(limit.rate(), rate);
}

TEST(HeatLimit, ItDoesNotMatterHowOftenItIsAsked) {
  HeatLimit once(kLimit);
  HeatLimit often(kLimit);
  for (int second = 0; second < 300; ++second) {
    const double temperature = 60 + 0.05 * second;
    once.update(seconds(second), temperature, 30);
    for (int i = 0; i < 10; ++i) {
      often.update(seconds(second) + std::chrono::milliseconds(90 * i), temperature, 30);
    }
    ASSERT_EQ(once.rate(), often.rate()) << second;
  }
  EXPECT_TRUE(once.rate());
}

}  // namespace
}  // namespace lookout
