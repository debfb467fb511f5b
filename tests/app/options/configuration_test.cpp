// The configuration file and the environment: valid content, errors, and precedence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "app/options/config_file.h"
#include "app/options/options.h"
#include "app/options/settings.h"
#include "app/options/watches.h"
#include "paths.h"
#include "tests/app/options/parsing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

void expect_equal(const HttpOptions& a, const HttpOptions& b) {
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.token_file, b.token_file);
  EXPECT_EQ(a.insecure, b.insecure);
  EXPECT_EQ(a.hosts, b.hosts);
  EXPECT_EQ(a.clients, b.clients);
  EXPECT_EQ(a.viewers, b.viewers);
}

void expect_equal(const WebhookOptions& a, const WebhookOptions& b) {
  EXPECT_EQ(a.url, b.url);
  EXPECT_EQ(a.url_file, b.url_file);
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.headers, b.headers);
  EXPECT_EQ(a.headers_file, b.headers_file);
  EXPECT_EQ(a.body, b.body);
  EXPECT_EQ(a.form, b.form);
  EXPECT_EQ(a.picture, b.picture);
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.ca, b.ca);
  EXPECT_EQ(a.timeout, b.timeout);
}

void expect_equal(const GpioOptions& a, const GpioOptions& b) {
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.chip, b.chip);
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.active_low, b.active_low);
  EXPECT_EQ(a.watch, b.watch);
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
  EXPECT_EQ(a.camera.source_options.live, b.camera.source_options.live);
  EXPECT_EQ(a.camera.source_options.recursive, b.camera.source_options.recursive);
  EXPECT_EQ(a.camera.source_options.credentials, b.camera.source_options.credentials);
  EXPECT_EQ(a.camera.source_options.rtsp_udp, b.camera.source_options.rtsp_udp);
  EXPECT_EQ(a.camera.source_options.max_pixels, b.camera.source_options.max_pixels);
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
  EXPECT_EQ(a.camera.max_rate, b.camera.max_rate);
  EXPECT_EQ(a.still.enabled, b.still.enabled);
  EXPECT_EQ(a.still.at_least_every, b.still.at_least_every);
  EXPECT_EQ(a.still.ignore, b.still.ignore);
  EXPECT_EQ(a.heat.limit, b.heat.limit);
  EXPECT_EQ(a.events.on_change, b.events.on_change);
  EXPECT_EQ(a.events.on_change_timeout, b.events.on_change_timeout);
  EXPECT_EQ(a.events.snapshot_on_change, b.events.snapshot_on_change);
  EXPECT_EQ(a.events.snapshot_cooldown, b.events.snapshot_cooldown);
  EXPECT_EQ(a.events.snapshot_limit, b.events.snapshot_limit);
  expect_equal(a.http, b.http);
  expect_equal(a.webhook, b.webhook);
  expect_equal(a.gpio, b.gpio);
  EXPECT_EQ(a.results.overlay, b.results.overlay);
  EXPECT_EQ(a.log.stats_interval, b.log.stats_interval);
  EXPECT_EQ(a.camera.timeout, b.camera.timeout);
  EXPECT_EQ(a.profile.op_sampling, b.profile.op_sampling);
  EXPECT_EQ(a.profile.op_by, b.profile.op_by);
  EXPECT_EQ(a.profile.op_sort, b.profile.op_sort);
  EXPECT_EQ(a.profile.op_rows, b.profile.op_rows);
  EXPECT_EQ(a.profile.trace, b.profile.trace);
  EXPECT_EQ(a.profile.trace_frames, b.profile.trace_frames);
  EXPECT_EQ(a.log.level, b.log.level);
}

RunOptions parse_file(const std::string& text) {
  const TempDir directory;
  return parse_run({"--config", directory.write("c.toml", text)});
}

// `sentence`: begins after the file's name.
void expect_refused(const std::string& text, const std::string& sentence) {
  const TempDir directory;
  const std::string file = directory.write("c.toml", text);
  expect_error({"--config", file}, ErrorKind::kConfig,
               fmt::format("configuration {}{}", file, sentence));
}

TEST(Configuration, DefaultsWhereNothingIsSaid) {
  expect_equal(parse_run({}), RunOptions());
  expect_equal(parse_run({"run"}), RunOptions());
  expect_equal(parse_file(""), RunOptions());
}

