#include "app/bench/bench_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

// All percentiles are equal, except for p99, which is one and a half times as large.
Percentiles around(milliseconds time) { return {time, time, time * 3 / 2, time * 3 / 2}; }

// A model that takes 20 ms of a frame's 24, one frame after the other.
BenchResult result(int threads = 1, int workers = 1, double fps = 50) {
  BenchResult made;
  made.model.json = {{"name", "mobilenet"}, {"file", "m.pt"}, {"library", "LibTorch 2.9.1"}};
  made.model.facts = {{"file", "m.pt"}, {"sha256", "abcd"}, {"runs on", "LibTorch 2.9.1"}};
  made.threads = threads;
  made.workers = workers;
  made.source = "16 frames";
  made.stats.classified = 500;
  made.stats.captured = 500;
  made.stats.interval = std::chrono::seconds(10);
  made.stats.classified_fps = fps;
  made.stats.camera_fps = fps;
  made.stats.capture = around(milliseconds(2));
  made.stats.preprocess = around(milliseconds(2));
  made.stats.inference = around(milliseconds(20));
  made.stats.total = around(milliseconds(24));
  made.cpu_ms = 21.5;
  made.wakeups_per_s = 104;
  made.resident_mb = 190;
  made.start_s = 0.75;
  return made;
}

std::string alone(const BenchResult& made) { return verdict(made, {made}); }

TEST(Verdict, TheModelsShareOfAFrame) {
  EXPECT_EQ(alone(result()), "model-limited: inference is 83 % of the work on a frame");
}

TEST(Verdict, ACameraThatIsKeptUpWith) {
  BenchResult camera = result(1, 1, 29.9);
  camera.live = true;
  camera.stats.camera_fps = 30;
  EXPECT_EQ(alone(camera), "camera-limited: all of its 30.0 fps are classified, 45.5 could be");
  camera.workers = 2;
  EXPECT_THAT(alone(camera), HasSubstr("90.9 could be"));
}

TEST(Verdict, ACameraThatIsNot) {
  BenchResult camera = result(1, 1, 20);
  camera.live = true;
  camera.stats.camera_fps = 30;
  EXPECT_EQ(
      alone(camera),
      "model-limited: inference is 83 % of the work on a frame, 20.0 of the camera's 30.0 fps "
      "are classified");
}

TEST(Verdict, OtherStagesCanBeTheSlowestToo) {
  BenchResult large = result();
  large.stats.preprocess = around(milliseconds(30));
  EXPECT_EQ(alone(large), "preprocessing-limited: it takes 30.0 ms, the model 20.0");
  large.stats.capture = around(milliseconds(60));
  EXPECT_EQ(alone(large), "source-limited: reading a frame takes 60.0 ms");
}

TEST(Verdict, ThrottlingComesFirst) {
  BenchResult hot = result(2);
  hot.before.throttled = 0;
  hot.after.throttled = 0x4;
  EXPECT_EQ(verdict(hot, {result(1), hot}),
            "throttled: throttled now; measure again with better cooling or power");
  hot.after.throttled = 0x10000;
  EXPECT_THAT(alone(hot), StartsWith("throttled: under-voltage since the start"));
}

TEST(Verdict, WhatWasThrottledBeforeIsNoReason) {
  BenchResult once = result();
  once.before.throttled = 0x50000;
  once.after.throttled = 0x50000;
  EXPECT_THAT(alone(once), StartsWith("model-limited"));
}

TEST(Verdict, ThreadsThatGainNothingAreTooMany) {
  const std::vector<BenchResult> all{result(1, 1, 50), result(2, 1, 51), result(4, 1, 30)};
  EXPECT_THAT(verdict(all[0], all), StartsWith("model-limited"));
  EXPECT_EQ(verdict(all[1], all), "too many threads: 1 is better");
  EXPECT_EQ(verdict(all[2], all), "too many threads: 2 is better");
}

TEST(Verdict, ThreadsThatOnlyShortenTheWayAreNotTooMany) {
  BenchResult two = result(2, 1, 50);
  two.stats.total = around(milliseconds(15));
  EXPECT_THAT(verdict(two, {result(1, 1, 50), two}), StartsWith("model-limited"));
}

TEST(Verdict, WorkersThatGainNothingAreTooMany) {
  const std::vector<BenchResult> all{result(1, 1, 50), result(1, 2, 49), result(2, 2, 90)};
  EXPECT_EQ(verdict(all[1], all), "too many workers: 1 is better");
  EXPECT_THAT(verdict(all[2], all), StartsWith("model-limited"));
}

