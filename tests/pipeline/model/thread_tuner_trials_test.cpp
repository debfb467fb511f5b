// How often trials of several threads are repeated while they fail.
#include <gtest/gtest.h>

#include "pipeline/model/thread_tuner.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

// On a machine where two threads are slower than one.
int trials(ThreadTuner& tuner, int inferences) {
  int trials = 0;
  int before = tuner.threads();
  for (int i = 0; i < inferences; ++i) {
    tuner.record(milliseconds(tuner.threads() == 1 ? 100 : 150));
    if (before == 1 && tuner.threads() > 1) ++trials;
    before = tuner.threads();
  }
  return trials;
}

TEST(ThreadTuner, TrialsThatFailBecomeRareButDoNotEnd) {
  ThreadTuner tuner(
      2, ThreadTuner::Start::kTryAll, [] { return 2.0; }, std::chrono::seconds(100));
  while (tuner.starting()) tuner.record(milliseconds(tuner.threads() == 1 ? 100 : 150));
  ASSERT_EQ(tuner.threads(), 1);
  EXPECT_EQ(trials(tuner, 20'000), 6);  // after 300, 600, 1200, ... 9600 inferences
  EXPECT_EQ(trials(tuner, 20'000), 2);  // and then after 9600 each
}

}  // namespace
}  // namespace lookout
