#include "pipeline/results/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pipeline/results/statistics.h"
#include "tests/support/model_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Json = nlohmann::json;
using std::chrono::microseconds;
using std::chrono::milliseconds;

const std::vector<std::string> kLabels{"lemon", "orange", "a \"quoted\" caf\xc3\xa9"};

const ModelInfoPtr kModel = model_with(kLabels);

JsonFormat format_of(const std::string& camera) {
  JsonFormat format({camera});
  format.use(kModel);
  return format;
}

Result example() {
  Result result;
  result.model = kModel;
  result.sequence = 812;
  result.timestamp = std::chrono::system_clock::time_point(milliseconds(1795262400123));
  result.frame_age = microseconds(31200);
  result.durations = {microseconds(1100), microseconds(900), microseconds(24900),
                      microseconds(27100)};
  result.dropped = 3;
  result.top = {{1, kLabels[1], 0.87312F}, {2, kLabels[2], 0.05F}};
  return result;
}

TEST(Format, ControlCharactersArePrintable) {
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f\r"), "a\\nb\\x09c\\x1b[2J\\x7f\\x0d");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9b\xc2\xa0"), "\\u0080\\u009b\xc2\xa0") << "C1, and no more";
  const std::string others = "café \\ 東京 \xe2\x80\x9b";
  EXPECT_EQ(printable(others), others);
}

TEST(Format, BytesThatAreNotUtf8ArePrintable) {
  EXPECT_EQ(printable("a\x9b\x31m \xff\xc2"), "a\\x9b1m \\xff\\xc2")
      << "a terminal may take 0x9B for CSI";
}

TEST(Format, CharactersThatChangeTheDirectionArePrintable) {
  EXPECT_EQ(printable("gpj\u202etxt.\u2066\u200f\u061c"), "gpj\\u202etxt.\\u2066\\u200f\\u061c");
  EXPECT_EQ(printable("a\u2028b\u2029"), "a\\u2028b\\u2029");
}

TEST(Format, DifferentNamesStayDifferentInText) {
  std::string with_line_end;
  append_text(example(), "a\nb.png", with_line_end);
  std::string with_backslash;
  append_text(example(), "a\\nb.png", with_backslash);
  EXPECT_NE(with_line_end, with_backslash);
  EXPECT_EQ(with_backslash.substr(0, 13), "812 a\\\\nb.png");
}

TEST(JsonFormat, AFileWhoseNameIsNotUtf8HasAUrlToOpenItBy) {
  std::string out;
  auto format = format_of("front");
  format.append(example(), "/pictures/caf\xe9 1.jpg", out);
  EXPECT_NE(out.find(R"("file_url":"file:///pictures/caf%E9%201.jpg")"), std::string::npos) << out;
  out.clear();
  format.append(example(), "/pictures/caf\u00e9 1.jpg", out);
  EXPECT_EQ(out.find("file_url"), std::string::npos) << out;
}

TEST(Format, TextIsOneLineWhateverTheNamesAre) {
  const std::string label = "a\nb\x1b[2J";
  Result result = example();
  result.top = {{0, label, 0.5F}};
  result.state = {SceneState::Kind::kClass, {0, label, 0.5F}};
  result.previous_state = result.state;
  result.state_changed = true;
  std::string out;
  append_text(result, "dir\n/1.png", out, {/*with_state=*/true});
  EXPECT_EQ(out,
            "812 dir\\n/1.png: a\\nb\\x1b[2J 50.0 % (27.1 ms), now a\\nb\\x1b[2J 50.0 %, was "
            "a\\nb\\x1b[2J\n");
}

TEST(JsonFormat, IsTheDocumentedLine) {
  std::string out;
  format_of("front").append(example(), "", out);
  EXPECT_EQ(out,
            R"({"schema":1,"type":"classification","camera":"front","model":"net",)"
            R"("seq":812,"timestamp":1795262400.123,"frame_age_ms":31.200,"results":[)"
            R"({"index":1,"label":"orange","score":0.8731},)"
            R"({"index":2,"label":"a \"quoted\" café","score":0.0500}],)"
            R"("timing_ms":{"capture":1.100,"preprocess":0.900,"inference":24.900,"total":27.100},)"
            "\"dropped\":3}\n");
}

