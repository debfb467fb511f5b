#include "platform/system/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StrEq;

std::vector<std::vector<std::string>> values(const std::string& text) {
  std::vector<std::vector<std::string>> found;
  for (const CsvRow& row : parse_csv(text)) found.push_back(row.values);
  return found;
}

TEST(Csv, LinesOfValues) {
  EXPECT_THAT(values("a.jpg,cat\nb.jpg,dog\n"),
              ElementsAre(ElementsAre("a.jpg", "cat"), ElementsAre("b.jpg", "dog")));
  EXPECT_THAT(values("a,b\r\n\r\n,c d,"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("", "c d", "")));
  EXPECT_THAT(values(""), IsEmpty());
}

TEST(Csv, QuotesHoldCommasLineEndsAndQuotes) {
  EXPECT_THAT(values("\"a,1.jpg\",\"tench, Tinca tinca\"\n\"say \"\"cheese\"\"\",\"two\nlines\"\n"),
              ElementsAre(ElementsAre("a,1.jpg", "tench, Tinca tinca"),
                          ElementsAre("say \"cheese\"", "two\nlines")));
  EXPECT_THAT(values("\"\",x"), ElementsAre(ElementsAre("", "x")));
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstValue) {
  EXPECT_THAT(values("\xEF\xBB\xBF\"a.jpg\",cat\n"), ElementsAre(ElementsAre("a.jpg", "cat")));
  EXPECT_THAT(values("\xEF\xBB\xBF"), IsEmpty());
  EXPECT_THAT(values("a\n\xEF\xBB\xBF"
                     "b\n"),
              ElementsAre(ElementsAre("a"), ElementsAre("\xEF\xBB\xBF"
                                                        "b")));
}

TEST(Csv, RowsKnowTheirLine) {
  const auto rows = parse_csv("a\n\n\"b\nb\"\nc\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].line, 1U);
  EXPECT_EQ(rows[1].line, 3U);
  EXPECT_EQ(rows[2].line, 5U);
}

void expect_refused(const std::string& text, const std::string& sentence) {
  try {
    parse_csv(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const CsvError& error) {
    EXPECT_THAT(error.what(), StrEq(sentence));
  }
}

TEST(Csv, WrongQuotesAreRefused) {
  expect_refused("a\n\"b,c\n", "line 2: a quote is not closed");
  expect_refused("a\"b\",c\n", "line 1: a quote stands in a value that is not quoted");
  expect_refused("\"a\"b,c\n", "line 1: a comma or the line's end has to follow a value");
  expect_refused("a\rb\n", "line 1: a comma or the line's end has to follow a value");
}

TEST(Csv, WhatHasNulIsNotUtf8) {
  const std::string utf16("a\0,\0b\0", 6);
  expect_refused(utf16, "line 1: a NUL character; the text has to be UTF-8");
  expect_refused("a,b\nc" + utf16, "line 2: a NUL character; the text has to be UTF-8");
}

}  // namespace
}  // namespace lookout
