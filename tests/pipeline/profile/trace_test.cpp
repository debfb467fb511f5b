#include "pipeline/profile/trace.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"
#include "tests/support/saved_trace.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;

// While it lives, no thread can be started: no address space is large enough for its stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_attr_init(&attributes_);
    pthread_getattr_default_np(&attributes_);
    pthread_attr_t huge = attributes_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
  }
  ~NoMoreThreads() { pthread_setattr_default_np(&attributes_); }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t attributes_{};
};

TEST(Trace, IsSavedAtTheEndWhereItsThreadCannotBeStarted) {
  Saved saved;
  {
    Trace trace(frames_of(1), saved.save());
    {
      const NoMoreThreads no_more;
      const TraceSpan span(&trace, Stage::kReport, 0);
    }
    EXPECT_EQ(saved.times, 0);
    trace.finish();
    EXPECT_EQ(saved.times, 1);
  }
  EXPECT_EQ(saved.times, 1);
}

Trace::Operator call_of(const char* name, std::uint64_t frame, Clock::time_point start,
                        Clock::time_point end) {
  return {{"net", name, "", false}, frame, start, end};
}

TEST(Trace, TakesOperatorsAtTheEnd) {
  Saved saved;
  Trace trace(frames_of(1), saved.save());
  const auto start = Clock::time_point(microseconds(1031));
  int asked = 0;
  trace.add_at_end([&](const Trace::AddOperator& add) {
    ++asked;
    for (const std::uint64_t frame : {0, 7}) {
      add(call_of("Conv", frame, start, start + microseconds(2)));
    }
  });
  EXPECT_EQ(asked, 0);
  record_frame(trace, 0);
  trace.finish();
  EXPECT_EQ(asked, 1);
  std::vector<Json> calls = saved.events("X");
  calls.erase(std::remove_if(calls.begin(), calls.end(),
                             [](const Json& event) { return event["name"] != "Conv"; }),
              calls.end());
  ASSERT_EQ(calls.size(), 1U) << "frame 7 is not in the trace";
  EXPECT_EQ(calls[0]["ts"], 31) << "after the first event of the trace";
  EXPECT_EQ(calls[0]["dur"], 2);
  EXPECT_EQ(calls[0]["args"]["frame"], 0);
}

TEST(Trace, IsChromesFormat) {
  Saved saved;
  TraceOptions options = frames_of(10);
  options.about["model"] = "a \"net\"";
  Trace trace(options, saved.save());
  record_frame(trace, 0);
  const auto start = Clock::time_point(microseconds(1031));
  trace.record_operator(call_of("aten::\"add\"", 0, start, start + std::chrono::nanoseconds(1500)));
  trace.finish();

  const Json root = Json::parse(saved.text);
  EXPECT_EQ(root["otherData"]["model"], "a \"net\"");
  const std::vector<Json> slices = saved.events("X");
  ASSERT_EQ(slices.size(), 6U) << "five stages on a thread, and an operator";
  EXPECT_EQ(slices[0]["name"], "capture");
  EXPECT_EQ(slices[0]["ts"], 0);
  EXPECT_EQ(slices[0]["dur"], 9.998) << "they do not touch";
  EXPECT_EQ(slices[0]["cat"], "stage");
  EXPECT_EQ(slices[0]["args"]["frame"], 0);
  EXPECT_EQ(slices[2]["name"], "inference");
  EXPECT_EQ(slices[3]["name"], "aten::\"add\"") << "after what it lies in";
  EXPECT_EQ(slices[3]["cat"], "operator");
  EXPECT_EQ(slices[3]["ts"], 31);
  EXPECT_EQ(slices[3]["dur"], 1.5);
  EXPECT_EQ(slices[3]["args"]["model"], "net");
  for (const Json& slice : slices) EXPECT_EQ(slice["tid"], slices[0]["tid"]);

  // The frame as a step of PyTorch's profiler, without the capture.
  ASSERT_EQ(saved.steps().size(), 1U);
  const Json step = saved.steps().front();
  EXPECT_EQ(step["ph"], "X");
  EXPECT_EQ(step["name"], "ProfilerStep#0");
  EXPECT_EQ(step["ts"], 20);
  EXPECT_EQ(step["dur"], 39.998);
  EXPECT_EQ(step["tid"], slices[0]["tid"]);

  ASSERT_EQ(saved.events("b").size(), 1U);
  ASSERT_EQ(saved.events("e").size(), 1U);
  EXPECT_EQ(saved.events("b")[0]["name"], "queue-wait");
  EXPECT_TRUE(saved.events("b")[0]["id2"].contains("local")) << "shown with the process";
  EXPECT_EQ(saved.events("b")[0]["id2"], saved.events("e")[0]["id2"]);
  EXPECT_EQ(saved.events("b")[0]["ts"], 10);
  EXPECT_EQ(saved.events("e")[0]["ts"], 20);
  EXPECT_EQ(saved.events("s")[0]["ts"], 5) << "an arrow begins within the capture";
  EXPECT_EQ(saved.events("t")[0]["ts"], 25);
  EXPECT_EQ(saved.events("f")[0]["ts"], 55);
  EXPECT_EQ(saved.events("f")[0]["bp"], "e");
}

