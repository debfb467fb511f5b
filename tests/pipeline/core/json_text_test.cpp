#include "pipeline/core/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace lookout {
namespace {

TEST(JsonText, ATextThatIsNoJsonIsDiscarded) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2]})"), nlohmann::json({{"a", {1, 2}}}));
  for (const char* text : {"", "{", "[1, 2", "{} {}", "words"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

std::string nested(int levels) {
  const auto count = static_cast<std::size_t>(levels);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(JsonText, DeepValuesAreRefused) {
  bool too_deep = false;
  EXPECT_EQ(parse_json(nested(kMaxJsonDepth), too_deep).dump(), nested(kMaxJsonDepth));
  EXPECT_FALSE(too_deep);
  for (const int levels : {kMaxJsonDepth + 1, 100'000}) {
    too_deep = false;
    EXPECT_TRUE(parse_json(nested(levels), too_deep).is_discarded()) << levels;
    EXPECT_TRUE(too_deep) << levels;
    EXPECT_TRUE(parse_ordered_json("{\"b\": " + nested(levels) + "}").is_discarded()) << levels;
  }
  too_deep = false;
  EXPECT_TRUE(parse_json("{", too_deep).is_discarded());
  EXPECT_FALSE(too_deep);
}

TEST(JsonText, KeysKeepTheirOrderWhenAsked) {
  EXPECT_EQ(parse_ordered_json(R"({"b": 1, "a": [2]})").dump(), R"({"b":1,"a":[2]})");
}

struct Elements {
  bool complete = false;
  std::string read;
};

Elements elements_of(const std::string& text) {
  Elements elements;
  std::istringstream stream(text);
  elements.complete = for_each_element(stream, [&elements](const nlohmann::json& element) {
    elements.read += element.dump() + ' ';
  });
  return elements;
}

TEST(JsonText, TheElementsOfAnArrayAreReadOneByOne) {
  const Elements whole = elements_of(R"([1, {"a": [2, {}]}, [[3]], "b", null])");
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.read, R"(1 {"a":[2,{}]} [[3]] "b" null )");
  EXPECT_TRUE(elements_of("[]").complete);
  const Elements cut = elements_of("[1, 2, {");
  EXPECT_FALSE(cut.complete);
  EXPECT_EQ(cut.read, "1 2 ");
  for (const std::string& text : {std::string(R"({"a": [1]})"), std::string("1"), std::string(),
                                  "[" + nested(100'000) + "]"}) {
    const Elements none = elements_of(text);
    EXPECT_FALSE(none.complete) << text.substr(0, 20);
    EXPECT_EQ(none.read, "") << text.substr(0, 20);
  }
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