TEST(Configuration, TextsOfAListMayHaveCommas) {
  const RunOptions options =
      parse_file("[webhook]\nheaders = ['Title: a, b', 'Tags: c']\nform = 'one: 1'\n");
  EXPECT_EQ(options.webhook.headers, std::vector<std::string>({"Title: a, b", "Tags: c"}));
  EXPECT_EQ(options.webhook.form, std::vector<std::string>({"one: 1"}));
  EXPECT_EQ(parse_run({"--set", "gpio.states=open, wide\najar"}).gpio.states,
            std::vector<std::string>({"open, wide", "ajar"}));
  expect_refused(
      "[webhook]\nheaders = [1]\n",
      ":2:11: webhook.headers: expected headers, as in Title: {camera}, one on each line, "
      "not an array with an integer");
}

const std::string kShipped = std::string(LOOKOUT_DEPLOY) + "/lookout.toml";

std::string shipped_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The defaults of the service.
RunOptions service_defaults() {
  RunOptions options;
  options.state.min_duration = std::chrono::milliseconds(500);
  return options;
}

TEST(Configuration, TheShippedFileIsShortAndChangesNothingButMinDuration) {
  expect_equal(parse_run({"--config", kShipped}), service_defaults());
  std::istringstream lines(shipped_text(kShipped));
  std::string with_examples;  // without the mark of a comment
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const bool is_key = line.rfind("# ", 0) == 0 && line.find(" = ") != std::string::npos;
    with_examples += (is_key ? line.substr(2) : line) + "\n";
  }
  EXPECT_LE(count, 60);
  const RunOptions examples = parse_file(with_examples);
  EXPECT_EQ(examples.camera.source_options.width, 640);
  EXPECT_EQ(examples.heat.limit, 75);
}

TEST(Configuration, AllKeysAreExplainedWithTheirDefaults) {
  const std::string explained = std::string(LOOKOUT_DEPLOY) + "/all-keys.toml";
  RunOptions expected = service_defaults();
  expect_equal(parse_run({"--config", explained}), expected);

  const std::string text = shipped_text(explained);
  Settings settings;
  declare(settings, expected);
  for (const Setting& setting : settings.all()) {
    const std::string start = setting.is_example ? "\n# [" : "\n[";
    const auto section = text.find(start + setting.section + "]\n");
    ASSERT_NE(section, std::string::npos) << setting.section;
    const std::string keys = text.substr(section, text.find("\n[", section + 1) - section);
    const bool there = keys.find("\n" + setting.key + " =") != std::string::npos ||
                       keys.find("\n# " + setting.key + " =") != std::string::npos;
    EXPECT_TRUE(there) << setting.name() << " is not in deploy/all-keys.toml";
  }
  EXPECT_GE(settings.all().size(), 38U);
}

TEST(Configuration, TheReferenceIsWhatTheProgramPrints) {
  const std::string text = shipped_text(std::string(LOOKOUT_DEPLOY) + "/../app/reference.md");
  EXPECT_EQ(parse_command({"help", "reference"}).text, text)
      << "renew it: lookout help reference >app/reference.md";
  RunOptions options;
  Settings settings;
  declare(settings, options);
  for (const Setting& setting : settings.all()) {
    const auto section = text.find("\n## `[" + setting.section + "]`\n");
    ASSERT_NE(section, std::string::npos) << setting.section;
    const std::string rows = text.substr(section, text.find("\n## ", section + 1) - section);
    EXPECT_NE(rows.find("\n| `" + setting.key + "` |"), std::string::npos) << setting.name();
  }
}

// The folder of drop-ins beside the file `name`.
class DropIns : public ::testing::Test {
 protected:
  void make(const std::string& name, const std::string& folder) {
    file_ = directory_.write(name, "[camera]\nname = \"front\"\n[results]\ntop-k = 3\n");
    folder_ = directory_ / folder;
    std::filesystem::create_directory(folder_);
  }

  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  const TempDir directory_;
  std::string file_;
  std::string folder_;
};

