#include "pipeline/run/pipeline.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "pipeline/core/error.h"
#include "pipeline/model/network_output.h"
#include "pipeline/results/statistics.h"
#include "tests/support/captured_log.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

void expect_counts_add_up(const StatsSnapshot& stats) {
  EXPECT_EQ(stats.captured, stats.classified + stats.dropped + stats.in_flight);
}

TEST(Pipeline, ClassifiesEveryFrameOfAFileOnceAndInOrder) {
  FakeSource source(/*live=*/false, frames(500));
  FakeClassifier classifier;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), {}, stop);
  std::vector<std::uint64_t> expected(500);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log.sequences, expected);
  for (std::size_t i = 0; i < log.best.size(); ++i) EXPECT_EQ(log.best[i], i % 256);
  EXPECT_EQ(total.captured, 500U);
  EXPECT_EQ(total.classified, 500U);
  EXPECT_EQ(total.dropped, 0U);
  EXPECT_EQ(total.in_flight, 0U);
}

// As a model that normalises each picture does for one of a single colour.
TEST(Pipeline, AFrameForWhichTheModelGivesNoScoresEndsNothing) {
  FakeSource source(/*live=*/false, frames(4));
  int calls = 0;
  FakeClassifier one([&calls](int /*call*/) {
    const int call = calls++;
    if (call == 1 || call == 2) throw NoScores(ErrorKind::kBadData, "model fake: gives no numbers");
  });
  std::vector<std::string> states;
  std::vector<bool> has_predictions;
  FakeReporter::Log log;
  const auto note = [&](const Result& result) {
    states.emplace_back(result.state.name());
    has_predictions.push_back(!result.top.empty());
  };
  const std::atomic<bool> stop{false};
  const CapturedLog lines;
  const StatsSnapshot total = run_pipeline(source, one, reporting_to(log, note), {}, stop);
  EXPECT_EQ(total.classified, 4U);
  EXPECT_EQ(states, (std::vector<std::string>{"value 0", "unknown", "unknown", "value 3"}));
  EXPECT_EQ(has_predictions, (std::vector<bool>{true, false, false, true}));
  const std::string text = lines.text();
  EXPECT_NE(text.find("model fake: gives no numbers; what such a frame shows is unknown"),
            std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST(Pipeline, ASlowClassifierGetsTheNewestFrameAndTheRestIsCounted) {
  // While the first frame is classified the camera delivers nine more; the next to be classified
  // must be the last of them.
  Gate first_in_classifier;
  Gate all_delivered;
  FakeSource source(/*live=*/true, [&](int read, Frame& frame) {
    if (read == 1) first_in_classifier.wait();
    if (read == 10) {
      all_delivered.open();
      return ReadStatus::kEnd;
    }
    return fill(frame, read);
  });
  FakeClassifier classifier([&](int call) {
    if (call == 0) {
      first_in_classifier.open();
      all_delivered.wait();
    }
  });
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), {}, stop);
  EXPECT_EQ(log.sequences, (std::vector<std::uint64_t>{0, 9}));
  EXPECT_EQ(log.best, (std::vector<std::size_t>{0, 9}));
  EXPECT_EQ(total.captured, 10U);
  EXPECT_EQ(total.classified, 2U);
  EXPECT_EQ(total.dropped, 8U);
  expect_counts_add_up(total);
}

TEST(Pipeline, StopsWhenToldAndAccountsForWhatIsInFlight) {
  FakeSource source(/*live=*/true, [](int read, Frame& frame) { return fill(frame, read % 256); });
  FakeClassifier classifier;
  FakeReporter::Log log;
  std::atomic<bool> stop{false};
  const StatsSnapshot total =
      run_pipeline(source, classifier,
                   reporting_to(log, [&](const Result& r) { stop = r.sequence > 100; }), {}, stop);
  EXPECT_GT(total.classified, 0U);
  EXPECT_EQ(total.classified, log.sequences.size());
  expect_counts_add_up(total);
}

