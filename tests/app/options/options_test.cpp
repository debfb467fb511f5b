#include "app/options/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "paths.h"
#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

// Sets a variable for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

RunOptions parse_run(const std::vector<std::string>& arguments) {
  return std::get<RunOptions>(parse_command(arguments));
}

void expect_error(const std::vector<std::string>& arguments, ErrorKind kind,
                  const std::string& named) {
  try {
    parse_command(arguments);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }
}

void expect_equal(const RunOptions& a, const RunOptions& b) {
  EXPECT_EQ(a.camera.source, b.camera.source);
  EXPECT_EQ(a.model.file, b.model.file);
  EXPECT_EQ(a.model.labels, b.model.labels);
  EXPECT_EQ(a.camera.name, b.camera.name);
  EXPECT_EQ(a.camera.source_options.width, b.camera.source_options.width);
  EXPECT_EQ(a.camera.source_options.height, b.camera.source_options.height);
  EXPECT_EQ(a.camera.source_options.framerate, b.camera.source_options.framerate);
  EXPECT_EQ(a.camera.source_options.give_up_after, b.camera.source_options.give_up_after);
  EXPECT_EQ(a.camera.wait, b.camera.wait);
  EXPECT_EQ(a.camera.view.rotation, b.camera.view.rotation);
  EXPECT_EQ(a.camera.view.hflip, b.camera.view.hflip);
  EXPECT_EQ(a.camera.view.vflip, b.camera.view.vflip);
  EXPECT_EQ(a.camera.view.roi, b.camera.view.roi);
  EXPECT_EQ(a.results.top_k, b.results.top_k);
  EXPECT_EQ(a.results.threshold, b.results.threshold);
  EXPECT_EQ(a.model.threads, b.model.threads);
  EXPECT_EQ(a.model.workers, b.model.workers);
  EXPECT_EQ(a.camera.capture.realtime_priority, b.camera.capture.realtime_priority);
  EXPECT_EQ(a.camera.capture.cpus, b.camera.capture.cpus);
  EXPECT_EQ(a.results.format, b.results.format);
  EXPECT_EQ(a.results.write, b.results.write);
  EXPECT_EQ(a.state.smoothing, b.state.smoothing);
  EXPECT_EQ(a.state.enter_threshold, b.state.enter_threshold);
  EXPECT_EQ(a.state.leave_threshold, b.state.leave_threshold);
  EXPECT_EQ(a.state.min_duration, b.state.min_duration);
  EXPECT_EQ(a.events.on_change, b.events.on_change);
  EXPECT_EQ(a.events.on_change_timeout, b.events.on_change_timeout);
  EXPECT_EQ(a.events.snapshot_on_change, b.events.snapshot_on_change);
  EXPECT_EQ(a.events.snapshot_cooldown, b.events.snapshot_cooldown);
  EXPECT_EQ(a.events.snapshot_limit, b.events.snapshot_limit);
  EXPECT_EQ(a.results.overlay, b.results.overlay);
  EXPECT_EQ(a.log.stats_interval, b.log.stats_interval);
  EXPECT_EQ(a.camera.timeout, b.camera.timeout);
  EXPECT_EQ(a.profile.op_sampling, b.profile.op_sampling);
  EXPECT_EQ(a.profile.op_shapes, b.profile.op_shapes);
  EXPECT_EQ(a.profile.trace, b.profile.trace);
  EXPECT_EQ(a.profile.trace_frames, b.profile.trace_frames);
  EXPECT_EQ(a.log.level, b.log.level);
}

TEST(Options, DefaultsWhereNothingIsSaid) {
  expect_equal(parse_run({}), RunOptions());
  expect_equal(parse_run({"run"}), RunOptions());
}