TEST_F(DropIns, AreReadAfterTheFileInTheOrderOfTheirNames) {
  make("lookout.toml", "conf.d");
  const std::string later =
      put("50-b.toml", "[results]\ntop-k = 5\n[watch.gate]\nevery = \"2s\"\n");
  const std::string first = put("10-a.toml", "[results]\ntop-k = 4\nthreshold = 0.5\n");
  put("60-c.toml~", "[results]\ntop-k = 6\n");
  put(".70-d.toml", "[results]\ntop-k = 7\n");
  put("80-e.toml.dpkg-old", "nonsense\n");
  const RunOptions run = parse_run({"--config", file_});
  EXPECT_EQ(run.camera.name, "front");
  EXPECT_EQ(run.results.top_k, 5);
  EXPECT_EQ(run.results.threshold, 0.5);
  EXPECT_EQ(run.watches.size(), 1U);
  EXPECT_EQ(drop_ins_of(file_), (std::vector<std::string>{first, later}));
  EXPECT_EQ(parse_run({"--config", file_, "--top-k", "2"}).results.top_k, 2);
}

TEST_F(DropIns, AMistakeIsNamedWithItsFileAndLine) {
  make("lookout.toml", "conf.d");
  const std::string wrong = put("50.toml", "[results]\ntop-k = \"5\"\n");
  expect_error({"--config", file_}, ErrorKind::kConfig,
               fmt::format("configuration {}:2:9: results.top-k: expected a whole number from 1 to "
                           "1000, not a string",
                           wrong));
}

TEST_F(DropIns, OfAnInstanceAreInAFolderOfItsOwn) {
  make("gate.toml", "conf.d");
  put("50.toml", "[results]\ntop-k = 5\n");
  EXPECT_EQ(parse_run({"--config", file_}).results.top_k, 3);
  make("gate.toml", "gate.conf.d");
  put("50.toml", "[results]\ntop-k = 5\n");
  EXPECT_EQ(parse_run({"--config", file_}).results.top_k, 5);
}

TEST(Configuration, WatchesHaveNamesAndTakeWhatTheyDoNotSay) {
  const TempDir directory;
  const std::string file = directory.write(
      "c.toml",
      "[camera]\nroi = [0, 0, 1, 0.5]\n[model]\nfile = \"a.pt\"\nlabels = \"a.txt\"\n"
      "[state]\nenter-threshold = 0.6\nleave-threshold = 0.5\n"
      "[watch.gate]\ntitle = \"Garden gate\"\nroi = [0, 0, 0.5, 1]\nenter-threshold = 0.3\n"
      "[watch.lamp]\nmodel = \"b.pt\"\nmin-duration = \"2s\"\nsnapshot-when = \"both\"\n"
      "unsure-below = 0.5\nsnapshot-cooldown = \"1min\"\n[watch.box]\n");
  const Environment lamp("LOOKOUT_WATCH_LAMP_EVERY", "5s");
  const Environment door("LOOKOUT_WATCH_BACK_DOOR_ON_CHANGE", "notify door");
  const RunOptions run = parse_run({"--config", file, "--set", "watch.gate.smoothing=1s"});
  const std::vector<Watch> watches = watches_of(run);
  ASSERT_EQ(watches.size(), 4U);
  EXPECT_EQ(watches[0].name, "gate");
  EXPECT_EQ(watches[0].title, "Garden gate");
  EXPECT_EQ(watches[0].options.camera.view.roi, cv::Rect2d(0, 0, 0.5, 1));
  EXPECT_EQ(watches[0].options.state.smoothing, std::chrono::seconds(1));
  EXPECT_EQ(watches[0].options.model.labels, "a.txt");
  EXPECT_FLOAT_EQ(state_options(watches[0].options).leave_threshold, 0.3F);
  EXPECT_EQ(watches[1].name, "lamp");
  EXPECT_EQ(watches[1].options.model.file, "b.pt");
  EXPECT_EQ(watches[1].options.model.labels, "") << "those of [model] are another model's";
  EXPECT_EQ(watches[1].options.camera.view.roi, cv::Rect2d(0, 0, 1, 0.5));
  EXPECT_EQ(watches[1].options.still.at_least_every, std::chrono::seconds(5));
  EXPECT_FLOAT_EQ(state_options(watches[1].options).leave_threshold, 0.5F);
  EXPECT_EQ(watches[1].options.events.snapshot_when, SnapshotWhen::kBoth);
  EXPECT_EQ(watches[1].options.events.unsure_below, 0.5);
  EXPECT_EQ(watches[1].options.events.snapshot_cooldown, std::chrono::minutes(1));
  EXPECT_EQ(watches[0].options.events.snapshot_when, SnapshotWhen::kChange);
  EXPECT_EQ(watches[2].name, "box");
  EXPECT_EQ(watches[3].name, "back_door") << "of the environment alone";
  EXPECT_EQ(watches[3].options.events.on_change.size(), 2U);
}

