#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/onnx/onnx_classifier.h"
#include "pipeline/run/scheduling.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_load.h"

namespace lookout {
namespace {

// A layer that takes all threads some time.
std::unique_ptr<Classifier> open(int threads) {
  constexpr int kSide = 32;
  constexpr std::size_t kLabels = 256;
  OnnxFile file;
  file.input = {1, 3, kSide, kSide};
  file.weights.assign(kLabels, std::vector<float>(3 * kSide * kSide, 0.5F));
  file.biases.assign(kLabels, 0);
  const TempDir directory;
  directory.write("model.onnx", file.bytes());
  ClassifierOptions options;
  options.threads = threads;
  options.labels.emplace(kLabels, "label");
  return std::move(open_onnx_models(ModelArchive(directory / "model.onnx"), options, 1).front());
}

TEST(OnnxThreads, NoMoreThreadsAreBusyThanAskedFor) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto busy = [](int threads) {
    const auto model = open(threads);
    _exit(busy_threads(*model));
  };
  EXPECT_EXIT(busy(1), testing::ExitedWithCode(1), "");
  const auto max_two = [](int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) >= 1 && WEXITSTATUS(status) <= 2;
  };
  EXPECT_EXIT(busy(2), max_two, "");
}

// Waits until there are so many: a thread takes its name when it first runs.
std::set<int> threads_of_sessions(std::size_t count) {
  std::set<int> threads;
  while (threads.size() < count) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::ifstream(task.path() / "comm") >> name;
      if (name == "onnx") threads.insert(std::stoi(task.path().filename()));
    }
  }
  return threads;
}

// A run loads a model that replaces another one at a low priority, and classifies at its own.
TEST(OnnxThreads, HaveTheProcesssPriorityWhoeverLoadsTheModel) {
  const auto first = open(2);
  std::unique_ptr<Classifier> model;
  std::thread([&model] {
    lower_this_thread_priority();
    model = open(3);
  }).join();
  std::vector<int> priorities;
  for (const int thread : threads_of_sessions(3)) {
    priorities.push_back(getpriority(PRIO_PROCESS, static_cast<id_t>(thread)));
  }
  EXPECT_EQ(priorities, std::vector<int>(3, getpriority(PRIO_PROCESS, 0)));
}

TEST(OnnxThreads, SleepBetweenRuns) { EXPECT_LT(work_of_others(*open(2)), 0.4); }

}  // namespace
}  // namespace lookout
