#include "platform/system/percent_encoding.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

TEST(PercentEncoding, KeepsLettersDigitsAndAFewMarks) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a b&c=@:/%ä"), "a%20b%26c%3D%40%3A%2F%25%C3%A4");
}

TEST(PercentEncoding, IsUndone) {
  EXPECT_EQ(percent_decoded("color%20bars+x"), "color bars+x");
  EXPECT_EQ(percent_decoded("%c3%A4"), "ä");
  for (const char* plain : {"", "%", "50%", "%4", "%zz", "%-1", "% 1"}) {
    EXPECT_EQ(percent_decoded(plain), plain);
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(percent_decoded(percent_encoded(all)), all);
}

}  // namespace
}  // namespace lookout