TEST(Verdict, OtherModelsAreNoComparison) {
  BenchResult other = result(1, 1, 500);
  other.model.json["file"] = "other.pt";
  EXPECT_THAT(verdict(result(2), {other, result(2)}), StartsWith("model-limited"));
}

BenchReport report() {
  BenchReport made;
  made.machine.system.board = "Raspberry Pi 4 Model B Rev 1.5";
  made.machine.system.cpu = "Cortex-A72";
  made.machine.system.governor = "ondemand";
  made.machine.system.highest_clock_mhz = 1500;
  made.machine.kind = "real machine";
  made.machine.processors = 4;
  made.machine.lookout = "1.2.3";
  made.results = {result(1, 1, 50), result(2, 1, 51)};
  made.results[1].before = {48.7, 600, 0};
  made.results[1].after = {63.2, 1500, 0};
  return made;
}

TEST(BenchReport, TextIsATableWithVerdicts) {
  EXPECT_EQ(
      to_text(make_report(report())),
      "Raspberry Pi 4 Model B Rev 1.5, Cortex-A72, 4 processors, real machine; LibTorch 2.9.1\n"
      "16 frames\n"
      "\n"
      "Verdicts\n"
      "mobilenet, 1 thread, 1 worker: model-limited: inference is 83 % of the work on a frame\n"
      "mobilenet, 2 threads, 1 worker: too many threads: 1 is better\n"
      "\n"
      "Figures: Every combination\n"
      "                                    ms a  model            CPU              memory  start\n"
      "model      threads  workers   fps  frame     ms  p99/p50    ms  wake-ups/s      MB      s\n"
      "mobilenet        1        1  50.0   20.0   20.0     1.50  21.5         104     190   0.75\n"
      "mobilenet        2        1  51.0   19.6   20.0     1.50  21.5         104     190   0.75\n"
      "\n"
      "Stages: ms p50/p95/p99/max\n"
      "model      threads  workers          capture       preprocess            inference  "
      "              total        frame age\n"
      "mobilenet        1        1  2.0/2.0/3.0/3.0  2.0/2.0/3.0/3.0  20.0/20.0/30.0/30.0  "
      "24.0/24.0/36.0/36.0  0.0/0.0/0.0/0.0\n"
      "mobilenet        2        1  2.0/2.0/3.0/3.0  2.0/2.0/3.0/3.0  20.0/20.0/30.0/30.0  "
      "24.0/24.0/36.0/36.0  0.0/0.0/0.0/0.0\n");
}

TEST(BenchReport, TellsWhatAutoChose) {
  BenchReport made = report();
  made.results[1].auto_threads = true;
  EXPECT_THAT(to_text(make_report(made)), HasSubstr("mobilenet  auto: 2        1  51.0 "));
  EXPECT_THAT(to_text(make_report(made)), HasSubstr("mobilenet, auto: 2 threads, 1 worker: "));
  EXPECT_THAT(to_markdown(make_report(made)), HasSubstr("| mobilenet | auto: 2 | 1 | 51.0 |"));
  EXPECT_EQ(to_json(made)["results"][1]["auto_threads"], true);
}

TEST(BenchReport, JsonIsOneLineWithTheFigures) {
  const std::string json = to_json(make_report(report()));
  EXPECT_EQ(json.find('\n'), json.size() - 1) << "one line";
  const Json first = parse_ordered_json(json)["results"][0];
  EXPECT_EQ(first["fps"], 50);
  EXPECT_EQ(first["total_ms"], 20);
  EXPECT_EQ(first["model_ms"], 20);
  EXPECT_EQ(first["jitter"], 1.5);
  EXPECT_EQ(first["wakeups_per_s"], 104);
  EXPECT_TRUE(first["pace_fps"].is_null());
  EXPECT_TRUE(first["max_temperature_c"].is_null());
  EXPECT_TRUE(first["before"]["throttled"].is_null());
  EXPECT_EQ(first["latency_ms"]["total"]["p99"], 36);
}