TEST(Trace, TellsLayersLabelsAndMemory) {
  Saved saved;
  Trace trace(frames_of(1), saved.save());
  const auto start = Clock::time_point(microseconds(1000));
  const auto end = start + microseconds(10);
  trace.record_operator({{"net", "aten::add", "features.3", false}, 0, start, end, 4096});
  trace.record_operator({{"net", "HEAD", "", true}, 0, end, end});
  trace.record(Stage::kReport, 0, end, end);
  trace.finish();
  const std::vector<Json> slices = saved.events("X");
  EXPECT_EQ(slices[0]["cat"], "operator");
  EXPECT_EQ(slices[0]["args"],
            Json::parse(R"({"frame":0,"model":"net","layer":"features.3","bytes":4096})"));
  const auto label = std::find_if(slices.begin(), slices.end(),
                                  [](const Json& slice) { return slice["cat"] == "label"; });
  ASSERT_NE(label, slices.end());
  EXPECT_EQ((*label)["name"], "HEAD");
  EXPECT_EQ((*label)["args"], Json::parse(R"({"frame":0,"model":"net"})"));
}

StageMark at(int us, int cpu_us, int writer_us = 0) {
  return {Clock::time_point(microseconds(us)), microseconds(cpu_us), microseconds(writer_us)};
}

TEST(Trace, AStageTellsHowLongItsThreadRanAndWaitedForTheWriter) {
  Saved saved;
  Trace trace(frames_of(1), saved.save());
  trace.record(Stage::kPreprocess, 0, at(1000, 10), at(1100, 40));
  trace.record(Stage::kInference, 0, at(1100, 40), at(1200, 900));  // clocks never agree
  trace.record(Stage::kReport, 0, at(1200, 900, 5), at(1300, 920, 35));
  trace.finish();
  const std::vector<Json> slices = saved.events("X");
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0]["args"]["cpu_us"], 30);
  EXPECT_FALSE(slices[0]["args"].contains("writer_us"));
  EXPECT_EQ(slices[1]["args"]["cpu_us"], 100) << "not more than the stage took";
  EXPECT_EQ(slices[2]["args"]["cpu_us"], 20);
  EXPECT_EQ(slices[2]["args"]["writer_us"], 30);
}

TEST(Trace, ASpanTellsHowLongTheWriterWasWaitedFor) {
  Saved saved;
  TraceOptions options = frames_of(1);
  int asked = 0;
  options.writer_wait = [&asked] { return microseconds(++asked > 1 ? 1 : 0); };
  Trace trace(options, saved.save());
  {
    const TraceSpan span(&trace, Stage::kReport, 0);
    const auto end = Clock::now() + std::chrono::milliseconds(1);
    while (Clock::now() < end) sched_yield();
  }
  trace.finish();
  ASSERT_EQ(saved.events("X").size(), 1U);
  EXPECT_TRUE(saved.events("X")[0]["args"].contains("cpu_us"));
  EXPECT_EQ(asked, 2);
}

