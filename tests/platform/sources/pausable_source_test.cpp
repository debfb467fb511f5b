#include "platform/sources/pausable_source.h"

#include <gtest/gtest.h>

#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

TEST(PausableSource, IsClosedWhileItIsPausedAndThenOpenedAgain) {
  const auto paused = std::make_shared<std::atomic<bool>>(false);
  int open = 0;
  const auto counted = [&open] {
    class Counted : public FakeSource {
     public:
      explicit Counted(int& open) : FakeSource(true, frames(1000)), open_(open) { ++open_; }
      ~Counted() override { --open_; }

     private:
      int& open_;
    };
    return std::make_unique<Counted>(open);
  };
  const WakeEvent wake;
  PausableSource source(counted(), counted, paused, &wake);
  EXPECT_EQ(source.info().name, "fake");
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_TRUE(source.online());
  *paused = true;
  EXPECT_EQ(source.read(frame, std::chrono::milliseconds(1)), ReadStatus::kTimeout);
  EXPECT_EQ(open, 0);
  EXPECT_FALSE(source.online());
  EXPECT_TRUE(source.idle());
  *paused = false;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout) << "opened";
  EXPECT_FALSE(source.idle());
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(open, 1);
  EXPECT_TRUE(source.online());
}

}  // namespace
}  // namespace lookout