TEST(JsonFormat, OneOfSeveralWatchesIsNamed) {
  Result result = example();
  result.watch = std::make_shared<WatchInfo>(WatchInfo{"gate", {}});
  std::string out;
  format_of("front").append(result, "", out);
  EXPECT_EQ(out.find(R"({"schema":1,"type":"classification","camera":"front","model":"net",)"
                     R"("watch":"gate","seq":812,)"),
            0U)
      << out;
  std::string text;
  append_text(result, "a.jpg", text);
  EXPECT_EQ(text.find("812 a.jpg gate: orange 87.3 %"), 0U) << text;
}

TEST(JsonFormat, StateOfAResult) {
  auto format = format_of("front");
  Result result = example();
  result.state = {SceneState::Kind::kClass, {2, kLabels[2], 0.61234F}};
  std::string out;
  format.append_state(result, "", out);
  EXPECT_EQ(out,
            R"({"schema":1,"type":"state","camera":"front","model":"net","seq":812,)"
            R"("timestamp":1795262400.123,"state":"a \"quoted\" café","index":2,"score":0.6123,)"
            "\"previous\":null}\n");
  result.previous_state = result.state;
  result.state = {SceneState::Kind::kUnknown, {}};
  out.clear();
  format.append_state(result, "a.jpg", out);
  EXPECT_EQ(out, R"({"schema":1,"type":"state","camera":"front","model":"net","seq":812,)"
                 R"("timestamp":1795262400.123,"file":"a.jpg","state":"unknown","index":null,)"
                 R"("score":null,"previous":"a \"quoted\" café"})"
                 "\n");
}

TEST(JsonFormat, AFrameOfAVideoHasItsTimeThere) {
  auto format = format_of("front");
  Result result = example();
  result.media_time = milliseconds(83'333);
  std::string out;
  format.append(result, "a.mp4", out);
  EXPECT_EQ(Json::parse(out)["media_time"], 83.333);
  out.clear();
  format.append_state(result, "a.mp4", out);
  EXPECT_EQ(Json::parse(out)["media_time"], 83.333);
}

TEST(JsonFormat, NamesTheFileAndSurvivesItsBytes) {
  std::string out;
  format_of("a\nb").append(example(), "dir/caf\xe9 \"1\".jpg", out);
  const Json line = Json::parse(out);
  EXPECT_EQ(line["camera"], "a\nb");
  EXPECT_EQ(line["file"], "dir/caf\xef\xbf\xbd \"1\".jpg");
  EXPECT_EQ(out.find('\n'), out.size() - 1) << "one line";
}

TEST(JsonFormat, StatusOfTheCamera) {
  const auto format = format_of("front \"door\"");
  CameraStatus status{false, std::chrono::system_clock::time_point(milliseconds(1795262400007))};
  std::string out;
  format.append(status, out);
  status.online = true;
  format.append(status, out);
  EXPECT_EQ(out, R"({"schema":1,"type":"status","camera":"front \"door\"","state":"offline",)"
                 "\"timestamp\":1795262400.007}\n"
                 R"({"schema":1,"type":"status","camera":"front \"door\"","state":"online",)"
                 "\"timestamp\":1795262400.007}\n");
}

TEST(JsonFormat, StatisticsAndSummary) {
  StatsSnapshot stats;
  stats.interval = milliseconds(1000);
  stats.camera_fps = 30;
  stats.classified_fps = 29;
  stats.computed_fps = 9;
  stats.captured = 60;
  stats.classified = 58;
  stats.reused = 20;
  stats.unwanted = 3;
  stats.dropped = 1;
  stats.in_flight = 1;
  stats.inference = {milliseconds(20), milliseconds(22), milliseconds(25), milliseconds(31)};
  std::string out;
  auto format = format_of("front");
  format.append(stats, out);
  const Json line = Json::parse(out);
  EXPECT_EQ(line["type"], "stats");
  EXPECT_EQ(line["fps"], 29);
  EXPECT_EQ(line["camera_fps"], 30);
  EXPECT_EQ(line["captured"], 60);
  EXPECT_EQ(line["reused"], 20);
  EXPECT_EQ(line["unwanted"], 3);
  EXPECT_EQ(line["dropped"], 1);
  EXPECT_EQ(line["in_flight"], 1);
  EXPECT_EQ(line["latency_ms"]["inference"]["p99"], 25);
  EXPECT_EQ(line["latency_ms"].size(), 5U);
  stats.final = true;
  out.clear();
  format.append(stats, out);
  EXPECT_EQ(Json::parse(out)["type"], "summary");
}