TEST(Configuration, WithoutAWatchThereIsOneWithoutAName) {
  const std::vector<Watch> watches = watches_of(parse_run({"--roi", "0,0,0.5,1"}));
  ASSERT_EQ(watches.size(), 1U);
  EXPECT_EQ(watches[0].name, "");
  EXPECT_EQ(watches[0].options.camera.view.roi, cv::Rect2d(0, 0, 0.5, 1));
}

TEST(Configuration, AWatchThatCannotBeIsOneSentence) {
  expect_refused("[watch.gate]\nroi = [0, 0, 0, 1]\n", ":2:7: watch.gate.roi: expected x,y,width");
  expect_refused("[watch.gate]\nroi = [0.5, 0, 0.6, 1]\n", ":2:7: watch.gate.roi: expected x,y");
  expect_refused("[watch.'a b']\n", ":1:1: watch.a b: a name has 1 to 32 letters, digits");
  expect_refused("[watch.NAME]\n", ":1:1: watch.NAME: a name has");
  expect_refused("[watch]\nroi = [0, 0, 1, 1]\n",
                 ":2:7: watch.roi: expected a section with a name, [watch.gate]");
  expect_refused(
      "[watch.gate]\nthreshold = 1\n",
      ":2:13: watch.gate.threshold: there is no threshold in [watch.gate]; it belongs in "
      "[results]");
  expect_refused("[watch.a-b]\n[watch.a_B]\n", ":2:1: watch.a_B: it has the same variables");
  expect_refused("[watch.gate]\nleave-threshold = 0.5\n",
                 ":2:19: watch.gate.leave-threshold: 0.5 is above");
  std::string many;
  for (int i = 1; i <= 9; ++i) many += fmt::format("[watch.w{}]\n", i);
  expect_refused(many,
                 ":9:1: watch.w9: there may be at most 8 sections [watch.NAME]: leave one out");
  const Environment key("LOOKOUT_WATCH_GATE_RIO", "1");
  expect_error({}, ErrorKind::kConfig,
               "environment LOOKOUT_WATCH_GATE_RIO: expected LOOKOUT_WATCH_NAME_KEY");
}

TEST(Configuration, TheCommandLineWinsOverTheEnvironmentAndThatOverTheFile) {
  const TempDir directory;
  const std::string file = directory.write("c.toml",
                                           "[camera]\nsource = \"a\"\nhflip = true\nlive = true\n"
                                           "[model]\nthreads = 1\n"
                                           "[results]\ntop-k = 1\nthreshold = 0.1\n");
  const Environment top_k("LOOKOUT_RESULTS_TOP_K", "2");
  const Environment threshold("LOOKOUT_RESULTS_THRESHOLD", "0.2");
  const Environment source("LOOKOUT_CAMERA_SOURCE", "b");
  const Environment config("LOOKOUT_CONFIG", file.c_str());
  const RunOptions options = parse_run({"--top-k", "3", "c"});
  EXPECT_EQ(options.results.top_k, 3U);
  EXPECT_EQ(options.camera.source, "c");
  EXPECT_EQ(options.results.threshold, 0.2);
  EXPECT_EQ(options.model.threads, 1);
  EXPECT_TRUE(options.camera.view.hflip);
  EXPECT_FALSE(parse_run({"--set", "camera.live=false"}).camera.source_options.live);
  EXPECT_FALSE(parse_run({"--set", "camera.hflip=false"}).camera.view.hflip);
  EXPECT_EQ(parse_run({}).camera.source, "b");
  EXPECT_EQ(parse_run({"--set", "camera.source=d"}).camera.source, "d");
}

TEST(Configuration, AMistakeThatIsOverriddenIsStillAMistake) {
  const Environment top_k("LOOKOUT_RESULTS_TOP_K", "many");
  expect_error({"--top-k", "3"}, ErrorKind::kConfig,
               "environment LOOKOUT_RESULTS_TOP_K: expected a whole number from 1 to 1000");
}