TEST(Pipeline, ProbabilitiesAreScoresAsTheyAre) {
  ModelSpec spec;
  spec.output = ModelOutput::kProbabilities;
  FakeClassifier classifier({}, spec);
  FakeSource source(/*live=*/false, frames(1));
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  float best = 1;
  run_pipeline(source, classifier,
               reporting_to(log, [&](const Result& r) { best = r.top[0].score; }), {}, stop);
  EXPECT_EQ(best, 0);  // the fake's largest output, which softmax would make 0.46
}

TEST(Pipeline, StopsAStalledCamera) {
  std::atomic<bool> stop{false};
  FakeSource source(/*live=*/true, [&](int read, Frame& frame) {
    if (read == 0) return fill(frame, 1);
    stop = true;
    return ReadStatus::kTimeout;
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  expect_counts_add_up(run_pipeline(source, classifier, reporting_to(log), {}, stop));
}

// Without a camera; it waits until it is woken, however long that takes.
class IdleSource : public FakeSource {
 public:
  IdleSource(const WakeEvent& wake, std::function<void()> on_read)
      : FakeSource(/*live=*/true, {}), wake_(wake), on_read_(std::move(on_read)) {
    set_online(false);
  }

  ReadStatus read(Frame& /*frame*/, milliseconds /*timeout*/) override {
    on_read_();
    pollfd event{wake_.fd(), POLLIN, 0};
    poll(&event, 1, -1);
    wake_.clear();
    return ReadStatus::kTimeout;
  }
  bool idle() const override { return true; }

 private:
  const WakeEvent& wake_;
  std::function<void()> on_read_;
};

TEST(Pipeline, WhoSetsTheStopFlagWakesAnIdleSource) {
  const WakeEvent wake;
  PipelineOptions options;
  options.wake = &wake;
  std::atomic<bool> stop{false};
  Gate reads;
  IdleSource source(wake, [&] { reads.open(); });
  std::thread stopping([&] {
    reads.wait();
    stop = true;
    wake.wake();
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  EXPECT_EQ(run_pipeline(source, classifier, reporting_to(log), options, stop).captured, 0U);
  stopping.join();
}

TEST(Pipeline, ARunThatEndsByItselfWakesAnIdleSource) {
  const WakeEvent wake;
  PipelineOptions options;
  options.wake = &wake;
  options.end = Clock::now();
  const std::atomic<bool> stop{false};
  IdleSource source(wake, [] {});
  FakeClassifier classifier;
  FakeReporter::Log log;
  EXPECT_EQ(run_pipeline(source, classifier, reporting_to(log), options, stop).captured, 0U);
}

TEST(Pipeline, StopsWhileAFilesFrameWaitsForTheClassifier) {
  std::atomic<bool> stop{false};
  FakeSource source(/*live=*/false, [](int read, Frame& frame) { return fill(frame, read % 256); });
  FakeClassifier classifier([&](int call) { stop = call == 3; });
  FakeReporter::Log log;
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), {}, stop);
  EXPECT_EQ(total.classified, 4U);
  expect_counts_add_up(total);
}

TEST(Pipeline, EndsByItselfAfterTheDuration) {
  FakeSource source(/*live=*/true, [](int read, Frame& frame) { return fill(frame, read % 256); });
  FakeClassifier classifier;
  FakeReporter::Log log;
  PipelineOptions options;
  options.end = Clock::now() + milliseconds(50);
  const std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), options, stop);
  EXPECT_GE(Clock::now(), options.end);
  expect_counts_add_up(total);
}

TEST(Pipeline, TheMachineIsLookedAtForEachStatisticsOnly) {
  FakeReporter::Log log;
  FakeSource source(/*live=*/false, frames(20));
  FakeClassifier classifier;
  int looks = 0;
  PipelineOptions options;
  options.stats_interval = milliseconds(1);
  options.machine_state = [&looks] {
    MachineState state;
    state.temperature = ++looks;
    return state;
  };
  const std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), options, stop);
  EXPECT_EQ(looks, static_cast<int>(log.ticks.size()));
  for (std::size_t i = 0; i < log.ticks.size(); ++i) {
    EXPECT_EQ(log.ticks[i].machine.temperature, static_cast<double>(i + 1));
  }
  EXPECT_EQ(total.machine.temperature, static_cast<double>(looks));
}

