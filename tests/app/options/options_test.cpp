// Values of the options of `run`: those that are accepted, and the errors for others.
#include "app/options/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>

#include "pipeline/core/error.h"
#include "tests/app/options/parsing.h"

namespace lookout {
namespace {

// A setting that has no flag.
RunOptions parse_set(const std::string& setting) { return parse_run({"--set", setting}); }

TEST(Options, AModelIsDescribed) {
  const StatedModel none = parse_run({}).model.stated;
  EXPECT_FALSE(none.size || none.channels || none.output || none.normalisation.scale ||
               none.normalisation.mean || none.normalisation.std);
  const StatedModel stated =
      parse_run({"--input-size", "320x240", "--mean", "0.5, -0.4,.3", "--std", "1", "--channels",
                 "bgr", "--scale", "-1..1", "--output", "sigmoid"})
          .model.stated;
  EXPECT_EQ(stated.size->width, 320);
  EXPECT_EQ(stated.size->height, 240);
  EXPECT_EQ(stated.normalisation.mean, (std::array{0.5F, -0.4F, 0.3F}));
  EXPECT_EQ(stated.normalisation.std, (std::array{1.0F, 1.0F, 1.0F}));
  EXPECT_EQ(stated.channels, ChannelOrder::kBgr);
  EXPECT_EQ(stated.normalisation.scale, PixelScale::kSigned);
  EXPECT_EQ(stated.output, ModelOutput::kSigmoid);
  EXPECT_EQ(parse_run({"--input-size=299"}).model.stated.size->height, 299);
  EXPECT_EQ(parse_run({"--mean", "-1,0,0"}).model.stated.normalisation.mean->front(), -1);
}

TEST(Options, AWrongDescriptionOfAModelIsRefused) {
  for (const auto& [flag, values] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"--input-size", {"", "0", "4097", "3x", "x3", "3x4x5", "3*4", "-3", "1.5"}},
           {"--mean", {"", "1,2", "1,2,3,4", "a", "1,nan,1", "1,inf,1"}},
           {"--std", {"0", "1,1,0", "-1", "1e60"}},
           {"--channels", {"", "RGB", "rgba"}},
           {"--scale", {"", "255", "0-255", "0..2"}},
           {"--output", {"", "softmax", "x.json"}}}) {
    for (const std::string& value : values) {
      expect_error({flag + "=" + value}, ErrorKind::kUsage, flag);
    }
  }
}

TEST(Options, EveryOptionIsUnderstood) {
  const RunOptions options = parse_run({"run",         "test://all",
                                        "--model",     "m.pt",
                                        "--labels",    "l.txt",
                                        "--set",       "camera.name=door",
                                        "--set",       "camera.width=1280",
                                        "--set",       "camera.height=720",
                                        "--set",       "camera.framerate=15",
                                        "--set",       "camera.live=true",
                                        "--set",       "camera.recursive=true",
                                        "--set",       "camera.hflip=true",
                                        "--set",       "camera.vflip=true",
                                        "--set",       "camera.max-pixels=5000000",
                                        "--set",       "camera.rotation=180",
                                        "--roi",       "0.25,0,0.5,1",
                                        "--top-k",     "3",
                                        "--threshold", "0.5",
                                        "--threads",   "2",
                                        "--format",    "json",
                                        "--timeout",   "10s",
                                        "--log-level", "warn"});
  EXPECT_EQ(options.camera.source, "test://all");
  EXPECT_EQ(options.model.file, "m.pt");
  EXPECT_EQ(options.model.labels, "l.txt");
  EXPECT_EQ(options.camera.name, "door");
  EXPECT_EQ(options.camera.source_options.width, 1280);
  EXPECT_EQ(options.camera.source_options.height, 720);
  EXPECT_EQ(options.camera.source_options.framerate, 15);
  EXPECT_TRUE(options.camera.source_options.live);
  EXPECT_TRUE(options.camera.source_options.recursive);
  EXPECT_EQ(options.camera.source_options.max_pixels, 5'000'000);
  EXPECT_TRUE(options.camera.view.hflip);
  EXPECT_TRUE(options.camera.view.vflip);
  EXPECT_EQ(options.camera.view.rotation, 180);
  EXPECT_EQ(options.camera.view.roi, cv::Rect2d(0.25, 0, 0.5, 1));
  EXPECT_EQ(options.results.top_k, 3U);
  EXPECT_EQ(options.results.threshold, 0.5);
  EXPECT_EQ(options.model.threads, 2);
  EXPECT_EQ(options.results.format, Format::kJson);
  EXPECT_EQ(options.camera.timeout, std::chrono::seconds(10));
  EXPECT_EQ(options.log.level, "warn");
}