TEST(BenchReport, APacedRunTellsItsTemperatures) {
  BenchReport made = report();
  const std::string row = "mobilenet        2        1  49 °C → 63 °C, at most 65 °C";
  made.results[1].max_temperature = 64.8;
  EXPECT_THAT(to_text(make_report(made)), testing::Not(HasSubstr("°C")));
  EXPECT_THAT(to_markdown(make_report(made)), HasSubstr("| 49 °C → 63 °C, at most 65 °C | 600"));
  made.results[1].pace = 30;
  EXPECT_THAT(to_text(make_report(made)), HasSubstr(row));
  EXPECT_THAT(to_html(make_report(made), ""), HasSubstr("49 °C → 63 °C, at most 65 °C"));
  EXPECT_EQ(to_json(made)["results"][1]["max_temperature_c"], 64.8);
  EXPECT_EQ(to_json(made)["results"][1]["pace_fps"], 30);
  made.results[1].max_temperature.reset();
  EXPECT_THAT(to_text(make_report(made)), testing::Not(HasSubstr("not told")))
      << "without a sensor";
}

TEST(BenchReport, AStillSceneHasATableOfItsOwn) {
  BenchReport made = report();
  EXPECT_THAT(to_text(make_report(made)), testing::Not(HasSubstr("Still scene")));
  EXPECT_TRUE(to_json(made)["results"][0]["still"].is_null());
  // Each figure has its own middle; a ratio is of one pair.
  made.results[0].still = BenchStill{{{4, 0.25, 0.96}, {5, 0.2, 0.95}, {2, 0.15, 0.97}}};
  EXPECT_THAT(to_text(make_report(made)),
              HasSubstr("Still scene: Without and with reused results\n"));
  EXPECT_THAT(to_markdown(make_report(made)),
              HasSubstr("| mobilenet | 1 | 1 | 4.00 | 0.20 | 0.062 (0.040 to 0.075) | 96.0 | 3 |"));
  const Json still = to_json(made)["results"][0]["still"];
  EXPECT_EQ(still["cpu_ms_without"], 4);
  EXPECT_EQ(still["cpu_ms_with"], 0.2);
  EXPECT_EQ(still["ratio"], 0.063);
  EXPECT_EQ(still["reused_share"], 0.96);
  EXPECT_EQ(still["pairs"].size(), 3U);
}

TEST(BenchMessage, EveryFigureSurvives) {
  BenchResult sent = result(3, 2, 12.5);
  sent.model.facts.emplace_back("weights", "\"words\"");
  sent.auto_threads = true;
  sent.live = true;
  sent.stats.dropped = 7;
  sent.stats.frame_age = {std::chrono::nanoseconds(1), milliseconds(2), milliseconds(3),
                          milliseconds(4)};
  sent.fps_spread = {28.5, 31.5};
  sent.before = {50.5, {}, 4};
  sent.after = {{}, 1500, {}};
  sent.pace = 12.5;
  sent.wakeups_per_s = 33.5;
  sent.max_temperature = 61.5;
  sent.complete = false;
  sent.device = BenchDevice{"acme", 1, 2, 3, 0.25};
  sent.still = BenchStill{{{5, 0.25, 0.96875}, {4, 0.5, 0.9375}}};
  const BenchResult received = from_message(to_message(sent));
  EXPECT_EQ(to_message(received), to_message(sent));
  EXPECT_EQ(received.stats.frame_age.p50, sent.stats.frame_age.p50);
  EXPECT_EQ(received.model.facts, sent.model.facts);
  EXPECT_EQ(to_message(from_message(to_message(result()))), to_message(result()));
}

TEST(BenchMessage, AnythingElseIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", "{\"model\":7}"}) {
    EXPECT_THROW(from_message(text), Error) << text;
  }
}