TEST(Options, TheShippedFileHoldsEveryKeyAndTheDefaultsButForTheServicesMinDuration) {
  const std::string shipped = std::string(LOOKOUT_DEPLOY) + "/lookout.toml";
  RunOptions expected;
  expected.state.min_duration = std::chrono::milliseconds(500);
  expect_equal(parse_run({"--config", shipped}), expected);

  std::ifstream file(shipped);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string help = std::get<PrintText>(parse_command({"--help"})).text;
  std::istringstream words(help);
  int keys = 0;
  for (std::string word; words >> word;) {
    const auto dashes = word.find("--");
    if (dashes == std::string::npos || word.find("--no-") == dashes) continue;
    const std::string key = word.substr(dashes + 2, word.find_first_of(",[{", dashes) - dashes - 2);
    if (key.empty() || key == "help" || key == "version" || key == "config") continue;
    const bool there = text.str().find("\n" + key + " =") != std::string::npos ||
                       text.str().find("\n# " + key + " =") != std::string::npos;  // has no default
    EXPECT_TRUE(there) << key << " is not in deploy/lookout.toml";
    ++keys;
  }
  EXPECT_GE(keys, 15);
}

TEST(Options, EveryOptionIsUnderstood) {
  const RunOptions options =
      parse_run({"run",         "test://all", "--model",     "m.pt",      "--labels",
                 "l.txt",       "--name",     "door",        "--width",   "1280",
                 "--height",    "720",        "--framerate", "15",        "--hflip",
                 "--vflip",     "--rotation", "180",         "--roi",     "0.25,0,0.5,1",
                 "--top-k",     "3",          "--threshold", "0.5",       "--threads",
                 "2",           "--format",   "json",        "--timeout", "10s",
                 "--log-level", "warn"});
  EXPECT_EQ(options.camera.source, "test://all");
  EXPECT_EQ(options.model.file, "m.pt");
  EXPECT_EQ(options.model.labels, "l.txt");
  EXPECT_EQ(options.camera.name, "door");
  EXPECT_EQ(options.camera.source_options.width, 1280);
  EXPECT_EQ(options.camera.source_options.height, 720);
  EXPECT_EQ(options.camera.source_options.framerate, 15);
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
  const RunOptions options =
      parse_run({"--give-up-after", "30s", "--results", "changes", "--stats-interval", "5s"});
  EXPECT_EQ(options.camera.source_options.give_up_after, std::chrono::seconds(30));
  EXPECT_EQ(options.results.write, Results::kChanges);
  EXPECT_EQ(parse_run({"--wait-for-camera", "yes"}).camera.wait, Wait::kYes);
  EXPECT_EQ(parse_run({"--wait-for-camera", "no"}).camera.wait, Wait::kNo);
  EXPECT_EQ(options.log.stats_interval, std::chrono::seconds(5));
  EXPECT_EQ(parse_run({"--results", "all"}).results.write, Results::kAll);
  EXPECT_EQ(parse_run({"--stats-interval", "auto"}).log.stats_interval, std::chrono::seconds(0));
}

TEST(Options, StatesAreUnderstood) {
  const RunOptions options = parse_run(
      {"--smoothing", "500ms", "--enter-threshold", "0.7", "--leave-threshold", "0.4",
       "--min-duration", "2s", "--on-change", "notify 'two words'", "--on-change-timeout", "1min",
       "--snapshot-on-change", "/pictures", "--snapshot-cooldown", "0", "--snapshot-limit", "2GB"});
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
  const StateOptions entering = state_options(parse_run({"--enter-threshold", "0.6"}));
  EXPECT_EQ(entering.enter_threshold, 0.6F);
  EXPECT_EQ(entering.leave_threshold, 0.6F);
}

TEST(Options, WrongStatesAreUsageErrors) {
  expect_error({"--leave-threshold", "0.1"}, ErrorKind::kUsage, "--leave-threshold: 0.1 is above");
  expect_error({"--enter-threshold", "2"}, ErrorKind::kUsage, "--enter-threshold");
  expect_error({"--smoothing", "much"}, ErrorKind::kUsage, "--smoothing");
  expect_error({"--on-change", "echo >x"}, ErrorKind::kUsage, "--on-change");
  expect_error({"--on-change-timeout", "0"}, ErrorKind::kUsage, "--on-change-timeout");
  expect_error({"--snapshot-limit", "0"}, ErrorKind::kUsage,
               "--snapshot-limit: expected a number of 1 or more;");
  expect_error({"--snapshot-limit", "lots"}, ErrorKind::kUsage, "--snapshot-limit");
  const Environment leave("LOOKOUT_LEAVE_THRESHOLD", "0.9");
  expect_error({}, ErrorKind::kConfig, "--leave-threshold");
}