TEST(Options, AServicesOptionsAreUnderstood) {
  EXPECT_EQ(parse_set("camera.give-up-after=30s").camera.source_options.give_up_after,
            std::chrono::seconds(30));
  EXPECT_EQ(parse_set("camera.wait=yes").camera.wait, Wait::kYes);
  EXPECT_EQ(parse_set("camera.wait=no").camera.wait, Wait::kNo);
  EXPECT_EQ(parse_set("camera.capture-cpus=2,3").camera.capture.cpus, (std::vector<int>{2, 3}));
  EXPECT_TRUE(parse_set("camera.capture-cpus=").camera.capture.cpus.empty());
  EXPECT_EQ(parse_run({"--set", "results.write=changes"}).results.write, Results::kChanges);
  EXPECT_EQ(parse_run({"--set", "results.write=all"}).results.write, Results::kAll);
  EXPECT_EQ(parse_set("log.stats-interval=5s").log.stats_interval, std::chrono::seconds(5));
  EXPECT_EQ(parse_set("log.stats-interval=auto").log.stats_interval, std::chrono::seconds(0));
}

TEST(Options, StatesAreUnderstood) {
  const RunOptions options = parse_run(
      {"--set", "state.smoothing=500ms", "--set", "state.enter-threshold=0.7", "--set",
       "state.leave-threshold=0.4", "--set", "state.min-duration=2s", "--on-change",
       "notify 'two words'", "--set", "events.on-change-timeout=1min", "--snapshot-on-change",
       "/pictures", "--set", "events.snapshot-cooldown=0", "--set", "events.snapshot-limit=2GB"});
  EXPECT_EQ(options.events.on_change, (std::vector<std::string>{"notify", "two words"}));
  EXPECT_EQ(options.events.on_change_timeout, std::chrono::minutes(1));
  EXPECT_EQ(options.events.snapshot_on_change, "/pictures");
  EXPECT_EQ(options.events.snapshot_cooldown, std::chrono::seconds(0));
  EXPECT_EQ(options.events.snapshot_limit, std::uint64_t{2} << 30);
  const StateOptions state = state_options(options);
  EXPECT_EQ(state.smoothing, std::chrono::milliseconds(500));
  EXPECT_EQ(state.enter_threshold, 0.7F);
  EXPECT_EQ(state.leave_threshold, 0.4F);
  EXPECT_EQ(state.min_duration, std::chrono::seconds(2));
  EXPECT_TRUE(parse_run({"--on-change", ""}).events.on_change.empty());
}

TEST(Options, ThresholdsOfTheStateAreThoseOfResultsUnlessSaid) {
  EXPECT_EQ(state_options(parse_run({})).enter_threshold, 0);
  const StateOptions both = state_options(parse_run({"--threshold", "0.5"}));
  EXPECT_EQ(both.enter_threshold, 0.5F);
  EXPECT_EQ(both.leave_threshold, 0.5F);
  const StateOptions entering = state_options(parse_run({"--set", "state.enter-threshold=0.6"}));
  EXPECT_EQ(entering.enter_threshold, 0.6F);
  EXPECT_EQ(entering.leave_threshold, 0.6F);
}

