#include "app/dataset/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lookout {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const ClassNames& names() {
  static const ClassNames made({"tench, Tinca tinca", "goldfish", "crane", "crane", "Siamese cat",
                                "1", "n07745940 strawberry", "Bär",
                                "great white shark, white shark"});
  return made;
}

constexpr auto kNone = std::nullopt;

TEST(ClassNames, TheLabelItself) {
  EXPECT_EQ(names().find("goldfish"), 1U);
  EXPECT_EQ(names().find("tench, Tinca tinca"), 0U);
  EXPECT_EQ(names().find("1"), 5U) << "a label, although it is an index too";
}

TEST(ClassNames, ItsIndex) {
  EXPECT_EQ(names().find("0"), 0U);
  EXPECT_EQ(names().find("3"), 3U);
  EXPECT_EQ(names().find("004"), 4U);
  EXPECT_EQ(names().find(" 4 "), 4U);
}

TEST(ClassNames, AnIndexIsNoneAmongLabelsThatAreNumbers) {
  const ClassNames from_one({"1", "2", "3"});
  EXPECT_EQ(from_one.find("1"), 0U);
  EXPECT_EQ(from_one.find("0"), std::nullopt);
}

TEST(ClassNames, AsImageNetsFilesAreCalled) {
  EXPECT_EQ(names().find("n01443537_goldfish"), 1U);
  EXPECT_EQ(names().find("n02123597_Siamese_cat"), 4U);
  EXPECT_EQ(names().find("n07745940"), 6U);
  EXPECT_EQ(names().find("tench"), 0U);
  EXPECT_EQ(names().find("great white shark"), 8U);
  EXPECT_EQ(names().find("white shark"), kNone) << "the label does not begin with it";
}

TEST(ClassNames, CaseAndBlanksAroundDoNotMatter) {
  EXPECT_EQ(names().find(" Goldfish\t"), 1U);
  EXPECT_EQ(names().find("siamese CAT"), 4U);
  EXPECT_EQ(names().find("TENCH"), 0U);
  EXPECT_EQ(names().find("n02123597_siamese_cat"), 4U);
  EXPECT_EQ(names().find("BÄR"), 7U);
  EXPECT_EQ(names().find("Ba\xCC\x88r"), 7U) << "a file system may take letters apart";
}

TEST(ClassNames, TheExactLabelWinsOverOneOfAnotherCase) {
  const ClassNames both({"Crane", "crane", "boxer"});
  EXPECT_EQ(both.find("crane"), 1U);
  EXPECT_EQ(both.find("Crane"), 0U);
  EXPECT_EQ(both.find("CRANE"), kNone);
  EXPECT_THAT(both.problem("CRANE"), HasSubstr("more than one label, 0 and 1"));
}

TEST(ClassNames, OthersAreNone) {
  for (const char* name : {"9", "-1", "", " ", "gold", "n01443537_gold", "\xFF", "fish"}) {
    EXPECT_EQ(names().find(name), kNone) << name;
    EXPECT_THAT(names().problem(name), HasSubstr("is none of the model's 9 labels")) << name;
  }
}

TEST(ClassNames, NamesOfAnyLengthAreCompared) {
  const std::string longest = "n01234567_" + std::string(1'000'000, 'a');
  EXPECT_EQ(names().find(longest), kNone);
  EXPECT_THAT(names().problem(longest), HasSubstr("is none of the model's 9 labels"));
}

TEST(ClassNames, ANearNameIsTold) {
  EXPECT_EQ(names().problem("gold fish"),
            "'gold fish' is none of the model's 9 labels, nor the index of one; did you mean "
            "goldfish?");
  EXPECT_THAT(names().problem("n02123597_Siamse_cat"), EndsWith("did you mean Siamese cat?"));
  EXPECT_THAT(names().problem("tensh"), EndsWith("did you mean tench?"));
  EXPECT_THAT(names().problem("locomotive"), EndsWith("nor the index of one"));
}

TEST(ClassNames, WhatIsMoreThanOneIsNamed) {
  EXPECT_EQ(names().problem("crane"), "'crane' means more than one label, 2 and 3: use the index");
  EXPECT_EQ(names().find("n02012849_crane"), kNone);
  EXPECT_THAT(names().problem("n02012849_crane"), HasSubstr("2 and 3"));
}

}  // namespace
}  // namespace lookout
