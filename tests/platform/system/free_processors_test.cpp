#include "platform/system/process_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

class Stat : public testing::Test {
 protected:
  Stat() { std::filesystem::create_directories(directory_.path() / "proc"); }

  // Of four processors, in seconds: what programs took, what was idle, and what disks were waited
  // for.
  void write(int taken, int idle, int waiting) {
    const long tick = sysconf(_SC_CLK_TCK);
    std::ofstream(directory_.path() / "proc/stat")
        << "cpu  " << taken * tick << " 0 0 " << idle * tick << " " << waiting * tick
        << " 0 0 0 0 0\ncpu0 1 2\ncpu1 1 2\ncpu2 1 2\ncpu3 1 2\nintr 7\n";
  }

  TempDir directory_;
  double own_ = 0;
};

TEST_F(Stat, WhatIsIdleOrOursIsFreeSinceTheLastCall) {
  write(10, 70, 20);
  FreeProcessors free(directory_.path(), [this] { return own_; });
  own_ = 2;
  write(15, 83, 22);  // 20 s, 5 of them taken, 2 of those by us
  EXPECT_DOUBLE_EQ(free(), 4 * 17.0 / 20);
  write(35, 83, 22);  // all taken by others
  EXPECT_DOUBLE_EQ(free(), 0);
}

TEST_F(Stat, WithoutTheFileNoneIsFree) {
  FreeProcessors free(directory_.path());
  EXPECT_DOUBLE_EQ(free(), 0);
}

}  // namespace
}  // namespace lookout