TEST(Options, WrongStatesAreUsageErrors) {
  expect_error(
      {"--set", "state.leave-threshold=0.1"}, ErrorKind::kUsage,
      "--set state.leave-threshold: 0.1 is above results.threshold, 0: a state would be left");
  expect_error(
      {"--set", "state.enter-threshold=0.3", "--set", "state.leave-threshold=0.8"},
      ErrorKind::kUsage,
      "--set state.leave-threshold: 0.8 is above --set state.enter-threshold, 0.3: a state would");
  expect_error(
      {"--set", "state.enter-threshold=2"}, ErrorKind::kUsage,
      "--set state.enter-threshold: expected a number from 0 to 1, not 2; see lookout run --help");
  expect_error({"--on-change", "echo >x"}, ErrorKind::kUsage, "--on-change: ");
  expect_error({"--set", "events.on-change-timeout=0"}, ErrorKind::kUsage, "a time above 0");
  expect_error({"--set", "mqtt.interval=500ms"}, ErrorKind::kUsage, "a time from 1s to ten years");
  for (const char* wrong : {"0", "lots", "", "-1", "1.5MB", "5XB", "99999999999TB"}) {
    expect_error({"--set", std::string("events.snapshot-limit=") + wrong}, ErrorKind::kUsage,
                 "--set events.snapshot-limit: expected a size of 1 byte or more, as in 500KB");
  }
  const Environment leave("LOOKOUT_STATE_LEAVE_THRESHOLD", "0.9");
  expect_error({}, ErrorKind::kConfig, "environment LOOKOUT_STATE_LEAVE_THRESHOLD: ");
}

TEST(Options, ProfilingIsUnderstood) {
  const RunOptions options = parse_run({"--set", "profile.op-sampling=0.01", "--set",
                                        "profile.op-by=layer", "--set", "profile.op-sort=memory",
                                        "--trace", "t.json", "--set", "profile.trace-frames=30"});
  EXPECT_EQ(options.profile.op_sampling, 0.01);
  EXPECT_EQ(options.profile.op_by, OperatorGroup::kLayer);
  EXPECT_EQ(options.profile.op_sort, OperatorOrder::kMemory);
  EXPECT_EQ(
      parse_run({"--set", "profile.op-sampling=1", "--set", "profile.op-rows=5"}).profile.op_rows,
      5U);
  expect_error({"--set", "profile.op-by=layer"}, ErrorKind::kUsage,
               "--set profile.op-by: the table of operators needs --set profile.op-sampling=N");
  {
    const Environment by_layer("LOOKOUT_PROFILE_OP_BY", "layer");
    EXPECT_EQ(parse_run({}).profile.op_by, OperatorGroup::kLayer);
  }
  expect_error({"--set", "profile.op-by=line"}, ErrorKind::kUsage,
               "profile.op-by: expected name, shape or layer");
  EXPECT_EQ(options.profile.trace, "t.json");
  EXPECT_EQ(options.profile.trace_frames, 30U);
  EXPECT_EQ(parse_run({"--set", "profile.op-sampling=1"}).profile.op_sampling, 1);
  EXPECT_EQ(parse_run({"--set", "profile.op-sampling=0"}).profile.op_sampling, 0);
  EXPECT_EQ(parse_run({"--set", "profile.op-sampling=1e-6"}).profile.op_sampling, 1e-6);
  for (const char* wrong : {"-0.1", "1.01", "1e-7", "nan", "often", "0.1x", ""}) {
    expect_error({"--set", std::string("profile.op-sampling=") + wrong}, ErrorKind::kUsage,
                 "profile.op-sampling: expected 0 or a share of calls from 0.000001 to 1");
  }
  expect_error({"--set", "profile.trace-frames=0"}, ErrorKind::kUsage, "profile.trace-frames");
}