TEST(JsonFormat, StatisticsOfWatchesWithNames) {
  StatsSnapshot stats;
  std::string out;
  const auto format = format_of("front");
  format.append(stats, out);
  EXPECT_FALSE(Json::parse(out).contains("watches"));
  for (const char* name : {"gate", "lamp"}) {
    WatchStats& watch = stats.watches.emplace_back();
    watch.watch = std::make_shared<WatchInfo>(WatchInfo{name, {}});
  }
  stats.watches[0].fps = 9.876;
  stats.watches[0].computed_fps = 2;
  stats.watches[0].oldest = milliseconds(512);
  out.clear();
  format.append(stats, out);
  EXPECT_EQ(Json::parse(out)["watches"],
            Json::parse(R"({"gate":{"fps":9.88,"computed_fps":2.0,"oldest_ms":512.0},)"
                        R"("lamp":{"fps":0.0,"computed_fps":0.0,"oldest_ms":null}})"));
}

TEST(JsonFormat, StatisticsTellHowWarmAndThrottledTheMachineIs) {
  const auto format = format_of("front");
  for (const bool final : {false, true}) {
    StatsSnapshot stats;
    stats.final = final;
    std::string out;
    format.append(stats, out);
    const Json unknown = Json::parse(out);
    EXPECT_TRUE(unknown.at("temperature_c").is_null());
    EXPECT_TRUE(unknown.at("throttled").is_null());
    EXPECT_TRUE(unknown.at("throttled_source").is_null());
    stats.machine.temperature = 48.686;
    stats.machine.throttled = 0x50005;
    out.clear();
    format.append(stats, out);
    const Json known = Json::parse(out);
    EXPECT_EQ(known.at("temperature_c"), 48.7);
    EXPECT_EQ(known.at("throttled"), 0x50005);
    EXPECT_EQ(known.at("throttled_source"), "get_throttled");
    stats.machine.throttled = 1;
    stats.machine.voltage_alone = true;
    out.clear();
    format.append(stats, out);
    EXPECT_EQ(Json::parse(out).at("throttled_source"), "rpi_volt");
  }
}

TEST(Format, TextOfAResult) {
  std::string out;
  append_text(example(), "", out);
  EXPECT_EQ(out, "812: orange 87.3 %, a \"quoted\" café 5.0 % (27.1 ms)\n");
  out.clear();
  Result nothing = example();
  nothing.top.clear();
  append_text(nothing, "a.jpg", out);
  EXPECT_EQ(out, "812 a.jpg: nothing above the threshold (27.1 ms)\n");
}

TEST(Format, TextOfAState) {
  Result result = example();
  result.top.resize(1);
  const std::string start = "812: orange 87.3 % (27.1 ms), ";
  std::string out;
  append_text(result, "", out, {true});
  EXPECT_EQ(out, start + "state none yet\n");
  out.clear();
  result.state_changed = true;
  result.state = {SceneState::Kind::kClass, {0, kLabels[0], 0.5F}};
  append_text(result, "", out, {true});
  EXPECT_EQ(out, start + "now lemon 50.0 %\n");
  out.clear();
  result.previous_state = result.state;
  result.state = {SceneState::Kind::kUnknown, {}};
  append_text(result, "", out, {true});
  EXPECT_EQ(out, start + "now unknown, was lemon\n");
  out.clear();
  result.state_changed = false;
  append_text(result, "", out, {true});
  EXPECT_EQ(out, start + "state unknown\n");
}

