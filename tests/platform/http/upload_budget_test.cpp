#include "platform/http/upload_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace lookout {
namespace {

TEST(UploadBudget, AnAddressHasItsShareAndAllTogetherTheSum) {
  UploadBudget budget(100, 40);
  EXPECT_TRUE(budget.take("a", 40));
  EXPECT_FALSE(budget.take("a", 1));
  EXPECT_TRUE(budget.take("b", 40));
  EXPECT_TRUE(budget.take("c", 20));
  EXPECT_FALSE(budget.take("d", 1));
  budget.give_back("a", 10);
  EXPECT_TRUE(budget.take("d", 10));
  EXPECT_FALSE(budget.take("a", 1)) << "all together have taken the sum";
}

TEST(UploadBudget, AUnixSocketHasTheSumAlone) {
  UploadBudget budget(100, 40);
  EXPECT_TRUE(budget.take("", 100));
  budget.give_back("", 100);
  EXPECT_TRUE(budget.take("a", 40));
}

TEST(UploadBudget, NumbersDoNotOverflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  UploadBudget budget(kMost, kMost);
  EXPECT_TRUE(budget.take("a", kMost - 1));
  EXPECT_FALSE(budget.take("a", 2));
  EXPECT_FALSE(budget.take("b", kMost));
  EXPECT_TRUE(budget.take("b", 1));
}

TEST(UploadBudget, AShareGrowsAndIsGivenBackAtItsEnd) {
  const auto budget = std::make_shared<UploadBudget>(100, 40);
  {
    UploadShare share(budget, "a");
    EXPECT_TRUE(share.grow_to(30));
    EXPECT_TRUE(share.grow_to(40));
    EXPECT_FALSE(share.grow_to(41));
    EXPECT_TRUE(share.grow_to(40));
    EXPECT_FALSE(budget->take("a", 1));
  }
  EXPECT_TRUE(budget->take("a", 40));
  EXPECT_TRUE(budget->take("b", 40));
  EXPECT_TRUE(budget->take("c", 20));
}

}  // namespace
}  // namespace lookout