TEST(Pipeline, TicksAlsoWithoutFramesAndAFinalTickComesLast) {
  Gate enough;
  FakeSource source(/*live=*/true, [&](int, Frame&) {
    enough.wait();
    return ReadStatus::kEnd;
  });
  FakeClassifier classifier;
  struct CountTicks : Reporter {
    CountTicks(Gate& enough, std::vector<bool>& ticks) : enough_(enough), ticks_(ticks) {}
    void tick(const StatsSnapshot& stats) override {
      ticks_.push_back(stats.final);
      if (ticks_.size() == 3) enough_.open();
    }
    Gate& enough_;
    std::vector<bool>& ticks_;
  };
  std::vector<bool> ticks;
  Reporters reporters;
  reporters.push_back(std::make_unique<CountTicks>(enough, ticks));
  PipelineOptions options;
  options.stats_interval = milliseconds(1);
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporters, options, stop);
  ASSERT_GE(ticks.size(), 4U);
  EXPECT_EQ(std::count(ticks.begin(), ticks.end(), true), 1);
  EXPECT_TRUE(ticks.back());
}

TEST(Pipeline, ALostCameraIsThrownAfterItsFramesWereClassified) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == 5) throw Error(ErrorKind::kDeviceLost, "gone");
    return fill(frame, read);
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  try {
    run_pipeline(source, classifier, reporting_to(log), {}, stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDeviceLost);
    EXPECT_STREQ(error.what(), "gone");
  }
  EXPECT_EQ(log.sequences.size(), 5U);
  ASSERT_FALSE(log.ticks.empty());
  EXPECT_TRUE(log.ticks.back().final);
}

TEST(Pipeline, WhatTheClassifierOrAReporterThrowsEndsTheRun) {
  const std::atomic<bool> stop{false};
  FakeReporter::Log log;
  {
    FakeSource source(/*live=*/false, frames(1000));
    FakeClassifier classifier([](int call) {
      if (call == 2) throw Error(ErrorKind::kBadData, "broken");
    });
    EXPECT_THROW(run_pipeline(source, classifier, reporting_to(log), {}, stop), Error);
  }
  FakeSource source(/*live=*/true, frames(1000));
  FakeClassifier classifier;
  const auto throws = [](const Result&) { throw std::runtime_error("disk full"); };
  EXPECT_THROW(run_pipeline(source, classifier, reporting_to(log, throws), {}, stop),
               std::runtime_error);
}

TEST(Pipeline, ALossThatIsShorterThanAnInferenceIsToldToo) {
  Gate classifying;
  Gate camera_is_back;
  FakeSource* camera = nullptr;
  FakeSource source(/*live=*/true, [&](int read, Frame& frame) {
    if (read == 0) return fill(frame, 1);
    if (read == 3) camera_is_back.open();  // the change before this read was noted
    if (read == 3) return ReadStatus::kEnd;
    classifying.wait();
    camera->set_online(read == 2);
    return ReadStatus::kTimeout;
  });
  camera = &source;
  FakeClassifier classifier([&](int) {
    classifying.open();
    camera_is_back.wait();
  });
  FakeReporter::Log log;
  const Reporters reporters = reporting_to(log);
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporters, {}, stop);
  ASSERT_EQ(log.statuses.size(), 2U);
  EXPECT_FALSE(log.statuses[0].online);
  EXPECT_TRUE(log.statuses[1].online);
  EXPECT_EQ(log.ticks.size(), 1U);
}

