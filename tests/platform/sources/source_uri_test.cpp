#include "platform/sources/source_uri.h"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "paths.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

TEST(SourceUri, WhatHasNoSchemeIsAPathAsItIs) {
  for (const char* text : {"/dev/video0", "holiday", "a%20b#1.png", "12:30.avi", "file:/a"}) {
    EXPECT_EQ(std::get<LocalPath>(parse_source_uri(text, {})).path, text);
  }
}

TEST(SourceUri, OneDashIsStandardInput) {
  EXPECT_TRUE(std::holds_alternative<Stdin>(parse_source_uri("-", {})));
  EXPECT_EQ(std::get<LocalPath>(parse_source_uri("--", {})).path, "--");
}

TEST(SourceUri, FileAndV4l2ArePathsWithoutTheirEscapes) {
  EXPECT_EQ(std::get<LocalPath>(parse_source_uri("file:///a%20b/%231.png", {})).path,
            "/a b/#1.png");
  EXPECT_EQ(std::get<V4l2Uri>(parse_source_uri("V4L2:///dev/video0", {})).path, "/dev/video0");
}

TEST(SourceUri, ANulCharacterIsAnErrorAndNotTheEnd) {
  for (const std::string& text : {std::string("/dev/null\0a", 11), std::string("csi://0\0a", 9),
                                  std::string("file:///dev/null%00a")}) {
    expect_error(ErrorKind::kUsage, testing::HasSubstr("NUL"),
                 [&text] { parse_source_uri(text, {}); });
  }
  EXPECT_EQ(std::get<LocalPath>(parse_source_uri("/a%00b", {})).path, "/a%00b");
}

TEST(SourceUri, ACsiCameraHasANumberOrAName) {
  const auto camera = [](const std::string& text) {
    return std::get<CsiUri>(parse_source_uri(text, {})).camera;
  };
  EXPECT_EQ(camera("csi://0"), "0");
  EXPECT_EQ(camera("csi://imx708%20wide"), "imx708 wide");
  EXPECT_EQ(camera("csi:///base/soc/i2c0mux/imx708@1a"), "/base/soc/i2c0mux/imx708@1a");
  for (const char* text : {"csi://", "csi://0?width=640"}) {
    expect_error(ErrorKind::kUsage, testing::HasSubstr("as in csi://0"),
                 [text] { parse_source_uri(text, {}); });
  }
}

TEST(SourceUri, ARateOfATestPatternIsZeroOrATenthAndMore) {
  const auto fps = [](const std::string& value) {
    return std::get<TestSourceOptions>(parse_source_uri("test://all?fps=" + value, {})).fps;
  };
  EXPECT_EQ(fps("0"), 0);
  EXPECT_EQ(fps("0.1"), 0.1);
  EXPECT_EQ(fps("1000"), 1000);
  for (const char* value : {"1e-12", "0.09", "1001", "-1", "nan", "inf"}) {
    expect_error(ErrorKind::kUsage, testing::HasSubstr("from 0.1 to 1000"), [&] { fps(value); });
  }
  SourceOptions asked;
  asked.framerate = 1e-12;
  expect_error(ErrorKind::kUsage, testing::HasSubstr("camera.framerate"),
               [&] { parse_source_uri("test://all", asked); });
}

TEST(SourceUri, AMisspeltSchemeIsFoundWithoutOpeningAnything) {
  expect_error(ErrorKind::kUsage,
               "tset://all: unknown scheme tset://; use test://, v4l2://, "
               "csi://, rtsp://, http://, file://, a path or -",
               [] { check_source_text("tset://all"); });
  expect_error(ErrorKind::kUsage, testing::StartsWith("rtps://***@camera:554/s: unknown scheme "),
               [] { check_source_text("rtps://user:secret@camera:554/s"); });
  expect_error(ErrorKind::kUsage, testing::HasSubstr("'plaid'"),
               [] { check_source_text("test://plaid"); });
  for (const char* question : {"test://?", "test://"}) {
    expect_error(ErrorKind::kUsage, testing::StartsWith("the test patterns are all, colorbars"),
                 [question] { check_source_text(question); });
  }
  for (const char* text : {"/dev/video9876", "no such file", "csi://7", "test://all?fps=0"}) {
    EXPECT_NO_THROW(check_source_text(text)) << text;
  }
}

TEST(SourceUri, TheTextOfATestPatternWinsOverWhatIsAsked) {
  SourceOptions asked;
  asked.width = 100;
  asked.height = 50;
  asked.framerate = 5;
  const auto options =
      std::get<TestSourceOptions>(parse_source_uri("test://cross?fps=7.5&noise=3&hold=2", asked));
  EXPECT_EQ(options.pattern, Pattern::kCross);
  EXPECT_EQ(options.width, 100);
  EXPECT_EQ(options.height, 50);
  EXPECT_EQ(options.fps, 7.5);
  EXPECT_EQ(options.noise, 3);
  EXPECT_EQ(options.hold, 2);
  EXPECT_EQ(options.frames, 0U);
  EXPECT_EQ(std::get<TestSourceOptions>(parse_source_uri("test://all", {})).pattern, std::nullopt);
}

// A new way to name a source has a row, from which the rest follows, and a place in the manual.
TEST(SourceSchemes, AllCanBeParsedAndAreInTheManual) {
  const std::string manual = read_file(std::string(LOOKOUT_DEPLOY) + "/lookout.h2m");
  std::set<std::size_t> types;
  std::set<std::string> names;
  for (const SourceScheme& scheme : source_schemes()) {
    const std::string name(scheme.name);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(scheme.example.substr(0, name.size()), name);
    types.insert(parse_source_uri(std::string(scheme.example), {}).index());
    EXPECT_THAT(manual, testing::HasSubstr("\\fB" + (name == "-" ? "\\-" : name)));
  }
  EXPECT_EQ(types.size(), std::variant_size_v<SourceUri>);
}

TEST(SourceSchemes, TheServiceHasWhatTheyNeed) {
  const std::string deploy = LOOKOUT_DEPLOY;
  const std::string units =
      read_file(deploy + "/lookout.service.in") + read_file(deploy + "/network-camera.conf");
  for (const SourceScheme& scheme : source_schemes()) {
    if (scheme.service.empty()) continue;
    EXPECT_THAT(units, testing::HasSubstr("\n" + std::string(scheme.service))) << scheme.name;
  }
}

TEST(SourceSchemes, TheHelpNamesThem) {
  for (const SourceScheme& scheme : source_schemes()) {
    EXPECT_THAT(source_help(), testing::HasSubstr(std::string(scheme.help)));
  }
  EXPECT_THAT(source_help(), testing::StartsWith("a camera (/dev/video0, csi://0, rtsp://HOST/"));
}

}  // namespace
}  // namespace lookout