TEST(Trace, AnEventThatEndsBeforeItsStartHasNoDuration) {
  Saved saved;
  Trace trace(frames_of(1), saved.save());
  const auto start = Clock::time_point(microseconds(1000));
  trace.record_operator(call_of("aten::add", 0, start, start - microseconds(10)));
  trace.record(Stage::kReport, 0, start, start);
  trace.finish();
  for (const Json& event : saved.events("X")) EXPECT_EQ(event["dur"], 0) << event;
  EXPECT_EQ(saved.events("X").size(), 2U);
}

TEST(Trace, AStageComesBeforeAnOperatorThatTakesAsLong) {
  Saved saved;
  Trace trace(frames_of(1), saved.save());
  const auto start = Clock::time_point(microseconds(1000));
  const auto end = start + microseconds(10);
  trace.record_operator(call_of("aten::add", 0, start, end));
  trace.record(Stage::kInference, 0, start, end);
  trace.record(Stage::kReport, 0, end, end);
  trace.finish();
  ASSERT_EQ(saved.events("X").size(), 3U);
  EXPECT_EQ(saved.events("X")[0]["name"], "inference");
  EXPECT_EQ(saved.events("X")[1]["name"], "aten::add");
}

TEST(Trace, IsSavedOnceWithTheLastOfItsFrames) {
  Saved saved;
  Trace trace(frames_of(3), saved.save());
  for (std::uint64_t frame = 0; frame < 10; ++frame) {
    EXPECT_EQ(trace.traces(frame), frame < 3);
    record_frame(trace, frame);
  }
  trace.finish();
  trace.finish();
  EXPECT_EQ(saved.times, 1);
  EXPECT_EQ(trace.frames(), 3U);
  EXPECT_EQ(saved.events("f").size(), 3U);
}

TEST(Trace, IsSavedWhileTheRunGoesOn) {
  Gate saved;
  Trace trace(frames_of(1), [&saved](const Trace&) { saved.open(); });
  record_frame(trace, 0);
  saved.wait();
}

TEST(Trace, LeavesOutTheFramesOfTheWarmUp) {
  Saved saved;
  Trace trace(frames_of(2, 5), saved.save());
  for (std::uint64_t frame = 0; frame < 10; ++frame) record_frame(trace, frame);
  trace.finish();
  std::set<std::uint64_t> frames;
  for (const Json& slice : saved.events("X")) frames.insert(slice["args"]["frame"].get<int>());
  EXPECT_EQ(frames, (std::set<std::uint64_t>{5, 6}));
}

TEST(Trace, AFrameThatWasReplacedIsCapturedOnly) {
  Saved saved;
  Trace trace(frames_of(10), saved.save());
  record_frame(trace, 0);
  const auto time = Clock::time_point(microseconds(5000));
  trace.record(Stage::kCapture, 1, time, time + microseconds(5));
  // One that was not reported before the end.
  trace.record(Stage::kCapture, 2, time + microseconds(10), time + microseconds(15));
  trace.record(Stage::kQueueWait, 2, time + microseconds(15), time + microseconds(20));
  trace.record(Stage::kInference, 2, time + microseconds(20), time + microseconds(30));
  trace.record_operator(call_of("aten::add", 2, time + microseconds(21), time + microseconds(22)));
  trace.finish();
  EXPECT_EQ(trace.frames(), 1U);
  EXPECT_EQ(saved.events("s").size(), 1U) << "no arrow that leads nowhere";
  EXPECT_EQ(saved.events("b").size(), 1U);
  std::map<std::string, int> names;
  for (const Json& slice : saved.events("X")) ++names[slice["name"]];
  EXPECT_EQ(names["capture"], 3);
  EXPECT_EQ(names["inference"], 1);
  EXPECT_EQ(names.count("aten::add"), 0U);
}

TEST(Trace, OfNothingIsATrace) {
  Saved saved;
  Trace(frames_of(10), saved.save()).finish();
  EXPECT_TRUE(saved.events("X").empty());
}

