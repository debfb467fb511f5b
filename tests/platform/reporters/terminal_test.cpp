#include "platform/reporters/terminal.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

std::string redraw(std::size_t old_lines, std::string_view above,
                   const std::vector<std::string>& lines, const TerminalSize& size) {
  std::string out;
  append_redraw(old_lines, above, lines, size, out);
  return out;
}

TEST(Terminal, DrawsTheFirstBlockWhereTheCursorIs) {
  EXPECT_EQ(redraw(0, "", {"a", "b"}, {}), "\r\x1b[Ja\nb\n");
}

TEST(Terminal, TakesTheOldBlockAwayAndPutsLogLinesAbove) {
  EXPECT_EQ(redraw(2, "log\n", {"a", "b"}, {}), "\r\x1b[2A\x1b[Jlog\na\nb\n");
}

TEST(Terminal, ALineOfTheDisplayMovesNoCursor) {
  EXPECT_EQ(redraw(0, "", {"a\x1b[2J\nb"}, {}), "\r\x1b[Ja\\x1b[2J\\nb\n");
}

TEST(Terminal, CutsLinesAtTheEdgeByCharacters) {
  EXPECT_EQ(redraw(0, "", {"█████", "abcde", "ab"}, {3, 24}), "\r\x1b[J███\nabc\nab\n");
}

TEST(Terminal, AByteThatIsNotUtf8TakesOneColumn) {
  EXPECT_EQ(cut("a\xff\xffyz", 3), "a\xff\xff");
  EXPECT_EQ(cut("\xff", 3), "\xff");
}

TEST(Terminal, WideCharactersTakeTwoColumnsAndCombiningOnesNone) {
  const std::string e_acute = "e\xCC\x81";  // e and a combining accent
  EXPECT_EQ(redraw(0, "", {"日本語", e_acute + "日" + e_acute + e_acute, "\xFF日"}, {4, 24}),
            "\r\x1b[J日本\n" + e_acute + "日" + e_acute + "\n\\xff\n");
  EXPECT_EQ(redraw(0, "", {"日本語"}, {5, 24}), "\r\x1b[J日本\n");
}

TEST(Terminal, DrawsNoMoreLinesThanThereAreRows) {
  EXPECT_EQ(redraw(0, "", {"a", "b", "c", "d"}, {80, 3}), "\r\x1b[Ja\nb\n");
}

TEST(Terminal, WhatIsNoTerminalHasTheUsualSize) {
  EXPECT_EQ(terminal_size(-1).columns, 80U);
  EXPECT_EQ(terminal_size(-1).rows, 24U);
}

}  // namespace
}  // namespace lookout