TEST(Options, ProfilingIsUnderstood) {
  const RunOptions options = parse_run(
      {"--op-sampling", "0.01", "--op-shapes", "--trace", "t.json", "--trace-frames", "30"});
  EXPECT_EQ(options.profile.op_sampling, 0.01);
  EXPECT_TRUE(options.profile.op_shapes);
  EXPECT_EQ(options.profile.trace, "t.json");
  EXPECT_EQ(options.profile.trace_frames, 30U);
  EXPECT_EQ(parse_run({"--op-sampling", "1"}).profile.op_sampling, 1);
  EXPECT_EQ(parse_run({"--op-sampling", "1e-6"}).profile.op_sampling, 1e-6);
  for (const char* wrong : {"-0.1", "1.01", "1e-7", "nan", "often", "0.1x", ""}) {
    expect_error({"--op-sampling", wrong}, ErrorKind::kUsage, "--op-sampling");
  }
  expect_error({"--trace-frames", "0"}, ErrorKind::kUsage, "--trace-frames");
}

TEST(Options, ACommandOfTheFileMayHaveQuotes) {
  const TempDir directory;
  const std::string file = directory.write(
      "c.toml", "on-change = \"sh -c 'echo $LOOKOUT_EVENT_STATE >>/tmp/states'\"\n");
  EXPECT_EQ(parse_run({"--config", file}).events.on_change,
            (std::vector<std::string>{"sh", "-c", "echo $LOOKOUT_EVENT_STATE >>/tmp/states"}));
}

// So that a lookout that is run by --on-change takes none of its variables for an option.
TEST(Options, NoneIsCalledLikeAnEvent) {
  const std::string help = std::get<PrintText>(parse_command({"--help"})).text;
  EXPECT_EQ(help.find("--event"), std::string::npos);
  EXPECT_EQ(help.find("LOOKOUT_EVENT_STATE,"), std::string::npos);
}

TEST(Options, TimesHaveUnits) {
  const std::map<std::string, std::chrono::milliseconds> times{
      {"1500", std::chrono::milliseconds(1500)},  {"250ms", std::chrono::milliseconds(250)},
      {"1.5s", std::chrono::milliseconds(1500)},  {"10 s", std::chrono::seconds(10)},
      {"8.05s", std::chrono::milliseconds(8050)}, {"1234567s", std::chrono::seconds(1234567)},
      {"2min", std::chrono::minutes(2)},          {"1h", std::chrono::hours(1)}};
  for (const auto& [text, expected] : times) {
    EXPECT_EQ(parse_run({"-t", text}).camera.timeout, expected) << text;
  }
  // A bare number is milliseconds there alone, where rpicam-apps have it so.
  for (const char* option : {"--stats-interval", "--give-up-after", "--smoothing", "--min-duration",
                             "--on-change-timeout", "--snapshot-cooldown"}) {
    expect_error({option, "30"}, ErrorKind::kUsage, "expected a time");
    EXPECT_NO_THROW(parse_run({option, "30s"})) << option;
  }
  EXPECT_EQ(parse_run({"--give-up-after", "0"}).camera.source_options.give_up_after.count(), 0);
}

// 0 means something else: never, none, auto.
TEST(Options, AShortTimeIsNotZero) {
  constexpr std::chrono::milliseconds kShortest{1};
  EXPECT_EQ(parse_run({"-t", "0.5"}).camera.timeout, kShortest);
  for (const char* text : {"0.5ms", "0.1ms", "0.0001s"}) {
    EXPECT_EQ(parse_run({"-t", text}).camera.timeout, kShortest) << text;
    EXPECT_EQ(parse_run({"--on-change-timeout", text}).events.on_change_timeout, kShortest) << text;
    EXPECT_EQ(parse_run({"--stats-interval", text}).log.stats_interval, kShortest) << text;
  }
  EXPECT_EQ(parse_run({"-t", "0s"}).camera.timeout.count(), 0);
}

