#include "platform/reporters/terminal.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

constexpr const char* kBegin = "\x1b[?2026h\r";
constexpr const char* kEnd = "\x1b[?2026l";

// What is written between the marks of an update.
std::string redraw(const std::vector<std::string>& drawn, std::string_view above,
                   const std::vector<std::string>& lines, const TerminalSize& size) {
  std::string out;
  append_redraw(fitted(drawn, size), above, fitted(lines, size), size, out);
  EXPECT_EQ(out.rfind(kBegin, 0), 0U);
  const std::size_t end = out.size() - std::string(kEnd).size();
  EXPECT_EQ(out.substr(end), kEnd);
  const std::size_t begin = std::string(kBegin).size();
  return out.substr(begin, end - begin);
}

TEST(Terminal, DrawsTheFirstBlockWhereTheCursorIs) {
  EXPECT_EQ(redraw({}, "", {"a", "b"}, {}), "a\x1b[K\nb\x1b[K\n");
}

TEST(Terminal, TakesTheOldBlockAwayAndPutsLogLinesAbove) {
  EXPECT_EQ(redraw({"a", "b"}, "log\n", {"a", "b"}, {}), "\x1b[2A\x1b[Jlog\na\x1b[K\nb\x1b[K\n");
}

TEST(Terminal, WritesOnlyLinesThatChanged) {
  EXPECT_EQ(redraw({"a", "b", "c"}, "", {"a", "x", "c"}, {}), "\x1b[3A\nx\x1b[K\n\n");
  EXPECT_EQ(redraw({"a", "b"}, "", {"a"}, {}), "\x1b[2A\n\x1b[J");
}

// Else lines that wrapped stay above the block.
TEST(Terminal, ATerminalThatBecameNarrowerHasWrappedTheOldLines) {
  std::string out;
  append_redraw({"12345678", "ab", "日本"}, "", {"1234", "ab"}, {4, 24}, out);
  EXPECT_EQ(out, std::string(kBegin) + "\x1b[4A1234\nab\x1b[K\n\x1b[J" + kEnd);
  EXPECT_EQ(rows_of({"12345678", "", "日本語"}, {4, 24}), 5U);
}

TEST(Terminal, ALineOfTheDisplayMovesNoCursor) {
  EXPECT_EQ(redraw({}, "", {"a\x1b[2J\nb"}, {}), "a\\x1b[2J\\nb\x1b[K\n");
}

// To erase behind a full line would take its last character.
TEST(Terminal, CutsLinesAtTheEdgeByCharacters) {
  EXPECT_EQ(redraw({}, "", {"█████", "abcde", "ab"}, {3, 24}), "███\nabc\nab\x1b[K\n");
}

TEST(Terminal, AByteThatIsNotUtf8TakesOneColumn) {
  EXPECT_EQ(cut("a\xff\xffyz", 3), "a\xff\xff");
  EXPECT_EQ(cut("\xff", 3), "\xff");
}

TEST(Terminal, WideCharactersTakeTwoColumnsAndCombiningOnesNone) {
  const std::string e_acute = "e\xCC\x81";  // e and a combining accent
  EXPECT_EQ(redraw({}, "", {"日本語", e_acute + "日" + e_acute + e_acute, "\xFF日"}, {4, 24}),
            "日本\n" + e_acute + "日" + e_acute + "\n\\xff\n");
  EXPECT_EQ(redraw({}, "", {"日本語"}, {5, 24}), "日本\x1b[K\n");
}

TEST(Terminal, DrawsNoMoreLinesThanThereAreRows) {
  EXPECT_EQ(redraw({}, "", {"a", "b", "c", "d"}, {80, 3}), "a\x1b[K\nb\x1b[K\n");
}

TEST(Terminal, WhatIsNoTerminalHasTheUsualSize) {
  EXPECT_EQ(terminal_size(-1).columns, 80U);
  EXPECT_EQ(terminal_size(-1).rows, 24U);
}

}  // namespace
}  // namespace lookout