TEST(Configuration, ASwitchInTheEnvironmentHasAValue) {
  const Environment hflip("LOOKOUT_CAMERA_HFLIP", "true");
  EXPECT_TRUE(parse_run({}).camera.view.hflip);
}

TEST(Configuration, AnEmptyVariableIsNone) {
  const Environment model("LOOKOUT_MODEL_FILE", "");
  const Environment top_k("LOOKOUT_RESULTS_TOP_K", "");
  EXPECT_EQ(parse_run({"test://all"}).model.file, "");
}

// Else a script that forgets to set its variable would accept any archive.
TEST(Configuration, AnEmptyHashIsAMistake) {
  constexpr const char* kExpected = "expected SHA-256 hashes, each of 64 hexadecimal digits";
  for (std::vector<std::string> command :
       {std::vector<std::string>{"bench"}, {"eval", "x"}, {"train", "x"}}) {
    command.insert(command.end(), {"--sha256", ""});
    expect_error(command, ErrorKind::kUsage, std::string("--sha256: ") + kExpected);
  }
  expect_error({"--set", "model.sha256="}, ErrorKind::kUsage,
               std::string("--set model.sha256: ") + kExpected);
  expect_refused("[model]\nsha256 = \"\"\n", std::string(":2:10: model.sha256: ") + kExpected);
  EXPECT_TRUE(parse_file("[model]\nsha256 = []\n").model.sha256.empty());
  const Environment hash("LOOKOUT_MODEL_SHA256", "");
  expect_error({"test://all"}, ErrorKind::kConfig,
               std::string("environment LOOKOUT_MODEL_SHA256: ") + kExpected);
}

TEST(Configuration, ValuesOfTheFileHaveTypes) {
  const RunOptions options = parse_file(
      "\xEF\xBB\xBF# written on Windows\r\n"
      "[camera]\r\n"
      "name = \"the front door, \\u006Ceft #2\"\r\n"
      "capture-cpus = [0, 2]\n"
      "roi = [0, 0, 0.25, 1]\n"
      "hflip = true\n"
      "flicker = 50\n"
      "shutter = 500\n"
      "gain = 1.5\n"
      "awb = \"cloudy\"\n"
      "awb-gains = [1.5, 2]\n"
      "lens-position = 0.5\n"
      "framerate = 15\n"
      "[model]\nfile = ''\n"
      "threads = 2\n"
      "[results]\nthreshold = 0.1  # at least\n"
      "[events]\nsnapshot-limit = 2048\n");
  EXPECT_EQ(options.camera.name, "the front door, left #2");
  EXPECT_EQ(options.camera.capture.cpus, (std::vector<int>{0, 2}));
  EXPECT_EQ(options.camera.view.roi, cv::Rect2d(0, 0, 0.25, 1));
  EXPECT_TRUE(options.camera.view.hflip);
  EXPECT_EQ(options.camera.source_options.framerate, 15);
  const CameraControls& controls = options.camera.source_options.controls;
  EXPECT_EQ(controls.flicker, 50);
  EXPECT_EQ(controls.shutter, 500);
  EXPECT_EQ(controls.gain, 1.5);
  EXPECT_EQ(controls.awb, "cloudy");
  EXPECT_EQ(controls.awb_gains, (std::vector<double>{1.5, 2}));
  EXPECT_EQ(controls.lens_position, 0.5);
  EXPECT_EQ(options.model.file, "");
  EXPECT_EQ(options.model.threads, 2);
  EXPECT_EQ(options.results.threshold, 0.1);
  EXPECT_EQ(options.events.snapshot_limit, 2048U);
  EXPECT_EQ(parse_file("[model]\nthreads = 'auto'\n").model.threads, 0);
  const std::vector<cv::Rect2d> ignored{{0, 0, 0.3, 0.05}, {0.5, 0.5, 0.5, 0.5}};
  EXPECT_EQ(parse_file("[still]\nignore = ['0,0,0.3,0.05', '0.5,0.5,0.5,0.5']\n").still.ignore,
            ignored);
  EXPECT_EQ(parse_file("[still]\nignore = [0, 0, 0.3, 0.05]\n").still.ignore.size(), 1U);
  EXPECT_EQ(parse_file("results.top-k = 3\n").results.top_k, 3U);
  EXPECT_EQ(parse_file("[camera]\nroi = '0,0,0.5,1'\ncapture-cpus = '1,3'\n").camera.capture.cpus,
            (std::vector<int>{1, 3}));
}

