#include "pipeline/archive/foreign_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lookout {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(ForeignNames, PythonsEscapesAreDecoded) {
  const json value = parse_literal(
      R"({0: 'r\xa0d', 1: 'gr\u200ben', 2: "it's", 3: 'it\'s', 4: 'a\\b', 5: 'a\tb\nc\rd',)"
      R"( 6: '\U0001f469\u200d\U0001f52c', 7: 'a\qb', 8: 'say "a"', 9: '{1: (', 10: 'ä'})");
  EXPECT_THAT(names_of(value),
              ElementsAre("r\u00a0d", "gr\u200ben", "it's", "it's", "a\\b", "a\tb\nc\rd",
                          "\U0001f469\u200d\U0001f52c", "a\\qb", "say \"a\"", "{1: (", "ä"));
}

TEST(ForeignNames, LiteralsBecomeJson) {
  for (const auto& [text, expected] : std::vector<std::pair<const char*, const char*>>{
           {"(64, 64)", "[64, 64]"},
           {"(64,)", "[64]"},
           {"()", "[]"},
           {"{}", "{}"},
           {"64", "64"},
           {"[0.485, -1, 1e-3]", "[0.485, -1, 0.001]"},
           {"{'mean': (0.5, 0.5, 0.5), 'fixed': False, 'pool': None, 'x': True,}",
            R"({"mean": [0.5, 0.5, 0.5], "fixed": false, "pool": null, "x": true})"},
           {"{True: [[],{}], 1.5: ''}", R"({"true": [[], {}], "1.5": ""})"},
           {R"({"a": "\u00e4\/"})", R"({"a": "ä/"})"}}) {  // JSON's own escapes
    EXPECT_EQ(parse_literal(text), json::parse(expected)) << text;
  }
  for (const char* text : {"", "(", "(1, 2", "{0: 'a}", "{'a'}", "a", "[1 2]", "'\\x4'", "'\\u12'",
                           "'\\UFFFFFFFF'", "[1], [2]", "lambda: 0", "[1,,2]"}) {
    EXPECT_TRUE(parse_literal(text).is_discarded()) << text;
  }
  EXPECT_TRUE(parse_literal(std::string(100'000, '(')).is_discarded());
  EXPECT_TRUE(parse_literal(std::string(17, '(') + "1" + std::string(17, ')')).is_discarded());
}

TEST(ForeignNames, MayBeNumbersAndInAnyOrder) {
  EXPECT_THAT(names_of(parse_literal("{2: 30, 0: 10, 1: 2.5}")), ElementsAre("10", "2.5", "30"));
  EXPECT_THAT(names_of(parse_literal("{'b': 1, 'a': 0}")), ElementsAre("a", "b"));
  EXPECT_THROW(names_of(parse_literal("{0: 'a', 18446744073709551615: 'b'}")), std::runtime_error);
  EXPECT_THROW(names_of(parse_literal("{-1: 'a', 0: 'b'}")), std::runtime_error);
}

// torchvision and Keras sort folders as texts, also those that are called by numbers.
TEST(ForeignNames, NamesThatAreNumbersHaveTheNumbersOfTheirPlaces) {
  const char* const sorted =
      R"({"0": 0, "1": 1, "10": 2, "2": 3, "3": 4, "4": 5, "5": 6, "6": 7, "7": 8, "8": 9, "9": 10})";
  const auto places = ElementsAre("0", "1", "10", "2", "3", "4", "5", "6", "7", "8", "9");
  EXPECT_THAT(names_of(parse_literal(sorted)), places);
  EXPECT_THAT(names_of(parse_literal(std::string(R"({"class_to_idx": )") + sorted + "}")), places);
  EXPECT_THAT(names_of(parse_literal(R"({"30": 0, "50": 1})")), ElementsAre("30", "50"));
  EXPECT_THAT(names_of(parse_literal(R"({"0": 1, "1": 0})")), ElementsAre("1", "0"))
      << "either way";
  EXPECT_THROW(names_of(parse_literal(R"({"0": 1, "1": 2, "2": 0})")), std::runtime_error);
}

}  // namespace
}  // namespace lookout
