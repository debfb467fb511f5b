#include "pipeline/torch/torch_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "paths.h"
#include "pipeline/torch/torch_classifier.h"
#include "tests/support/thread_load.h"

namespace lookout {
namespace {

using TorchThreads = testing::TestWithParam<std::string>;

// Runs in a process of its own: pools of other tests would count.
int busy_threads_of(const std::string& archive, int threads) {
  ClassifierOptions options;
  options.threads = threads;
  const auto classifier = open_torch_model(ModelArchive(archive), options);
  return busy_threads(*classifier);
}

TEST_P(TorchThreads, NoMoreThreadsAreBusyThanAskedFor) {
  if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(_exit(busy_threads_of(GetParam(), 1)), testing::ExitedWithCode(1), "");
  if (GetParam().find("float") != std::string::npos) return;
  const auto max_two = [](int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) >= 1 && WEXITSTATUS(status) <= 2;
  };
  EXPECT_EXIT(_exit(busy_threads_of(GetParam(), 2)), max_two, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, TorchThreads,
    testing::Values(LOOKOUT_SELFTEST,
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_qnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_xnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_float.pt"),
    [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace
}  // namespace lookout