// A # in quotes is a character.
TEST(Configuration, ACommandMayHaveQuotesAndSigns) {
  const auto on_change = [](const std::string& value) {
    return parse_file("[events]\non-change = " + value + "\n").events.on_change;
  };
  EXPECT_EQ(on_change("\"sh -c 'echo $LOOKOUT_EVENT_STATE >>/tmp/states'\""),
            (std::vector<std::string>{"sh", "-c", "echo $LOOKOUT_EVENT_STATE >>/tmp/states"}));
  EXPECT_EQ(on_change("'./args.sh http://h/#/frag'  # a comment"),
            (std::vector<std::string>{"./args.sh", "http://h/#/frag"}));
  EXPECT_EQ(on_change("'''a \"b c\" '''"), (std::vector<std::string>{"a", "b c"}));
}

TEST(Configuration, MistakesAreNamedWithTheirPlace) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"[results]\ntop-k = \"many\"\n",
       ":2:9: results.top-k: expected a whole number from 1 to 1000, not a string"},
      {"[results]\ntop-k = 3.0\n", ":2:9: results.top-k: expected a whole number from 1 to 1000, "},
      {"[results]\ntop-k = 0\n", ":2:9: results.top-k: expected a whole number from 1 to 1000"},
      {"[results]\n\n  threshold = nan\n", ":3:15: results.threshold: expected a number from 0"},
      {"[results]\nthreshold = inf\n", ":2:13: results.threshold: expected a number from 0"},
      {"[results]\nthreshold = '0.5'\n", ":2:13: results.threshold: expected a number from 0"},
      {"[results]\noverlay = 1\n", ":2:11: results.overlay: expected true or false, not an"},
      {"[results]\nformat = 'xml'\n", ":2:10: results.format: expected text or json"},
      {"[camera]\nsource = 'tset://all'\n", ":2:10: camera.source: "},
      {"[camera]\nroi = [0, 0, 1, 'x']\n", ":2:7: camera.roi: expected x,y,width,height"},
      {"[still]\nenabled = true\n", ":2:11: still.enabled: expected auto, yes or no, not a bool"},
      {"[still]\nignore = [[0, 0, 1, 1]]\n", ":2:10: still.ignore: expected at most 32 rect"},
      {"[camera]\ntimeout = 2020-01-01\n", ":2:11: camera.timeout: expected a time"},
      {"[model]\nworkers = []\n", ":2:11: model.workers: expected a whole number"},
      {"[events]\non-change = ['touch', 'x']\n", ":2:13: events.on-change: expected a command, "},
      {"[state]\nleave-threshold = 0.9\n",
       ":2:19: state.leave-threshold: 0.9 is above results.threshold, 0: a state would"},
      {"[results]\ntop_k = 3\n", ":2:9: results.top_k: there is no top_k in [results]; did you"},
      {"[results]\nframerate = 3\n",
       ":2:13: results.framerate: there is no framerate in [results]; it belongs in [camera]"},
      {"[camra]\n", ":1:1: camra: there is no section [camra]; did you mean [camera]?"},
      {"[run]\ntop-k = 3\n", ":1:1: run: there is no section [run]"},
      {"top-k = 3\n", ":1:9: top-k: it belongs under [results]"},
      {"camera = 3\n", ":1:10: camera: expected a section, [camera]"},
      {"[[camera]]\nname = 'x'\n", ":1:1: camera: expected a section, [camera]"},
      {"[camera.name]\nx = 1\n", ":1:1: camera.name: expected a text"},
      {"config = 'c.toml'\n", ":1:10: config: there is no section [config]"},
      {"[events]\non-change = touch /tmp/x\n", ":2:14: "},
      {"[camera]\nname = \"door\n", ":2:13: "},
      {"[camera]\nname\n", ":2:5: "},
      {"[camera]\nname = 'a'\nname = 'b'\n", ":3:8: "},
      {"[\n", ":1:2: "},
      {"[camera]\nname = 1979-10-27T\"\xC2\xBC\"\n", ":2:8: "},
      {"[camera]\nname = \xC2\xBC\n", ":2:8: a character outside ASCII has to stand in quotes"},
      {"source=[x", ":1:9: "}};
  for (const auto& [text, sentence] : wrong) expect_refused(text, sentence);
  const TempDir directory;
  expect_error({"--config", directory / "none.toml"}, ErrorKind::kConfig, "none.toml");
  expect_error({"--config", directory.path()}, ErrorKind::kConfig, "Is a directory");
}

