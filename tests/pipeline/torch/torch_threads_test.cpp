#include "pipeline/torch/torch_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "paths.h"
#include "pipeline/torch/torch_classifier.h"

namespace lookout {
namespace {

using TorchThreads = testing::TestWithParam<std::string>;

// CPU time of each thread of this process, in clock ticks; proc(5), fields utime and stime.
std::map<std::string, long> thread_ticks() {
  std::map<std::string, long> ticks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    ticks[task.path().filename()] = user + system;
  }
  return ticks;
}

// While classifying, not while loading. Runs in a process of its own: pools of other tests would
// count.
int busy_threads(const std::string& archive, int threads) {
  ClassifierOptions options;
  options.threads = threads;
  TorchClassifier classifier(ModelArchive(archive), options);
  ImageTensor image;
  image.width = classifier.spec().input.width;
  image.height = classifier.spec().input.height;
  image.values.resize(static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.height) * 3);
  std::vector<float> logits;
  const std::map<std::string, long> before = thread_ticks();
  long all = 0;
  std::map<std::string, long> ticks;
  while (all < 100) {  // a second of work in clock ticks
    for (int i = 0; i < 20; ++i) classifier.classify(image, {}, logits);
    ticks = thread_ticks();
    all = 0;
    for (auto& [thread, t] : ticks) {
      const auto known = before.find(thread);
      if (known != before.end()) t -= known->second;
      all += t;
    }
  }
  return static_cast<int>(std::count_if(ticks.begin(), ticks.end(),
                                        [all](const auto& t) { return t.second * 20 > all; }));
}

TEST_P(TorchThreads, NoMoreThreadsAreBusyThanAskedFor) {
  if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(_exit(busy_threads(GetParam(), 1)), testing::ExitedWithCode(1), "");
  if (GetParam().find("float") != std::string::npos) return;
  const auto max_two = [](int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) >= 1 && WEXITSTATUS(status) <= 2;
  };
  EXPECT_EXIT(_exit(busy_threads(GetParam(), 2)), max_two, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, TorchThreads,
    testing::Values(std::string(LOOKOUT_MODELS) + "/selftest.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_qnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_xnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_float.pt"),
    [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace
}  // namespace lookout