TEST(Options, TimesHaveUnits) {
  const std::map<std::string, std::chrono::milliseconds> times{
      {"1500ms", std::chrono::milliseconds(1500)}, {"250ms", std::chrono::milliseconds(250)},
      {"1.5s", std::chrono::milliseconds(1500)},   {"10 s", std::chrono::seconds(10)},
      {"8.05s", std::chrono::milliseconds(8050)},  {"1234567s", std::chrono::seconds(1234567)},
      {"2min", std::chrono::minutes(2)},           {"1h", std::chrono::hours(1)}};
  for (const auto& [text, expected] : times) {
    EXPECT_EQ(parse_run({"-t", text}).camera.timeout, expected) << text;
  }
  // Seconds to some, milliseconds to rpicam-apps.
  expect_error({"-t", "5"}, ErrorKind::kUsage,
               "--timeout: 5 needs a unit: 5s or 5ms; see lookout run --help");
  for (const char* name : {"camera.timeout", "log.stats-interval", "camera.give-up-after",
                           "state.smoothing", "state.min-duration", "events.on-change-timeout",
                           "events.snapshot-cooldown", "still.at-least-every"}) {
    const std::string setting = std::string(name) + "=30";
    expect_error({"--set", setting}, ErrorKind::kUsage, "30 needs a unit: 30s or 30ms");
    EXPECT_NO_THROW(parse_set(setting + "s")) << setting;
  }
  EXPECT_EQ(parse_set("camera.give-up-after=0").camera.source_options.give_up_after.count(), 0);
}

// 0 means something else: never, none, auto.
TEST(Options, AShortTimeIsNotZero) {
  constexpr std::chrono::milliseconds kMinTime{1};
  for (const std::string text : {"0.5ms", "0.1ms", "0.0001s"}) {
    EXPECT_EQ(parse_run({"-t", text}).camera.timeout, kMinTime) << text;
    EXPECT_EQ(parse_set("events.on-change-timeout=" + text).events.on_change_timeout, kMinTime);
    EXPECT_EQ(parse_set("log.stats-interval=" + text).log.stats_interval, kMinTime) << text;
  }
  EXPECT_EQ(parse_run({"-t", "0s"}).camera.timeout.count(), 0);
}

TEST(Options, WhatIsNoTimeIsRefusedInASentence) {
  for (const char* wrong : {"-1s", "years", "5years", "h", "1,5s", "nan", "87601h", "1e30s", ""}) {
    expect_error({"--set", std::string("state.smoothing=") + wrong}, ErrorKind::kUsage,
                 "--set state.smoothing: expected a time, as in 500ms, 10s, 5min or 1h, of at most "
                 "ten years, not ");
  }
  for (const char* wrong : {"9999999h", "nan", "inf", "1e30s"}) {
    expect_error({"--timeout", wrong}, ErrorKind::kUsage, "--timeout: expected a time");
  }
  EXPECT_EQ(parse_run({"--timeout", "1000h"}).camera.timeout, std::chrono::hours(1000));
}

TEST(Options, WrongValuesAreUsageErrorsThatSayWhatIsRight) {
  const std::vector<std::tuple<std::vector<std::string>, const char*>> wrong{
      {{"--top-k", "0"},
       "--top-k: expected a whole number from 1 to 1000, not 0; see lookout run --help"},
      {{"--top-k", "many"}, "expected a whole number from 1 to 1000"},
      {{"--top-k", "1.5"}, "expected a whole number"},
      {{"--threshold", "1.5"}, "expected a number from 0 to 1, not 1.5;"},
      {{"--threads", "-1"}, "expected auto or a whole number from 1 to 64"},
      {{"--threads", "0"}, "expected auto or a whole number from 1 to 64"},
      {{"--threads", "lots"}, "expected auto or a whole number"},
      {{"--set", "model.workers=0"}, "expected a whole number from 1 to 64"},
      {{"--format", "xml"}, "--format: expected text or json, not xml; see lookout run --help"},
      {{"--set", "camera.rotation=45"}, "expected 0, 90, 180 or 270"},
      {{"--timeout", "10 years"}, "expected a time"},
      {{"--timeout", "-1"}, "expected a time"},
      {{"--set", "results.write=few"}, "expected auto, all or changes"},
      {{"--log-level", "loud"}, "expected debug, info, warn, error or off"},
      {{"--set", "camera.width=1"}, "expected a whole number from 16 to 8192"},
      {{"--overlay=99999999999999999999"}, "--overlay: expected true or false"},
      {{"--set", "camera.flicker=55"}, "expected off, 50 or 60"},
      {{"--set", "camera.awb-gains=1.5"}, "expected two numbers above 0, as in 1.8,1.5"},
      {{"--set", "camera.awb-gains=1,0"}, "expected two numbers above 0"},
      {{"--set", "camera.max-pixels=0"}, "expected a whole number from 1 to 1073741824"},
      {{"--set", "camera.capture-priority=100"}, "expected a whole number from 0 to 99"},
      {{"--set", "camera.capture-cpus=2-3"}, "expected numbers of processors, as in 2,3"},
      {{"--set", "camera.capture-cpus=1024"}, "each from 0 to 1023"},
      {{"--set", "camera.give-up-after=soon"}, "expected a time"},
      {{"--set", "camera.wait=perhaps"}, "expected auto, yes or no"},
      {{"--set", "log.stats-interval=rarely"}, "expected auto or a time"},
      {{"--set", "model.workers=2", "--threads", "2"},
       "--threads: each of several workers computes with"}};
  for (const auto& [arguments, sentence] : wrong) {
    expect_error(arguments, ErrorKind::kUsage, sentence);
  }
}