TEST(Trace, WhatSavingThrowsIsThrownAtTheEnd) {
  Trace trace(frames_of(1), [](const Trace&) { throw std::runtime_error("disk full"); });
  record_frame(trace, 0);
  EXPECT_THROW(trace.finish(), std::runtime_error);
  EXPECT_NO_THROW(trace.finish());
}

TEST(Trace, OfAPipelineHasEveryStageOnItsThread) {
  Saved saved;
  Trace trace(frames_of(20), saved.save());
  FakeSource source(/*live=*/false, frames(50));
  FakeClassifier classifier([&trace, &classifier](int call) {
    EXPECT_EQ(classifier.frame().sequence, static_cast<std::uint64_t>(call));
    EXPECT_EQ(classifier.frame().trace, call < 20 ? &trace : nullptr);
  });
  PipelineOptions options;
  options.trace = &trace;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, {}, options, stop);
  trace.finish();

  std::map<int, std::string> threads;
  for (const Json& event : saved.events("M")) threads[event["tid"]] = event["args"]["name"];
  std::map<std::string, std::set<std::string>> stages;  // of a thread
  std::map<int, std::vector<std::string>> of_frame;
  std::map<int, double> end_on_thread;
  for (const Json& slice : saved.events("X")) {
    stages[threads[slice["tid"]]].insert(slice["name"]);
    of_frame[slice["args"]["frame"]].push_back(slice["name"]);
    double& end = end_on_thread[slice["tid"]];
    EXPECT_GE(slice["ts"].get<double>(), end) << "stages do not overlap: " << slice;
    end = slice["ts"].get<double>() + slice["dur"].get<double>();
  }
  EXPECT_EQ(stages["capture"], (std::set<std::string>{"capture"}));
  EXPECT_EQ(stages["main"], (std::set<std::string>{"preprocess", "inference", "top-k", "report"}));
  for (int frame = 0; frame < 20; ++frame) {
    std::sort(of_frame[frame].begin(), of_frame[frame].end());
    EXPECT_EQ(of_frame[frame],
              (std::vector<std::string>{"capture", "inference", "preprocess", "report", "top-k"}));
  }
  for (const Json& slice : saved.events("X")) {
    EXPECT_TRUE(slice["args"].contains("cpu_us")) << slice;
  }
  EXPECT_EQ(saved.events("b").size(), 20U);
  EXPECT_EQ(saved.events("e").size(), 20U);
}

TEST(Trace, OfWorkersHasEveryStageOfAFrameOnOneOfThem) {
  Saved saved;
  Trace trace(frames_of(40), saved.save());
  FakeSource source(/*live=*/false, frames(60));
  FakeClassifier one;
  FakeClassifier other;
  PipelineOptions options;
  options.trace = &trace;
  const std::atomic<bool> stop{false};
  run_pipeline(source, lent({&one, &other}), {}, options, stop);
  trace.finish();

  std::map<int, std::string> threads;
  for (const Json& event : saved.events("M")) threads[event["tid"]] = event["args"]["name"];
  std::map<int, std::set<std::string>> classified_by;
  std::map<std::string, int> stages;
  for (const Json& slice : saved.events("X")) {
    ++stages[slice["name"]];
    const std::string& thread = threads[slice["tid"]];
    if (slice["name"] == "report") {
      EXPECT_EQ(thread, "main");
    } else if (slice["name"] != "capture") {
      EXPECT_EQ(thread.rfind("worker-", 0), 0U) << thread;
      classified_by[slice["args"]["frame"]].insert(thread);
    }
  }
  EXPECT_EQ(trace.frames(), 40U);
  for (const char* stage : {"preprocess", "inference", "top-k", "report"}) {
    EXPECT_EQ(stages[stage], 40) << stage;
  }
  for (const auto& [frame, workers] : classified_by) EXPECT_EQ(workers.size(), 1U) << frame;
  EXPECT_EQ(saved.steps().size(), 40U);
  for (const Json& step : saved.steps()) {
    EXPECT_EQ(threads[step["tid"]], *classified_by[step["args"]["frame"]].begin());
  }
}

}  // namespace
}  // namespace lookout
