#include "pipeline/run/scheduling.h"

#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>

#include "pipeline/results/statistics.h"
#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

// The first processor that this process may use.
int a_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  int cpu = 0;
  while (CPU_ISSET(cpu, &set) == 0) ++cpu;
  return cpu;
}

StatsSnapshot run(Source& source, const Scheduling& scheduling) {
  FakeClassifier classifier;
  PipelineOptions options;
  options.capture = scheduling;
  const std::atomic<bool> stop{false};
  return run_pipeline(source, classifier, {}, options, stop);
}

TEST(Scheduling, TheCaptureThreadRunsWhereItIsToldTo) {
  cpu_set_t seen;
  CPU_ZERO(&seen);
  FakeSource source(/*live=*/true, [&](int, Frame&) {
    sched_getaffinity(0, sizeof seen, &seen);
    return ReadStatus::kEnd;
  });
  Scheduling scheduling;
  scheduling.cpus = {a_processor()};
  run(source, scheduling);
  EXPECT_EQ(CPU_COUNT(&seen), 1);
  EXPECT_TRUE(CPU_ISSET(scheduling.cpus[0], &seen));
}

TEST(Scheduling, TheCaptureThreadGetsItsPriority) {
  int policy = -1;
  sched_param parameters{};
  FakeSource source(/*live=*/true, [&](int, Frame&) {
    policy = sched_getscheduler(0);
    sched_getparam(0, &parameters);
    return ReadStatus::kEnd;
  });
  Scheduling scheduling;
  scheduling.realtime_priority = 7;
  try {
    run(source, scheduling);
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::kPermission);
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(policy, SCHED_FIFO);
  EXPECT_EQ(parameters.sched_priority, 7);
}

TEST(Scheduling, WhatIsRefusedEndsTheRunWithTheWayOut) {
  FakeSource source(/*live=*/true, frames(1));
  Scheduling scheduling;
  scheduling.cpus = {1023};
  expect_error(ErrorKind::kUsage,
               "processors 1023 for the thread \"capture\": this machine has none of them",
               [&] { run(source, scheduling); });
  scheduling.cpus.clear();
  scheduling.realtime_priority = 99;
  expect_error_unprivileged(ErrorKind::kPermission,
                            "LimitRTPRIO=", [&] { schedule_this_thread(scheduling); });
}

}  // namespace
}  // namespace lookout