TEST(JsonFormat, WithoutAResultTimesAreUnknown) {
  std::string line;
  format_of("front").append(StatsSnapshot(), line);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["fps"], 0);
  for (const auto& [stage, times] : json["latency_ms"].items()) {
    for (const char* name : {"p50", "p95", "p99", "max"})
      EXPECT_TRUE(times[name].is_null()) << stage;
  }
}

TEST(Format, TextOfStatistics) {
  StatsSnapshot stats;
  stats.camera_fps = 30;
  stats.classified_fps = 15.04;
  stats.dropped = 15;
  stats.total = {milliseconds(1), milliseconds(2), milliseconds(3), microseconds(4560)};
  std::string out;
  append_text(stats, out);
  EXPECT_EQ(out,
            "camera 30.0 fps, classified 15.0 fps, dropped 15; ms p50/p95/p99/max: "
            "age 0.0/0.0/0.0/0.0 capture 0.0/0.0/0.0/0.0 preprocess 0.0/0.0/0.0/0.0 "
            "inference 0.0/0.0/0.0/0.0 total 1.0/2.0/3.0/4.6");
}

TEST(Throttling, BitsAreWords) {
  EXPECT_THAT(throttling_words(0), IsEmpty());
  EXPECT_THAT(throttling_words(0x50005),
              ElementsAre("under-voltage now", "throttled now", "under-voltage since the start",
                          "was throttled since the start"));
}

TEST(Format, TextOfAMachineSaysWhatSlowsItDownNow) {
  MachineState machine;
  EXPECT_EQ(to_text(machine), "");
  machine.temperature = 79.9;
  machine.throttled = 0x50000;
  EXPECT_EQ(to_text(machine), "") << "what was, is over";
  machine.temperature = 81.24;
  EXPECT_EQ(to_text(machine), "81.2 °C");
  machine.throttled = 0x50005;
  EXPECT_EQ(to_text(machine), "under-voltage now, throttled now, 81.2 °C");
}

TEST(Format, TextOfStatisticsSaysWhatSlowsTheMachineDown) {
  StatsSnapshot stats;
  stats.machine.temperature = 48.7;
  std::string out;
  append_text(stats, out);
  EXPECT_EQ(out.find("°C"), std::string::npos) << out;
  stats.machine.throttled = 4;
  out.clear();
  append_text(stats, out);
  EXPECT_EQ(out.find("camera 0.0 fps, classified 0.0 fps, dropped 0; throttled now; ms p50"), 0U)
      << out;
}

TEST(Format, TheSummarySaysWhereEveryFrameWent) {
  StatsSnapshot stats;
  stats.final = true;
  stats.interval = std::chrono::seconds(10);
  stats.captured = 300;
  stats.classified = 290;
  stats.dropped = 9;
  stats.in_flight = 1;
  stats.skipped = 2;
  std::string out;
  append_text(stats, out);
  EXPECT_NE(out.find("summary of 10.0 s"), std::string::npos);
  EXPECT_NE(out.find("300 captured = 290 classified + 9 dropped + 1 in flight"), std::string::npos);
  EXPECT_NE(out.find("skipped 2"), std::string::npos);
}

TEST(Format, DoesNotDependOnTheLocale) {
  const TempDir locales;
  const std::string make = "localedef -i de_DE -f UTF-8 " + (locales / "de_DE.UTF-8");
  if (std::system((make + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no locale with a decimal comma can be made (apt-get install locales)";
  }
  setenv("LOCPATH", locales.path().c_str(), 1);
  ASSERT_NE(std::setlocale(LC_ALL, "de_DE.UTF-8"), nullptr);
  ASSERT_STREQ(std::localeconv()->decimal_point, ",");
  std::string out;
  append_text(example(), "", out);
  EXPECT_NE(out.find("87.3 %"), std::string::npos) << out;
  out.clear();
  format_of("c").append(example(), "", out);
  EXPECT_EQ(Json::parse(out)["timing_ms"]["total"], 27.1);
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace lookout