TEST(Pipeline, ReportersAreToldWhenTheCameraGoesAndComes) {
  Gate first_reported;
  Gate told_offline;
  FakeSource* camera = nullptr;
  FakeSource source(/*live=*/true, [&](int read, Frame& frame) {
    if (read == 0) return fill(frame, 1);
    if (read == 1) {
      first_reported.wait();
      camera->set_online(false);
      return ReadStatus::kTimeout;
    }
    if (read == 2) {
      told_offline.wait();
      camera->set_online(true);
      return fill(frame, 1);
    }
    return ReadStatus::kEnd;
  });
  camera = &source;

  class OpenOnStatus : public Reporter {
   public:
    explicit OpenOnStatus(Gate& gate) : gate_(gate) {}
    void status(const CameraStatus& /*status*/) override { gate_.open(); }

   private:
    Gate& gate_;
  };

  FakeClassifier classifier;
  FakeReporter::Log log;
  Reporters reporters = reporting_to(log, [&](const Result&) { first_reported.open(); });
  reporters.push_back(std::make_unique<OpenOnStatus>(told_offline));
  const std::atomic<bool> stop{false};
  const auto before = std::chrono::system_clock::now();
  run_pipeline(source, classifier, reporters, {}, stop);
  ASSERT_EQ(log.statuses.size(), 2U);
  EXPECT_FALSE(log.statuses[0].online);
  EXPECT_TRUE(log.statuses[1].online);
  EXPECT_GE(log.beats, 2);
  EXPECT_GE(log.statuses[0].since, before);
  EXPECT_GE(log.statuses[1].since, log.statuses[0].since);
  EXPECT_EQ(log.reported_before, (std::vector<std::size_t>{1, 1})) << "back before its frame";
  EXPECT_EQ(log.sequences.size(), 2U);
  EXPECT_EQ(log.changes, (std::vector<std::string>{"value 1", "value 1"})) << "said again";
}

TEST(Pipeline, AResultHasTheStateOfItsFrame) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    return read == 6 ? ReadStatus::kEnd : fill(frame, read / 2);
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  std::vector<std::string> previous;
  const std::atomic<bool> stop{false};
  const auto note = [&](const Result& result) {
    EXPECT_EQ(result.state.name(), result.top[0].label);
    EXPECT_EQ(result.state.prediction.score, result.top[0].score);
    previous.emplace_back(result.previous_state.name());
  };
  run_pipeline(source, classifier, reporting_to(log, note), {}, stop);
  EXPECT_EQ(log.changes, (std::vector<std::string>{"value 0", "value 1", "value 2"}));
  EXPECT_EQ(previous,
            (std::vector<std::string>{"", "", "value 0", "value 0", "value 1", "value 1"}));
}

TEST(Pipeline, RawScoresStayWhereTheStateIsUnknown) {
  FakeSource source(/*live=*/false, frames(3));
  FakeClassifier classifier;
  FakeReporter::Log log;
  PipelineOptions options;
  options.state.enter_threshold = 0.99F;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporting_to(log), options, stop);
  EXPECT_EQ(log.best, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(log.changes, (std::vector<std::string>{"unknown"}));
}

TEST(Pipeline, CountsWhatTheSourceSkipped) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == 10) return ReadStatus::kEnd;
    return read % 2 == 0 ? fill(frame, read) : ReadStatus::kSkipped;
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), {}, stop);
  EXPECT_EQ(total.captured, 5U);
  EXPECT_EQ(total.skipped, 5U);
}

TEST(Pipeline, CountsWhatTheSourceDroppedAsCapturedAndDropped) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == 10) return ReadStatus::kEnd;
    return read % 2 == 0 ? fill(frame, read) : ReadStatus::kDropped;
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, classifier, reporting_to(log), {}, stop);
  EXPECT_EQ(total.captured, 10U);
  EXPECT_EQ(total.dropped, 5U);
  EXPECT_EQ(total.skipped, 0U);
}

TEST(Pipeline, TheCaptureThreadIsNamedAndLeavesSignalsToOthers) {
  std::string name(16, '\0');
  sigset_t blocked;
  sigemptyset(&blocked);
  FakeSource source(/*live=*/true, [&](int, Frame&) {
    pthread_getname_np(pthread_self(), name.data(), name.size());
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return ReadStatus::kEnd;
  });
  FakeClassifier classifier;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporting_to(log), {}, stop);
  EXPECT_STREQ(name.c_str(), "capture");
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
}

}  // namespace
}  // namespace lookout