TEST(Options, WhatIsNoTimeIsRefusedInASentence) {
  for (const char* wrong : {"-1s", "years", "5years", "h", "1,5s", "nan", "87601h"}) {
    expect_error(
        {std::string("--smoothing=") + wrong}, ErrorKind::kUsage,
        "--smoothing: expected a time, as in 500ms, 10s, 5min or 1h, of ten years at most;");
  }
  expect_error({"--on-change-timeout", "0"}, ErrorKind::kUsage,
               "--on-change-timeout: expected a time above 0, as in ");
}

TEST(Options, TheCommandLineWinsOverTheEnvironmentAndThatOverTheFile) {
  const TempDir directory;
  const std::string file = directory.write("c.toml",
                                           "top-k = 1\nthreshold = 0.1\nthreads = 1\n"
                                           "source = \"a\"\nhflip = true\n");
  const Environment top_k("LOOKOUT_TOP_K", "2");
  const Environment threshold("LOOKOUT_THRESHOLD", "0.2");
  const Environment source("LOOKOUT_SOURCE", "b");
  const Environment config("LOOKOUT_CONFIG", file.c_str());
  const RunOptions options = parse_run({"--top-k", "3", "c"});
  EXPECT_EQ(options.results.top_k, 3U);
  EXPECT_EQ(options.camera.source, "c");
  EXPECT_EQ(options.results.threshold, 0.2);
  EXPECT_EQ(options.model.threads, 1);
  EXPECT_TRUE(options.camera.view.hflip);
  EXPECT_FALSE(parse_run({"--no-hflip"}).camera.view.hflip);
  EXPECT_EQ(parse_run({}).camera.source, "b");
}

TEST(Options, AFlagOfTheEnvironmentHasAValue) {
  const Environment hflip("LOOKOUT_HFLIP", "true");
  EXPECT_TRUE(parse_run({}).camera.view.hflip);
}

TEST(Options, UnknownFlagsAndWrongValuesAreUsageErrors) {
  expect_error({"--frobnicate"}, ErrorKind::kUsage, "--frobnicate");
  expect_error({"a", "b"}, ErrorKind::kUsage, "b");
  expect_error({"--top-k", "0"}, ErrorKind::kUsage, "--top-k");
  expect_error({"--top-k", "many"}, ErrorKind::kUsage, "--top-k");
  expect_error({"--threshold", "1.5"}, ErrorKind::kUsage, "--threshold");
  expect_error({"--threads", "-1"}, ErrorKind::kUsage, "--threads");
  expect_error({"--threads", "lots"}, ErrorKind::kUsage, "--threads");
  expect_error({"--workers", "0"}, ErrorKind::kUsage, "--workers");
  expect_error({"--workers", "2", "--threads", "2"}, ErrorKind::kUsage, "leave --threads out");
  expect_error({"--capture-priority", "100"}, ErrorKind::kUsage, "--capture-priority");
  expect_error({"--capture-cpus", "2-3"}, ErrorKind::kUsage, "numbers of processors, as in 2,3");
  expect_error({"--capture-cpus", "1024"}, ErrorKind::kUsage, "--capture-cpus");
  expect_error({"--format", "xml"}, ErrorKind::kUsage, "--format");
  expect_error({"--rotation", "45"}, ErrorKind::kUsage, "--rotation");
  expect_error({"--timeout", "10 years"}, ErrorKind::kUsage, "--timeout");
  expect_error({"--timeout", "-1"}, ErrorKind::kUsage, "--timeout");
  expect_error({"--give-up-after", "soon"}, ErrorKind::kUsage, "--give-up-after");
  expect_error({"--wait-for-camera", "perhaps"}, ErrorKind::kUsage, "--wait-for-camera");
  expect_error({"--results", "few"}, ErrorKind::kUsage, "--results");
  expect_error({"--stats-interval", "rarely"}, ErrorKind::kUsage, "--stats-interval");
  expect_error({"--log-level", "loud"}, ErrorKind::kUsage, "--log-level");
  expect_error({"--width", "1"}, ErrorKind::kUsage, "--width");
  expect_error({"--no-hflip=99999999999999999999"}, ErrorKind::kUsage, "a flag is true or false");
  for (const char* roi :
       {"0,0,1", "0,0,1,1,1", "0,0,2,1", "0.5,0,0.6,1", "a,0,1,1", "0,0,0,1", ""}) {
    expect_error({"--roi", roi}, ErrorKind::kUsage, "--roi");
  }
  expect_error({"inspect", "--top-k", "1"}, ErrorKind::kUsage, "--top-k");
}

