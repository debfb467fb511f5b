#include "app/model/label_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> parsed(const std::string& text, const std::string& extension = ".txt") {
  return parse_label_file(text, extension);
}

TEST(LabelFile, BlanksAroundLabelsAndEmptyLinesAtTheEndGo) {
  for (const char* text :
       {"red\ngreen\nblue", "red\ngreen\nblue\n\n", "red \n green\nblue\t\n", "red\rgreen\rblue\r",
        "red\r\ngreen\r\nblue\r\n\r\n \r\n", "\xEF\xBB\xBFred\ngreen\nblue\n  \n\t\n"}) {
    EXPECT_THAT(parsed(text), ElementsAre("red", "green", "blue")) << text;
  }
  EXPECT_THAT(parsed("hot dog \n[unknown]\nnames of dogs\n"),
              ElementsAre("hot dog", "[unknown]", "names of dogs"));
  expect_error(ErrorKind::kBadData, HasSubstr("line 2 of the labels is empty"),
               [] { parsed("red\n \nblue\n"); });
  expect_error(ErrorKind::kBadData, HasSubstr("the labels are empty"), [] { parsed(" \n\n"); });
}

TEST(LabelFile, NumbersBeforeTheLabelsGo) {
  for (const char* text :
       {"0 red\n1 green\n2 blue\n", "0  red\n1  green\n2  blue", "0\tred\n1\tgreen\n2\tblue\n",
        "0: red\n1: green\n2: blue\n", "0,red\n1,green\n2,blue\n", "1 red\n2 green\n3 blue\n\n"}) {
    EXPECT_THAT(parsed(text), ElementsAre("red", "green", "blue")) << text;
  }
  EXPECT_THAT(parsed("0 red\n"), ElementsAre("red"));
}

TEST(LabelFile, NumbersThatArePartsOfNamesStay) {
  EXPECT_THAT(parsed("1 euro\n2 euro\n"), ElementsAre("1 euro", "2 euro"));
  EXPECT_THAT(parsed("1 cat\n"), ElementsAre("1 cat"));
  EXPECT_THAT(parsed("0\n1\n2\n"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(parsed("0 red\n2 green\n"), ElementsAre("0 red", "2 green"));
  EXPECT_THAT(parsed("0 red\ngreen\n"), ElementsAre("0 red", "green"));
  EXPECT_THAT(parsed("00 red\n01 green\n"), ElementsAre("00 red", "01 green"));
}

TEST(LabelFile, JsonIsReadAsWhatItIs) {
  for (const char* text :
       {R"(["red", "green", "blue"])", R"({"0": "red", "1": "green", "2": "blue"})",
        R"({"2": "blue", "0": "red", "1": "green"})",
        "{\n\"0\": [\"n01\", \"red\"],\n\"1\": [\"n02\", \"green\"],\n\"2\": [\"n03\", \"blue\"]}",
        R"({"red": 0, "blue": 2, "green": 1})", R"({"names": {"0":"red","1":"green","2":"blue"}})",
        R"({"model_type": "vit", "id2label": {"0":"red","1":"green","2":"blue"},
            "label2id": {"red": 0}})",
        R"({"tmVersion": "2.4", "labels": ["red", "green", "blue"], "imageSize": 224})",
        R"({"label_names": ["n1", "n2", "blue"],
            "label_descriptions": {"n1": "red", "n2": "green"}})",
        "\xEF\xBB\xBF\n [\"red\",\n\"green\",\n\"blue\"]\n", "{0: 'red', 1: 'green', 2: 'blue'}",
        "['red', 'green', 'blue']"}) {
    EXPECT_THAT(parsed(text), ElementsAre("red", "green", "blue")) << text;
  }
  EXPECT_THAT(parsed("[1, 2.5]"), ElementsAre("1", "2.5"));
  std::string many = "{";
  for (int i = 0; i < 12; ++i) many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"a\"";
  EXPECT_EQ(parsed(many + "}").size(), 12U);
}

TEST(LabelFile, YamlIsReadAsWhatItIs) {
  for (const char* text :
       {"names:\n  0: red\n  1: green\n  2: blue\n", "names:\n- red\n- green\n- blue\n",
        "# data\npath: ../x\ntrain: images\nnc: 3\nnames: [red, 'green', \"blue\"]\n",
        "nc: 3\r\nnames: {0: red, 1: green, 2: blue}\r\n", "---\nnames: [red, green, blue]\n...\n",
        "names:  # three\n  0: red\n\n  1: green  # grass\n  2: \"bl\\u0075e\"\n"}) {
    EXPECT_THAT(parsed(text), ElementsAre("red", "green", "blue")) << text;
    EXPECT_THAT(parsed(text, ".yaml"), ElementsAre("red", "green", "blue")) << text;
  }
  EXPECT_THAT(parsed("- red\n- green\n", ".yml"), ElementsAre("red", "green"));
  EXPECT_THAT(parsed("0: red\n1: green\n", ".yaml"), ElementsAre("red", "green"));
  EXPECT_THAT(parsed("ants: 0\nbees: 1\n", ".yaml"), ElementsAre("ants", "bees"));
  // Not numbers, and not true and false.
  EXPECT_THAT(parsed("names: [007, yes, 'no', 3.10]\n"), ElementsAre("007", "yes", "no", "3.10"));
}

TEST(LabelFile, WhatCannotBeReadIsRefusedInASentence) {
  const std::string deep = std::string(100'000, '[');
  for (const auto& [text, named] : std::vector<std::pair<std::string, std::string>>{
           {R"({"0": "red", "2": "blue"})", "have no number 1, though they are 2"},
           {R"({"1": "red", "2": "blue"})", "have no number 0"},
           {R"({"red": 0, "blue": 0})", "have no number 1"},
           {R"({"red": "0"})", "no list of names, and no map of numbers and names"},
           {"[]", "no list of names"},
           {"{}", "no list of names"},
           {R"([["a", "b", "c"]])", "have no name for number 0"},
           {R"({"0": null})", "have no name for number 0"},
           {R"(["red", ""])", "have a name for number 1 that is empty"},
           {R"(["a\u0000b"])", "that has a NUL character"},
           {R"(["red", "green)", "begin like JSON, but cannot be read as it: one label a line"},
           {"{\"names\": {\"0\":\"red\"}}\n# x\ny", "begin like JSON"},
           {deep, "begin like JSON"},
           {"item {\n  id: 1\n  name: \"red\"\n}\n", "have a line \"item {\": one label a line"},
           {"names:\n  0: red\n  2: blue\n", "have no number 1"},
           {"names: [red\n", "are no YAML that can be read (line "},
           {"names: " + deep, "deeper than 16"},
           {"names: " + std::string(30, '[') + std::string(30, ']'), "deeper than 16"},
           {"a: &a [x]\nnames: *a\n", "have an alias"},
           {"names:\n", "no list of names"},
           {"names: [~, '']\n", "name for number 1 that is empty"},
           {"r\xe9\x64\n", "line 1 of the labels is not UTF-8"}}) {
    expect_error(ErrorKind::kBadData, HasSubstr(named), [&text = text] { parsed(text); });
  }
}

}  // namespace
}  // namespace lookout