TEST(Configuration, ATextWithoutQuotesIsRefusedWithTheRightLine) {
  const TempDir directory;
  const auto expect_hint = [&directory](const std::string& line, const std::string& hint) {
    const std::string file = directory.write("c.toml", "[camera]\n" + line + "\n");
    expect_error({"--config", file}, ErrorKind::kConfig, hint);
  };
  expect_hint("source = /dev/video0  # the door",
              ": a text needs quotes: source = \"/dev/video0\"");
  expect_hint("timeout=10s", ": a text needs quotes: timeout = \"10s\"");
  expect_hint("source = \u201c/dev/video0\u201d",
              ": a text needs quotes: source = \"/dev/video0\"");
  expect_hint("hflip = yes", ": expected true or false, not yes");
  expect_hint("width = 640px", ": expected a whole number from");
}

TEST(Configuration, AHeaderThatTomlRefusesIsExplained) {
  const TempDir directory;
  const auto expect_hint = [&directory](const std::string& text, const std::string& hint) {
    const std::string file = directory.write("c.toml", text);
    expect_error({"--config", file}, ErrorKind::kConfig, hint);
  };
  expect_hint("[camera] name = \"front\"\n",
              ":1:10: the key belongs on a line of its own below [camera]");
  expect_hint("[still]\nignore = [\n[0, 0, 1, 1] x = 1\n]\n", ":3:14: Error while parsing array");
  expect_hint("[webhook]  # a phone\nurl = \"\"\n\n[webhook]\nurl = \"http://a/\"\n",
              ":4:1: [webhook] is there already, in line 1: write its keys there");
}

TEST(Configuration, SettingsOnTheCommandLineThatDoNotExist) {
  expect_error({"--set", "results.topk=3"}, ErrorKind::kUsage,
               "--set results.topk: there is no topk in [results]; did you mean top-k?");
  expect_error({"--set", "result.top-k=3"}, ErrorKind::kUsage,
               "--set result.top-k: there is no section [result]; did you mean [results]?");
  for (const char* wrong : {"top-k=3", "results.top-k", "", "="}) {
    expect_error({"--set", wrong}, ErrorKind::kUsage, "expected section.key=value");
  }
}

TEST(Configuration, VariablesThatDoNotExist) {
  {
    const Environment typo("LOOKOUT_RESULTS_TOPK", "3");
    expect_error({}, ErrorKind::kConfig,
                 "environment LOOKOUT_RESULTS_TOPK: there is no such setting; did you mean "
                 "LOOKOUT_RESULTS_TOP_K?");
  }
  const Environment event("LOOKOUT_EVENT_STATE", "cat");  // lookout started by --on-change
  const Environment others("LOOKOUT_CACHE", "/tmp");
  EXPECT_TRUE(parse_run({}).warnings.empty());
}

TEST(Configuration, VariablesThatNothingReadsAreWarnedOf) {
  const std::string ignored = ": there is no such setting, it is ignored";
  const std::vector<std::pair<const char*, std::string>> unknown{
      {"LOOKOUT_TOP_K", ignored + "; did you mean LOOKOUT_RESULTS_TOP_K?"},
      {"LOOKOUT_TOPK", ignored + "; did you mean LOOKOUT_RESULTS_TOP_K?"},
      {"LOOKOUT_RESULT_TOP_K", ignored + "; did you mean LOOKOUT_RESULTS_TOP_K?"},
      {"LOOKOUT_CONFG", ignored + "; did you mean LOOKOUT_CONFIG?"},
      {"LOOKOUT_FAVOURITE_COLOUR", ignored}};
  for (const auto& [name, warning] : unknown) {
    const Environment variable(name, "2");
    const RunOptions options = parse_run({});
    EXPECT_EQ(options.results.top_k, 10U);
    EXPECT_EQ(options.warnings, std::vector<std::string>{"environment " + (name + warning)});
  }
  const Environment empty("LOOKOUT_TOPK", "");
  EXPECT_TRUE(parse_run({}).warnings.empty());
}

}  // namespace
}  // namespace lookout