TEST(Options, UnknownKeysAndWrongValuesOfTheFileAreConfigurationErrors) {
  const TempDir directory;
  expect_error({"--config", directory / "none.toml"}, ErrorKind::kConfig, "none.toml");
  const std::string file = directory / "c.toml";
  const std::vector<std::pair<const char*, std::string>> files{
      {"frobnicate = 1\n", ": there is no frobnicate"},
      {"config = \"c.toml\"\n", ": there is no config"},
      {"top-k = \"many\"\n", ": --top-k"},
      {"threshold = 0,1\n", ": --threshold: expected a number"},
      {"[run]\ntop-k = 3\n", ": there are no sections"},
      {"run.top-k = 3\n", ": there are no sections"},
      {"workers = []\n", ": workers has no value"},
      {"top-k = []\n", ": top-k has no value"},
      {"source=[x", ": source has no value"},
      {"on-change = []\n", ": on-change has no value"},
      {"on-change = [\"touch\", \"/tmp/x\"]\n", ": on-change: expected one value"},
      {"on-change = touch /tmp/x\n", ": on-change: expected one value"},
      {"name = \"door #2\"\n", ": name: the quotes do not end"},
      {"name = \"door\n", ": name: the quotes do not end"},
      {"no-vflip = -99999999999999999999\n", ": a flag is true or false"}};
  for (const auto& [text, sentence] : files) {
    directory.write("c.toml", text);
    expect_error({"--config", file}, ErrorKind::kConfig,
                 fmt::format("configuration {}{}", file, sentence));
  }
  expect_error({"--config", directory.path()}, ErrorKind::kConfig, "Is a directory");
  const Environment top_k("LOOKOUT_TOP_K", "many");
  expect_error({}, ErrorKind::kConfig, "environment: --top-k");
}

TEST(Options, WhatIsNoFiniteNumberIsRefused) {
  const TempDir directory;
  for (const char* name : {"threshold", "enter-threshold", "leave-threshold", "framerate"}) {
    for (const char* wrong : {"nan", "-nan", "inf", "NAN(1)", "x", "0.5x", "-0.1"}) {
      const std::string sentence = fmt::format("--{}: expected a number from 0", name);
      expect_error({fmt::format("--{}={}", name, wrong)}, ErrorKind::kUsage, sentence);
      const std::string file = directory.write("c.toml", fmt::format("{} = '{}'\n", name, wrong));
      expect_error({"--config", file}, ErrorKind::kConfig, sentence);
    }
  }
  for (const char* wrong : {"nan", "-nan", "inf", "-0.1"}) {
    const std::string file = directory.write("c.toml", fmt::format("threshold = {}\n", wrong));
    expect_error({"--config", file}, ErrorKind::kConfig, "--threshold: expected a number from 0");
  }
  const Environment threshold("LOOKOUT_THRESHOLD", "nan");
  expect_error({}, ErrorKind::kConfig, "--threshold: expected a number from 0 to 1");
}

TEST(Options, ValuesOfTheFileMayBeTextsNumbersAndListsOfThem) {
  const TempDir directory;
  const std::string file = directory.write("c.toml",
                                           "\xEF\xBB\xBF# written on Windows\r\n"
                                           "name = \"the front door, left\"\r\n"
                                           "capture-cpus = [0, 2]\n"
                                           "roi = [0, 0, 0.25, 1]\n"
                                           "threshold = 0.1  # at least\n"
                                           "hflip = true\n"
                                           "model = \"\"\n");
  const RunOptions options = parse_run({"--config", file});
  EXPECT_EQ(options.camera.name, "the front door, left");
  EXPECT_EQ(options.camera.capture.cpus, (std::vector<int>{0, 2}));
  EXPECT_EQ(options.camera.view.roi, cv::Rect2d(0, 0, 0.25, 1));
  EXPECT_EQ(options.results.threshold, 0.1);
  EXPECT_TRUE(options.camera.view.hflip);
  EXPECT_EQ(options.model.file, "");
}