TEST(BenchReport, MarkdownHasWhatMakesFiguresComparable) {
  const std::string text = to_markdown(make_report(report()));
  for (const char* part :
       {"| kind | real machine |", "| board | Raspberry Pi 4 Model B Rev 1.5 |",
        "| processor | Cortex-A72, 4 processors |", "| clock | up to 1500 MHz, ondemand |",
        "| lookout | 1.2.3 |", "| cooling, power supply, camera | (please fill in) |",
        "## Model mobilenet", "| file | m.pt |", "| sha256 | abcd |",
        "| runs on | LibTorch 2.9.1 |", "| engine | LibTorch 2.9.1 |",
        "| mobilenet | 1 | 1 | 50.0 | 20.0 | 20.0 | 1.50 | 21.5 | 104 | 190 | 0.75 | 500 | 0 |",
        "| mobilenet | 1 | 1 | not told | not told | not told |",
        "| mobilenet | 2 | 1 | 49 °C → 63 °C | 600 MHz → 1500 MHz | none |",
        "- mobilenet, 2 threads, 1 worker: too many threads: 1 is better"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_EQ(text.find("m.pt"), text.rfind("m.pt")) << "an archive is told of once";
}

TEST(BenchReport, AnInterruptedOneSaysThatNothingWasMeasured) {
  BenchReport empty = report();
  empty.results.clear();
  EXPECT_THAT(to_text(make_report(empty)), HasSubstr("nothing was measured"));
  EXPECT_THAT(to_markdown(make_report(empty)), HasSubstr("Nothing was measured"));
  EXPECT_TRUE(to_json(empty)["results"].empty());
}

TEST(BenchReport, AnInterruptedOneSaysHowMuchOfItThereIs) {
  EXPECT_EQ(to_json(report())["complete"], true);
  BenchReport part = report();
  part.missing = 1;
  EXPECT_THAT(to_text(make_report(part)),
              HasSubstr("16 frames\ninterrupted: 2 of 3 combinations\n\n"));
  EXPECT_THAT(to_markdown(make_report(part)), HasSubstr("interrupted: 2 of 3 combinations"));
  EXPECT_EQ(to_json(part)["complete"], false);
  part.missing = 0;
  part.results[1].complete = false;
  EXPECT_THAT(to_text(make_report(part)), HasSubstr("interrupted: 1 of 2 combinations\n"));
  EXPECT_THAT(to_text(make_report(part)),
              HasSubstr("mobilenet, 2 threads, 1 worker, interrupted: "));
  EXPECT_EQ(to_json(part)["results"][1]["complete"], false);
}

TEST(BenchReport, ANameCannotBreakATable) {
  BenchReport made = report();
  made.results[0].model.json["name"] = "a|b";
  EXPECT_THAT(to_markdown(make_report(made)), HasSubstr("| a\\|b | 1 |"));
  made.results[0].model.json["name"] = "a\nb\x1b[2J";
  made.results[0].source = "c\nd\x1b[2J";
  EXPECT_THAT(to_markdown(make_report(made)), HasSubstr("| a\\nb\\x1b[2J | 1 |"));
  EXPECT_THAT(to_text(make_report(made)), HasSubstr("\nc\\nd\\x1b[2J\n"));
  EXPECT_THAT(to_text(make_report(made)), HasSubstr("\na\\nb\\x1b[2J        1 "));
  for (const std::string& text : {to_text(make_report(made)), to_markdown(make_report(made))}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("a\nb"), std::string::npos) << text;
  }
}

TEST(BenchReport, ModelsOfOneNameAreToldApart) {
  BenchReport made = report();
  made.results.resize(2, result());
  made.results[0].model.json["file"] = "a/net.pt";
  made.results[1].model.json["file"] = "a/net.onnx";
  disambiguate_names(made.results);
  EXPECT_EQ(made.results[0].model.text("name"), "mobilenet (net.pt)");
  EXPECT_THAT(to_text(make_report(made)), HasSubstr("\nmobilenet (net.onnx), 2 threads"));
  made.results = {result(), result()};
  made.results[0].model.json["file"] = "a/net.pt";
  made.results[1].model.json["file"] = "b/net.pt";
  disambiguate_names(made.results);
  EXPECT_EQ(made.results[1].model.text("name"), "mobilenet (b/net.pt)");
  made.results = {result(1), result(2)};
  disambiguate_names(made.results);
  EXPECT_EQ(made.results[1].model.text("name"), "mobilenet") << "one file";
}

TEST(BenchReport, HasColumnsOfADeviceWhenThereIsOne) {
  BenchReport made = report();
  EXPECT_THAT(to_text(make_report(made)), testing::Not(HasSubstr("fallback")));
  EXPECT_THAT(to_html(make_report(made), ""), testing::Not(HasSubstr("fallback")));
  EXPECT_TRUE(to_json(made)["results"][0]["device"].is_null());
  for (BenchResult& one : made.results) one.device = BenchDevice{"meter", 62, 38, 55448800, 0.125};
  EXPECT_THAT(to_text(make_report(made)),
              HasSubstr(" meter     62      38  55448800       12.5\n"));
  EXPECT_THAT(to_markdown(make_report(made)), HasSubstr("| meter | 62 | 38 | 55448800 | 12.5 |"));
  EXPECT_THAT(to_html(make_report(made), ""), HasSubstr("<td>meter</td><td>62</td><td>38</td>"));
  const Json device = to_json(made)["results"][0]["device"];
  EXPECT_EQ(device["fallback_calls"], 38);
  EXPECT_EQ(device["fallback_share"], 0.125);
}

}  // namespace
}  // namespace lookout