TEST(Options, ARegionIsARectangleInsideThePicture) {
  for (const char* roi : {"0,0,1", "0,0,1,1,1", "0,0,2,1", "0.5,0,0.6,1", "a,0,1,1", "0,0,0,1", "",
                          "nan,0,1,1", "0,0,1e-7,1e-7", "0,0,1,0.0009"}) {
    expect_error({"--roi", roi}, ErrorKind::kUsage, "--roi: expected x,y,width,height, each from");
  }
  EXPECT_EQ(parse_run({"--roi", "0.7,0,0.3,0.001"}).camera.view.roi,
            cv::Rect2d(0.7, 0, 0.3, 0.001));
}

TEST(Options, StillScenesAreUnderstood) {
  const StillOptions defaults = parse_run({}).still;
  EXPECT_EQ(defaults.enabled, Still::kAuto);
  EXPECT_EQ(defaults.at_least_every, std::chrono::seconds(1));
  EXPECT_TRUE(defaults.ignore.empty());
  EXPECT_EQ(parse_run({"--still", "yes"}).still.enabled, Still::kYes);
  EXPECT_EQ(parse_run({"--still", "no"}).still.enabled, Still::kNo);
  EXPECT_EQ(parse_set("still.at-least-every=100ms").still.at_least_every,
            std::chrono::milliseconds(100));
  EXPECT_EQ(parse_set("still.at-least-every=1h").still.at_least_every, std::chrono::hours(1));
  for (const char* wrong : {"0", "99ms", "61min", "often"}) {
    expect_error({"--set", std::string("still.at-least-every=") + wrong}, ErrorKind::kUsage,
                 "still.at-least-every: expected a time from 100ms to 1h, as in");
  }
}

TEST(Options, IgnoredRectanglesLieInThePicture) {
  const auto ignored = [](const std::string& text) {
    return parse_set("still.ignore=" + text).still.ignore;
  };
  EXPECT_EQ(ignored("0,0,0.3,0.05"), (std::vector{cv::Rect2d(0, 0, 0.3, 0.05)}));
  EXPECT_EQ(ignored("0,0,0.3,0.05, 0.5,0.5,0.5,0.5"),
            (std::vector{cv::Rect2d(0, 0, 0.3, 0.05), cv::Rect2d(0.5, 0.5, 0.5, 0.5)}));
  EXPECT_TRUE(ignored("").empty());
  std::string many = "0,0,0.1,0.1";
  for (int i = 1; i < 32; ++i) many += ",0,0,0.1,0.1";
  EXPECT_EQ(ignored(many).size(), 32U);
  for (const std::string& wrong :
       {std::string("0,0,1"), std::string("0,0,0.1,0.1,0"), std::string("0.5,0,0.6,0.1"),
        std::string("0,0,0,0.1"), std::string("a,0,0.1,0.1"), many + ",0,0,0.1,0.1"}) {
    expect_error({"--set", "still.ignore=" + wrong}, ErrorKind::kUsage,
                 "still.ignore: expected at most 32 rectangles, each x,y,width,height, each from");
  }
}