TEST(Options, WhatStandsBeforeACommandWithOptionsOfItsOwnIsRefused) {
  for (const char* command : {"inspect", "bench", "eval"}) {
    const std::string sentence = std::string(command) + " has options of its own";
    expect_error({"--model", "m.pt", command, "x"}, ErrorKind::kUsage, "--model: " + sentence);
    expect_error({"--config", "c.toml", command, "x"}, ErrorKind::kUsage, sentence);
  }
  const Environment top_k("LOOKOUT_TOP_K", "many");  // of run alone
  EXPECT_NO_THROW(parse_command({"bench", "--model", "m.pt"}));
}

TEST(Options, AnEmptyVariableIsNone) {
  const Environment model("LOOKOUT_MODEL", "");
  EXPECT_EQ(parse_run({"test://all"}).camera.source, "test://all");
  EXPECT_EQ(parse_run({"test://all"}).model.file, "");
}

TEST(Options, TimesThatClocksCannotHoldAreRefused) {
  for (const char* option : {"--timeout", "--stats-interval", "--give-up-after"}) {
    for (const char* time : {"9999999h", "nan", "inf", "1e30"}) {
      expect_error({option, time}, ErrorKind::kUsage, option);
    }
    EXPECT_NO_THROW(parse_run({option, "1000h"}));
  }
}

TEST(Options, InspectHasItsOwn) {
  const auto options =
      std::get<InspectOptions>(parse_command({"inspect", "m.pt", "--format", "json"}));
  EXPECT_EQ(options.model.file, "m.pt");
  EXPECT_EQ(options.format, Format::kJson);
}

TEST(Options, DoctorTakesThoseOfRun) {
  const TempDir directory;
  const std::string file = directory.write("c.toml", "name = \"door\"\n");
  const auto options = std::get<DoctorOptions>(parse_command(
      {"doctor", "/dev/video7", "--config", file, "--model", "m.pt", "--format", "json"}));
  EXPECT_EQ(options.run.camera.source, "/dev/video7");
  EXPECT_EQ(options.run.camera.name, "door");
  EXPECT_EQ(options.run.model.file, "m.pt");
  EXPECT_EQ(options.run.results.format, Format::kJson);
  expect_error({"doctor", "--frobnicate"}, ErrorKind::kUsage, "--frobnicate");
}

TEST(Options, ListCamerasTakesThoseOfRun) {
  const auto options = std::get<ListCamerasOptions>(
      parse_command({"list-cameras", "--format", "json", "--width", "1280"}));
  EXPECT_EQ(options.run.results.format, Format::kJson);
  EXPECT_EQ(options.run.camera.source_options.width, 1280);
}

TEST(Options, TraceSummaryHasItsOwn) {
  const auto options =
      std::get<TraceSummaryOptions>(parse_command({"trace-summary", "t.json", "--format", "json"}));
  EXPECT_EQ(options.file, "t.json");
  EXPECT_EQ(options.format, Format::kJson);
  expect_error({"trace-summary"}, ErrorKind::kUsage, "file");
  EXPECT_NE(std::get<PrintText>(parse_command({"trace-summary", "--help"})).text.find("FILE"),
            std::string::npos);
}

TEST(Options, HelpAndVersionAreTexts) {
  EXPECT_NE(std::get<PrintText>(parse_command({"--help"})).text.find("--roi"), std::string::npos);
  EXPECT_NE(std::get<PrintText>(parse_command({"inspect", "--help"})).text.find("archive"),
            std::string::npos);
  EXPECT_EQ(std::get<PrintText>(parse_command({"--version"})).text.rfind("lookout ", 0), 0U);
}

}  // namespace
}  // namespace lookout
