#include "pipeline/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace lookout {
namespace {

TEST(JsonText, ATextThatIsNoJsonIsDiscarded) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2]})"), nlohmann::json({{"a", {1, 2}}}));
  for (const char* text : {"", "{", "[1, 2", "{} {}", "words"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

TEST(JsonText, DeepValuesAreLeftOut) {
  bool too_deep = false;
  EXPECT_EQ(parse_json("[[1]]", 2, too_deep).dump(), "[[1]]");
  EXPECT_FALSE(too_deep);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  parse_json(deep, 2, too_deep);
  EXPECT_TRUE(too_deep);
}

TEST(JsonText, IsOnOneLineOrIndented) {
  EXPECT_EQ(to_text(nlohmann::json({{"b", 1}, {"a", "x"}})), R"({"a":"x","b":1})");
  const nlohmann::ordered_json ordered{{"b", 1}, {"a", "x"}};
  EXPECT_EQ(to_text(ordered), R"({"b":1,"a":"x"})");
  EXPECT_EQ(to_text(ordered, 2), "{\n  \"b\": 1,\n  \"a\": \"x\"\n}");
}

TEST(JsonText, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(to_json("a\xff\"\n"), "\"a\xef\xbf\xbd\\\"\\n\"");
  EXPECT_EQ(to_text(nlohmann::json("\xff")), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace lookout
