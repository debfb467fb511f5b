// What limits a run, as trace-summary says from a trace of it.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

Json printed_summary_of(const std::string& file) {
  const ProgramResult result = run_lookout({"trace-summary", file, "--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? Json::parse(result.out) : Json();
}

// Runs until the trace has its frames.
Json trace_of(const TempDir& directory, std::vector<std::string> arguments, int frames) {
  const std::string file = directory / "trace.json";
  for (const std::string& more : {std::string("--trace"), file, std::string("--set"),
                                  "profile.trace-frames=" + std::to_string(frames)}) {
    arguments.push_back(more);
  }
  Program program(arguments);
  EXPECT_TRUE(program.wait_for("trace: " + std::to_string(frames) + " frames")) << program.err();
  kill(program.pid(), SIGTERM);
  program.finish();
  return printed_summary_of(file);
}

// While it lives, this thread, and what it starts, share one processor with busy threads.
class BusyProcessor {
 public:
  BusyProcessor() {
    CPU_ZERO(&before_);
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    }
    if (sched_setaffinity(0, sizeof one, &one) != 0) return;
    for (int i = 0; i < 3; ++i) {
      threads_.emplace_back([this] {
        while (!stop_) continue;
      });
    }
  }
  ~BusyProcessor() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }
  BusyProcessor(const BusyProcessor&) = delete;
  BusyProcessor& operator=(const BusyProcessor&) = delete;

  bool busy() const { return !threads_.empty(); }

 private:
  cpu_set_t before_{};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(TraceOfARun, ASlowCameraIsTheLimit) {
  const TempDir directory;
  // So slow that frames are waited for on a busy machine, too, under AddressSanitizer.
  const Json summary = trace_of(directory, {"test://all?fps=2"}, 5);
  EXPECT_EQ(summary["verdict"]["limit"], "camera") << summary["verdict"];
}

TEST(TraceOfARun, ProcessorsThatOthersTookAreTheLimit) {
  const TempDir directory;
  const BusyProcessor busy;
  if (!busy.busy()) GTEST_SKIP() << "threads cannot be bound to a processor here";
  const Json summary = trace_of(directory, {"test://all?fps=0&frames=1000", "--threads", "1"}, 60);
  EXPECT_EQ(summary["verdict"]["limit"], "processor") << summary["verdict"];
}

void expect_near(double sum, double whole) { EXPECT_NEAR(sum, whole, std::abs(whole) * 1e-3); }

TEST(TraceOfARun, ThePartsAddUp) {
  const TempDir directory;
  const Json summary =
      trace_of(directory,
               {"test://all?fps=0&frames=1000", "--set", "model.workers=2", "--threads", "1"}, 40);
  ASSERT_EQ(summary["threads"].size(), 4U) << "main, capture and two workers";
  for (const Json& thread : summary["threads"]) {
    double idle = 0;
    for (const Json& part : thread["idle_ms"]) idle += part.get<double>();
    double busy = 0;
    for (const Json& stage : thread["stages"]) {
      busy += stage["ran_ms"].get<double>() + stage["not_run_ms"].get<double>() +
              stage["writer_ms"].get<double>();
    }
    const double whole = summary["duration_ms"];
    expect_near(busy, thread["busy_ms"]);
    expect_near(busy + idle, whole);
  }
  for (const Json& frame : summary["each_frame"]) {
    double sum = 0;
    for (const Json& part : frame["parts_ms"]) sum += part.get<double>();
    expect_near(sum, frame["total_ms"]);
    EXPECT_GE(frame["parts_ms"]["between"], 0);
  }
}

TEST(TraceOfARun, HasCountersOfFramesAndOfTheMachine) {
  const TempDir directory;
  const Json summary = trace_of(directory, {"test://all?fps=0&frames=1000"}, 20);
  std::map<std::string, Json> counters;
  for (const Json& counter : summary["counters"]) counters[counter["name"]] = counter;
  for (const char* name : {"double buffer", "with workers", "dropped", "resident memory"}) {
    ASSERT_EQ(counters.count(name), 1U) << name;
  }
  EXPECT_EQ(counters["double buffer"]["max"], 1);
  EXPECT_EQ(counters["with workers"]["max"], 1);
  EXPECT_EQ(counters["dropped"]["max"], 0);
  EXPECT_GT(counters["resident memory"]["min"], 10) << "megabytes";
}

// A trace of PyTorch itself, as its users make one.
TEST(TraceOfPyTorch, HasItsStepsAndOperators) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch.profiler' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no PyTorch for " << python;
  }
  const TempDir directory;
  const std::string file = directory / "torch.json";
  const std::string script = directory.write("trace.py", R"(
import sys, torch
from torch.profiler import ProfilerActivity, profile, schedule
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
steps = schedule(wait=1, warmup=1, active=4)
with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], schedule=steps) as profiler:
    for _ in range(6):
        net(torch.zeros(1, 3, 32, 32))
        profiler.step()
profiler.export_chrome_trace(sys.argv[1])
)");
  ASSERT_EQ(std::system((python + " " + script + " " + file + " >&2").c_str()), 0);
  const Json summary = printed_summary_of(file);
  EXPECT_TRUE(summary["by_pytorch"]);
  EXPECT_EQ(summary["frames"], 4);
  std::set<std::string> names;
  for (const Json& row : summary["operators"]) names.insert(row["name"]);
  EXPECT_EQ(names.count("aten::conv2d"), 1U);
  EXPECT_EQ(names.count("aten::relu"), 1U);
}

}  // namespace
}  // namespace lookout
