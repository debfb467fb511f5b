#include "pipeline/run/scheduling.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "pipeline/results/statistics.h"
#include "pipeline/run/pipeline.h"
#include "tests/support/captured_log.h"
#include "tests/support/fakes.h"
#include "tests/support/refused_call.h"
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

int priority_of_this_thread() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

TEST(Scheduling, ALowPriorityIsThatOfOneThread) {
  const int before = priority_of_this_thread();
  int lowered = 0;
  int inherited = 0;
  std::thread([&] {
    EXPECT_TRUE(lower_this_thread_priority());
    lowered = priority_of_this_thread();
    std::thread([&] { inherited = priority_of_this_thread(); }).join();
  }).join();
  EXPECT_EQ(lowered, std::max(before, kLowPriority));
  EXPECT_EQ(inherited, lowered);
  EXPECT_EQ(priority_of_this_thread(), before);
}

TEST(Scheduling, AThreadThatHasALowerPriorityKeepsIt) {
  std::thread([] {
    constexpr int kLowest = 19;
    ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowest), 0);
    EXPECT_TRUE(lower_this_thread_priority());
    EXPECT_EQ(priority_of_this_thread(), kLowest);
  }).join();
}

TEST(Scheduling, ARefusedLowPriorityIsLoggedOnceAndEndsNothing) {
  if (priority_of_this_thread() >= kLowPriority) GTEST_SKIP() << "the tests run at a low priority";
  const CapturedLog log;
  std::atomic<bool> refused{false};
  const auto lower = [&refused] {
    if (!refuse_call(SYS_setpriority)) return;
    refused = true;
    EXPECT_FALSE(lower_this_thread_priority());
  };
  std::thread(lower).join();
  if (!refused) GTEST_SKIP() << "this system has no filters of system calls";
  const std::string once = log.text();
  EXPECT_NE(once.find("SystemCallFilter=setpriority"), std::string::npos) << once;
  std::thread(lower).join();
  EXPECT_EQ(log.text(), once);
}

}  // namespace
}  // namespace lookout
