#include "platform/system/parse_number.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

TEST(ParseNumber, TheWholeTextHasToBeANumberThatFits) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("0.5"), 0.5);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "2147483648"}) {
    EXPECT_FALSE(parse_number<int>(text)) << text;
  }
  EXPECT_FALSE(parse_number<unsigned>("-1"));
}

TEST(ParseNumber, ALeadingNumberMayBeFollowedByAnything) {
  EXPECT_EQ(parse_leading_number<int>("3906940 kB"), 3906940);
  EXPECT_EQ(parse_leading_number<unsigned>("5000f\n", 16), 0x5000FU);
  EXPECT_FALSE(parse_leading_number<int>("kB 3906940"));
}

}  // namespace
}  // namespace lookout