TEST(Options, IgnoredRectanglesLeaveAPartOfWhatIsClassified) {
  constexpr const char* kSentence =
      "the rectangles of still.ignore cover all that is classified: leave a part out";
  const std::string halves = "still.ignore=0,0,0.6,1,0.6,0,0.4,1";
  expect_error({"--set", "still.ignore=0,0,1,1"}, ErrorKind::kUsage,
               std::string("--set still.ignore: ") + kSentence);
  expect_error({"--set", halves}, ErrorKind::kUsage, kSentence);
  expect_error({"--set", "still.ignore=0,0,0.5,1", "--roi", "0.1,0.1,0.3,0.9"}, ErrorKind::kUsage,
               kSentence);
  EXPECT_NO_THROW(parse_set("still.ignore=0,0,0.6,1,0.6,0,0.4,0.9"));
  EXPECT_NO_THROW(parse_run({"--set", "still.ignore=0,0,0.5,1", "--roi", "0.4,0,0.3,1"}));
  const Environment ignore("LOOKOUT_STILL_IGNORE", "0,0,1,1");
  expect_error({}, ErrorKind::kConfig, kSentence);
}

TEST(Options, RateAndHeatAreUnderstood) {
  EXPECT_FALSE(parse_run({}).camera.max_rate);
  EXPECT_FALSE(parse_run({}).heat.limit);
  EXPECT_EQ(parse_run({"--max-rate", "0.01"}).camera.max_rate, 0.01);
  EXPECT_EQ(parse_run({"--max-rate", "1000"}).camera.max_rate, 1000);
  EXPECT_EQ(parse_set("heat.limit=72.5").heat.limit, 72.5);
  for (const char* wrong : {"0", "0.009", "1001", "fast", "nan"}) {
    expect_error({"--max-rate", wrong}, ErrorKind::kUsage,
                 "--max-rate: expected a number from 0.01 to 1000");
  }
  for (const char* wrong : {"39", "101", "hot"}) {
    expect_error({"--set", std::string("heat.limit=") + wrong}, ErrorKind::kUsage,
                 "heat.limit: expected a number from 40 to 100");
  }
}

TEST(Options, AnHttpAddressAndItsNamesAreChecked) {
  expect_error({"--set", "http.address=8090"}, ErrorKind::kUsage, "127.0.0.1:8090, [::]:8090 or");
  expect_error({"--set", "http.address=localhost:8090"}, ErrorKind::kUsage, "an address");
  expect_error({"--set", "http.hosts=http://a"}, ErrorKind::kUsage, "names without ports");
  expect_error({"--set", "http.clients=0"}, ErrorKind::kUsage, "from 1 to 1000");
  const RunOptions options = parse_run({"--set", "http.hosts=Pi.lan, camera.example"});
  EXPECT_EQ(options.http.hosts, std::vector<std::string>({"pi.lan", "camera.example"}));
  EXPECT_EQ(parse_run({"--set", "http.address=[::]:80"}).http.address, "[::]:80");
  EXPECT_EQ(parse_run({"--set", "http.address="}).http.address, "");
}

TEST(Options, ASourceThatNamesNoneIsRefused) {
  expect_error({"tset://all"}, ErrorKind::kUsage, "unknown scheme tset://");
  expect_error({""}, ErrorKind::kUsage, "the source is empty");
  const Environment source("LOOKOUT_CAMERA_SOURCE", "tset://all");
  expect_error({}, ErrorKind::kConfig, "environment LOOKOUT_CAMERA_SOURCE: ");
}

TEST(Options, WhatIsNoFiniteNumberIsRefused) {
  for (const char* name : {"results.threshold", "state.enter-threshold", "state.leave-threshold",
                           "camera.framerate"}) {
    for (const char* wrong : {"nan", "-nan", "inf", "NAN(1)", "x", "0.5x", "-0.1", ""}) {
      expect_error({"--set", fmt::format("{}={}", name, wrong)}, ErrorKind::kUsage,
                   fmt::format("--set {}: expected a number from 0", name));
    }
  }
  const Environment threshold("LOOKOUT_RESULTS_THRESHOLD", "nan");
  expect_error({}, ErrorKind::kConfig,
               "environment LOOKOUT_RESULTS_THRESHOLD: expected a number from 0 to 1");
}

}  // namespace
}  // namespace lookout
