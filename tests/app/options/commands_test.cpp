// Sub-commands: which one a command line asks for, with which options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/app/options/parsing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Commands, RunIsTheDefaultAndTakesNamesOfCommandsForSources) {
  EXPECT_EQ(parse_command({"x"}).command, "run");
  EXPECT_EQ(parse_run({"run", "bench"}).camera.source, "bench");
  EXPECT_EQ(parse_run({"run", "run"}).camera.source, "run");
  EXPECT_EQ(parse_command({"doctor", "eval"}).run.camera.source, "eval");
  const RunOptions options = parse_run({"--log-level", "debug", "run", "x", "--top-k", "3"});
  EXPECT_EQ(options.log.level, "debug");
  EXPECT_EQ(options.camera.source, "x");
  EXPECT_EQ(options.results.top_k, 3U);
}

TEST(Commands, InspectHasOptionsOfItsOwn) {
  const Parsed parsed = parse_command({"inspect", "m.pt", "--format", "json"});
  EXPECT_EQ(parsed.command, "inspect");
  EXPECT_EQ(parsed.inspect.model.file, "m.pt");
  EXPECT_EQ(parsed.inspect.format, Format::kJson);
  expect_error({"inspect", "--top-k", "1"}, ErrorKind::kUsage,
               "there is no --top-k; see lookout inspect --help");
  expect_error({"inspect", "--format", "xml"}, ErrorKind::kUsage,
               "--format: expected text or json, not xml; see lookout inspect --help");
}

TEST(Commands, DoctorTakesOptionsOfRun) {
  const TempDir directory;
  const std::string file = directory.write("c.toml", "[camera]\nname = \"door\"\n");
  const Parsed parsed = parse_command(
      {"doctor", "/dev/video7", "--config", file, "--model", "m.pt", "--format", "json"});
  EXPECT_EQ(parsed.command, "doctor");
  EXPECT_EQ(parsed.run.camera.source, "/dev/video7");
  EXPECT_EQ(parsed.run.camera.name, "door");
  EXPECT_EQ(parsed.run.model.file, "m.pt");
  EXPECT_EQ(parsed.run.results.format, Format::kJson);
  expect_error({"doctor", "--frobnicate"}, ErrorKind::kUsage, "there is no --frobnicate");
}

TEST(Commands, DoctorJudgesTheServicesConfigurationUnlessAnotherIsNamed) {
  const TempDir directory;
  const std::string service = directory.write("lookout.toml", "[camera]\nname = \"service\"\n");
  const std::string other = directory.write("c.toml", "[camera]\nname = \"other\"\n");
  const Parsed parsed = parse_command({"doctor", "--model", "m.pt"}, service);
  EXPECT_EQ(parsed.run.camera.name, "service");
  EXPECT_EQ(parsed.run.model.file, "m.pt");
  EXPECT_EQ(parsed.run.config_file, service);
  EXPECT_EQ(parse_command({"doctor", "--config", other}, service).run.camera.name, "other");
  EXPECT_EQ(parse_command({"doctor", "--config", ""}, service).run.camera.name, "");
  EXPECT_EQ(parse_command({"doctor"}, directory / "none.toml").run.config_file, "");
  EXPECT_EQ(parse_command({"run", "x"}, service).run.config_file, "");
  EXPECT_EQ(parse_command({"list-cameras"}, service).run.config_file, "");
  const Environment config("LOOKOUT_CONFIG", other.c_str());
  EXPECT_EQ(parse_command({"doctor"}, service).run.config_file, other);
}

TEST(Commands, AWordThatIsNearACommandIsNoSource) {
  const std::vector<std::pair<const char*, const char*>> words{
      {"doctr", "there is no command or file doctr; did you mean doctor?; see lookout --help"},
      {"list", "did you mean list-cameras?"},
      {"trace", "did you mean trace-summary?"}};
  for (const auto& [word, sentence] : words) expect_error({word}, ErrorKind::kUsage, sentence);
  expect_error({"inpsect", "model.pt"}, ErrorKind::kUsage, "did you mean inspect?");
  EXPECT_EQ(parse_run({"run", "doctr"}).camera.source, "doctr");
  EXPECT_EQ(parse_run({"./doctr"}).camera.source, "./doctr");
  EXPECT_EQ(parse_run({"holiday"}).camera.source, "holiday");
}

TEST(Commands, ListCamerasTakesOptionsOfRun) {
  const Parsed parsed =
      parse_command({"list-cameras", "--format", "json", "--set", "camera.width=1280"});
  EXPECT_EQ(parsed.command, "list-cameras");
  EXPECT_EQ(parsed.run.results.format, Format::kJson);
  EXPECT_EQ(parsed.run.camera.source_options.width, 1280);
}

TEST(Commands, TraceSummaryHasOptionsOfItsOwn) {
  const Parsed parsed = parse_command({"trace-summary", "t.json", "--format", "json"});
  EXPECT_EQ(parsed.command, "trace-summary");
  EXPECT_EQ(parsed.trace_summary.files, std::vector<std::string>{"t.json"});
  EXPECT_EQ(parsed.trace_summary.format, Format::kJson);
  EXPECT_EQ(parsed.trace_summary.outliers.percentile, 99);
  expect_error({"trace-summary"}, ErrorKind::kUsage, "FILE is required");
  expect_error({"trace-summary", "t.json", "--report", "t.txt"}, ErrorKind::kUsage, ".html");
}

TEST(Commands, TraceSummaryTakesSeveralFiles) {
  const Parsed parsed =
      parse_command({"trace-summary", "a.json", "b.json", "--report", "r.html", "c.json"});
  EXPECT_EQ(parsed.trace_summary.files, (std::vector<std::string>{"a.json", "b.json", "c.json"}));
  EXPECT_EQ(parsed.trace_summary.html, "r.html");
}

TEST(Commands, OutliersAreAboveAPercentileOrATime) {
  const auto outliers = [](const std::string& above) {
    return parse_command({"trace-summary", "t.json", "--outliers-above", above})
        .trace_summary.outliers;
  };
  EXPECT_EQ(outliers("p99.5").percentile, 99.5);
  EXPECT_FALSE(outliers("p95").time);
  EXPECT_EQ(outliers("40ms").time, std::chrono::milliseconds(40));
  EXPECT_EQ(outliers("12.5ms").time, std::chrono::microseconds(12500));
  EXPECT_EQ(outliers("1.5s").time, std::chrono::milliseconds(1500));
  for (const char* wrong : {"", "40", "p", "p0", "p101", "ms", "-1ms", "nanms", "40 min"}) {
    expect_error({"trace-summary", "t.json", "--outliers-above", wrong}, ErrorKind::kUsage,
                 "p99, p99.5, 40ms or 1.5s");
  }
}

TEST(Commands, OptionsBeforeACommandThatHasItsOwnAreRefused) {
  for (const std::string command : {"inspect", "bench", "eval", "trace-summary"}) {
    const std::string sentence = command + " has options of its own";
    expect_error({"--model", "m.pt", command, "x"}, ErrorKind::kUsage, "--model: " + sentence);
    expect_error({"--config", "c.toml", command, "x"}, ErrorKind::kUsage, sentence);
  }
  const Environment top_k("LOOKOUT_RESULTS_TOP_K", "many");  // of run alone
  EXPECT_NO_THROW(parse_command({"bench", "--model", "m.pt"}));
}

TEST(Commands, AModelIsNoSource) {
  expect_error({"m/a.pt"}, ErrorKind::kUsage,
               "m/a.pt is called as a model, not as a source: --model m/a.pt");
  expect_error({"a.onnx"}, ErrorKind::kUsage, "a.onnx is called as a model, not as a source");
}

TEST(Commands, UnknownFlagsAreUsageErrorsWithTheNearestName) {
  expect_error({"--frobnicate"}, ErrorKind::kUsage,
               "there is no --frobnicate; see lookout run --help");
  expect_error({"--treshold", "1"}, ErrorKind::kUsage, "there is no --treshold; did you mean");
  expect_error({"--modle", "x"}, ErrorKind::kUsage, "there is no --modle; did you mean --model?");
  expect_error({"run", "--treshold=1"}, ErrorKind::kUsage, "did you mean --threshold?");
  expect_error({"eval", "x", "--lables", "l"}, ErrorKind::kUsage, "did you mean --labels?");
  expect_error({"-v"}, ErrorKind::kUsage, "there is no -v; see lookout run --help");
  expect_error({"a", "b"}, ErrorKind::kUsage,
               "b: one argument too many; SOURCE is one camera, file or folder");
  expect_error({"inspect", "a", "b"}, ErrorKind::kUsage,
               "b: one argument too many; see lookout inspect --help");
}

TEST(Commands, AFlagWithoutItsValueIsAUsageError) {
  expect_error({"--top-k"}, ErrorKind::kUsage, "--top-k needs a value: N; see lookout run --help");
  expect_error({"run", "--still"}, ErrorKind::kUsage, "--still needs a value: auto|yes|no");
  expect_error({"bench", "--report"}, ErrorKind::kUsage, "--report needs a value: FILE");
}

TEST(Commands, WhatIsGivenTwiceIsRefused) {
  expect_error({"--top-k", "3", "--top-k", "4"}, ErrorKind::kUsage, "--top-k: given twice");
  expect_error({"-t", "3s", "--timeout", "4s"}, ErrorKind::kUsage, "--timeout: given twice");
  expect_error({"--config", "a", "--config", "b"}, ErrorKind::kUsage, "--config: given twice");
  expect_error({"--top-k", "3", "--set", "results.top-k=4"}, ErrorKind::kUsage,
               "--set results.top-k: already given by --top-k; see");
  expect_error({"--set", "camera.source=test://red", "test://all"}, ErrorKind::kUsage,
               "SOURCE: already given by --set camera.source; see");
  expect_error({"--set", "camera.name=a", "--set", "camera.name=b"}, ErrorKind::kUsage,
               "--set camera.name: given twice; see");
  expect_error({"eval", "d", "--model", "a", "--model", "b"}, ErrorKind::kUsage,
               "--model: given twice, but it takes one value; see lookout eval --help");
  expect_error({"bench", "--threads", "1", "--threads", "2"}, ErrorKind::kUsage, "given twice");
  expect_error({"inspect", "a", "--model", "b"}, ErrorKind::kUsage, "given twice");
  EXPECT_EQ(parse_command({"bench", "--model", "a", "--model", "b"}).bench.models.size(), 2U);
  const Environment top_k("LOOKOUT_RESULTS_TOP_K", "5");
  EXPECT_EQ(parse_run({"--top-k", "3"}).results.top_k, 3U) << "the command line wins";
}

std::string text_of(const std::vector<std::string>& arguments) {
  const Parsed parsed = parse_command(arguments);
  EXPECT_EQ(parsed.command, "") << "nothing runs";
  return parsed.text;
}

// ---- --watch

class Watching : public testing::Test {
 protected:
  // With the service's configuration.
  Parsed parse(const std::vector<std::string>& arguments) const {
    return parse_command(arguments, service_);
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& named) const {
    try {
      parse(arguments);
      FAIL() << "accepted, though it should be refused with: " << named;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(named));
    }
  }

  TempDir directory_;
  std::string service_ = directory_.write("lookout.toml",
                                          "[camera]\nname = \"yard\"\nwidth = 1280\nrotation = 90\n"
                                          "[model]\nbase = \"base.pt\"\nlabels = \"all.txt\"\n"
                                          "[watch.gate]\nroi = [0, 0, 0.5, 1]\n"
                                          "model = \"gate.head\"\n"
                                          "[watch.lamp]\nroi = [0.5, 0, 0.5, 1]\n");
  const cv::Rect2d gate_{0, 0, 0.5, 1};
  const cv::Rect2d lamp_{0.5, 0, 0.5, 1};
};

TEST_F(Watching, TrainSeesWhatTheWatchSees) {
  const TrainOptions train = parse({"train", "d", "-o", "x.head", "--watch", "gate"}).train;
  EXPECT_EQ(train.camera.view.roi, gate_);
  EXPECT_EQ(train.camera.view.rotation, 90);
  EXPECT_EQ(train.model.file, "base.pt") << "that heads of this configuration stand behind";
  EXPECT_TRUE(train.watch.notes.empty());
  const TrainOptions typed = parse({"train", "d", "-o", "x.head", "--roi", "0,0,1,0.5", "--model",
                                    "b.pt", "--watch", "gate", "--rotation", "0"})
                                 .train;
  EXPECT_EQ(typed.camera.view.roi, cv::Rect2d(0, 0, 1, 0.5)) << "what is typed goes first";
  EXPECT_EQ(typed.camera.view.rotation, 0);
  EXPECT_EQ(typed.model.file, "b.pt");
}

TEST_F(Watching, EvalMeasuresTheModelOfTheWatch) {
  const EvalOptions eval = parse({"eval", "d", "--watch", "gate", "--threads", "2"}).eval;
  EXPECT_EQ(eval.camera.view.roi, gate_);
  EXPECT_EQ(eval.model.file, "gate.head");
  EXPECT_EQ(eval.model.base, "base.pt");
  EXPECT_EQ(eval.model.labels, "") << "those of [model] are another model's";
  EXPECT_EQ(eval.model.threads, 2);
  EXPECT_EQ(parse({"eval", "d", "--watch", "lamp"}).eval.model.labels, "all.txt");
  const EvalOptions other = parse({"eval", "d", "--watch", "lamp", "--model", "b.pt"}).eval;
  EXPECT_EQ(other.camera.view.roi, lamp_);
  EXPECT_EQ(other.model.file, "b.pt");
  EXPECT_EQ(other.model.labels, "");
}

TEST_F(Watching, CollectOpensTheCameraAsTheWatchDoes) {
  const CollectOptions collect =
      parse({"collect", "/dev/video0", "d", "--label", "open", "--watch", "gate"}).collect;
  EXPECT_EQ(collect.camera.view.roi, gate_);
  EXPECT_EQ(collect.camera.name, "yard");
  EXPECT_EQ(collect.camera.source_options.width, 1280);
  EXPECT_EQ(collect.camera.source, "/dev/video0");
}

TEST_F(Watching, AConfigurationIsNamedAsForRun) {
  const std::string other =
      directory_.write("other.toml", "[watch.gate]\nroi = [0.5, 0, 0.5, 1]\n");
  const std::vector<std::string> train{"train", "d", "-o", "x", "--watch", "gate", "--config"};
  auto arguments = train;
  arguments.push_back(other);
  EXPECT_EQ(parse(arguments).train.camera.view.roi, lamp_);
  const Environment variable("LOOKOUT_WATCH_GATE_ROI", "0,0,0.5,1");
  EXPECT_EQ(parse(arguments).train.camera.view.roi, gate_);
  arguments.back() = "";
  EXPECT_EQ(parse(arguments).train.camera.view.roi, gate_) << "of the environment alone";
}

TEST_F(Watching, AnUnknownWatchIsRefusedWithTheNamesThereAre) {
  expect_refused({"eval", "d", "--watch", "gat"}, "--watch gat: there is no [watch.gat] in " +
                                                      service_ +
                                                      ", but gate, lamp; see lookout eval --help");
  expect_refused({"eval", "d", "--watch", "gate", "--config", ""},
                 "--watch gate: there is no [watch.gate] in the environment; --config names a "
                 "configuration");
  const std::string none = directory_.write("none.toml", "[camera]\nname = \"yard\"\n");
  expect_refused({"train", "d", "-o", "x", "--config", none, "--watch", "gate"},
                 "--watch gate: there is no [watch.gate] in " + none);
  EXPECT_THROW(parse({"eval", "d", "--watch", "gate", "--config", directory_ / "no.toml"}), Error);
}

TEST_F(Watching, WithoutAWatchItIsSaidThatPartsAreWatched) {
  const auto notes = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments{"train", "d", "-o", "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse(arguments).train.watch.notes;
  };
  EXPECT_EQ(notes({}), std::vector{"whole pictures are taken, but " + service_ +
                                   " watches parts of the picture: --watch gate or lamp takes "
                                   "that part"});
  EXPECT_EQ(parse({"eval", "d"}).eval.watch.notes.size(), 1U);
  EXPECT_TRUE(notes({"--roi", "0,0,0.5,1"}).empty());
  EXPECT_TRUE(notes({"--config", ""}).empty());
  const std::string whole = directory_.write("whole.toml", "[watch.gate]\nmodel = \"a.pt\"\n");
  EXPECT_TRUE(notes({"--config", whole}).empty());
  const std::string broken = directory_.write("broken.toml", "[watch\n");
  EXPECT_TRUE(notes({"--config", broken}).empty()) << "nothing of it is asked for";
  EXPECT_TRUE(parse({"collect", "test://all", "d", "--label", "a"}).collect.watch.notes.empty())
      << "its pictures are whole anyway";
}

// All pages of --help.
std::vector<std::vector<std::string>> pages() {
  std::vector<std::vector<std::string>> all{{"--help"}};
  for (const char* command :
       {"run",     "inspect", "doctor",        "list-cameras", "bench", "eval",
        "train",   "collect", "trace-summary", "serve",        "mqtt",  "camera",
        "model",   "results", "state",         "still",        "heat",  "events",
        "history", "http",    "profile",       "log"}) {
    all.push_back({"help", command});
  }
  all.push_back({"mqtt", "forget", "--help"});
  for (const char* command : {"install", "back", "list"}) {
    all.push_back({"model", command, "--help"});
  }
  return all;
}

TEST(Commands, HelpAndVersionAreTexts) {
  const std::string top = text_of({"--help"});
  EXPECT_EQ(text_of({"help"}), top);
  EXPECT_THAT(top, AllOf(HasSubstr("\n  trace-summary "), HasSubstr("lookout help COMMAND")));
  EXPECT_LE(std::count(top.begin(), top.end(), '\n'), 32) << "a screen";
  const std::string run = text_of({"run", "--help"});
  EXPECT_EQ(text_of({"help", "run"}), run);
  EXPECT_THAT(run, AllOf(HasSubstr("\n  SOURCE "), HasSubstr("--roi"), HasSubstr("--set"),
                         HasSubstr("LOOKOUT_RESULTS_TOP_K=3"), HasSubstr("\nExample:\n")));
  EXPECT_THAT(text_of({"inspect", "--help"}),
              AllOf(HasSubstr("lookout inspect [MODEL]"), HasSubstr("--model FILE")));
  EXPECT_THAT(text_of({"trace-summary", "--help"}),
              AllOf(HasSubstr("lookout trace-summary FILE..."), HasSubstr("--trace wrote")));
  EXPECT_THAT(text_of({"doctor", "--help"}),
              AllOf(HasSubstr("lookout doctor [SOURCE]"), HasSubstr("--model FILE")));
  EXPECT_THAT(text_of({"collect", "--help"}),
              AllOf(HasSubstr("lookout collect SOURCE DIR"), Not(HasSubstr("auto\n"))));
  EXPECT_THAT(text_of({"help", "mqtt", "forget"}),
              AllOf(HasSubstr("lookout mqtt forget [OPTION]"), HasSubstr("--all-machines"),
                    Not(HasSubstr("  SOURCE "))));
  EXPECT_THAT(text_of({"help", "mqtt"}), AllOf(HasSubstr("forget"), HasSubstr("  prefix=lookout")));
  EXPECT_EQ(text_of({"--version"}).rfind("lookout ", 0), 0U);
  expect_error({"help", "doctr"}, ErrorKind::kUsage,
               "there is no command or section doctr; did you mean doctor?; see lookout help");
}

TEST(Commands, ModelsAreInstalledWithTheOptionsOfARun) {
  const Parsed parsed = parse_command(
      {"model", "install", "new.pt", "--watch", "gate", "--set", "watch.gate.model=gate.pt"});
  EXPECT_EQ(parsed.model.file, "new.pt");
  EXPECT_EQ(parsed.model.watch, "gate");
  ASSERT_EQ(parsed.run.watches.size(), 1U);
  EXPECT_EQ(parsed.run.watches[0].model, "gate.pt");
  EXPECT_EQ(parse_command({"model", "back", "1a2b"}).model.hash, "1a2b");
  EXPECT_THAT(text_of({"help", "model", "install"}), HasSubstr("lookout model install FILE ["));
  expect_error({"model"}, ErrorKind::kUsage,
               "model needs a command: lookout model install, back, list");
  expect_error({"model", "foo"}, ErrorKind::kUsage,
               "there is no model foo: lookout model install, back, list");
}

TEST(Commands, FlagsOfARunThatDoNothingAreRefused) {
  EXPECT_THAT(text_of({"reload", "--help"}),
              AllOf(HasSubstr("--config FILE"), HasSubstr("--set SECTION.KEY=VALUE"),
                    HasSubstr("--log-level"), Not(HasSubstr("--top-k"))));
  EXPECT_THAT(text_of({"mqtt", "forget", "--help"}),
              AllOf(HasSubstr("--mqtt URL"), Not(HasSubstr("--roi"))));
  expect_error({"reload", "--top-k", "3"}, ErrorKind::kUsage,
               "reload takes no --top-k; see lookout reload --help");
  EXPECT_THAT(text_of({"model", "list", "--help"}), HasSubstr("--format text|json"));
  EXPECT_THAT(text_of({"model", "back", "--help"}), Not(HasSubstr("--format")));
  expect_error({"--overlay", "model", "list"}, ErrorKind::kUsage, "model list takes no --overlay");
  expect_error({"password", "--log-levle", "off"}, ErrorKind::kUsage, "did you mean --log-level?");
  expect_error({"reload", "--thraeds", "2"}, ErrorKind::kUsage,
               "there is no --thraeds; see lookout reload --help");
}

TEST(Commands, HelpFitsATerminal) {
  for (const auto& page : pages()) {
    std::istringstream text(text_of(page));
    std::size_t lines = 0;
    for (std::string line; std::getline(text, line); ++lines) {
      EXPECT_LE(line.size(), 80U) << page.back() << ": " << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << page.back() << ": " << line;
    }
    EXPECT_GE(lines, 4U) << page.back();
  }
}

TEST(Commands, HelpShowsDefaultsAndFewFlags) {
  const std::string help = text_of({"run", "--help"});
  EXPECT_THAT(help, HasSubstr("--top-k N=10"));
  EXPECT_THAT(text_of({"help", "events"}),
              AllOf(HasSubstr("on-change-timeout=10s"), HasSubstr("snapshot-limit=100MB")));
  const std::regex flag("\n  (-[a-z], )?--[a-z]");
  const auto flags =
      std::distance(std::sregex_iterator(help.begin(), help.end(), flag), std::sregex_iterator());
  EXPECT_GE(flags, 15);
  EXPECT_LE(flags, 25 + 1);  // with --help
}

TEST(Commands, FlagsOfOtherProgramsAreAnsweredWithOurs) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> guesses{
      {{"--fps", "10"}, "there is no --fps; did you mean --set camera.framerate=N?"},
      {{"bench", "--fps", "10"}, "there is no --fps; did you mean --framerate N?"},
      {{"--camera", "0"}, "there is no --camera; did you mean the argument SOURCE?"},
      {{"--json"}, "there is no --json; did you mean --format json?"},
      {{"eval", "d", "--json"}, "there is no --json; did you mean --format json?"},
      {{"trace-summary", "t.json", "--html", "t.html"},
       "there is no --html; did you mean --report FILE.html?"},
      {{"--quiet"}, "there is no --quiet; did you mean --log-level warn?"},
      {{"--confidence", "0.5"}, "there is no --confidence; did you mean --threshold N?"},
      {{"--source", "x"}, "there is no --source; did you mean the argument SOURCE?"},
      {{"--framerate", "10"}, "there is no --framerate; did you mean --set camera.framerate=N?"},
      {{"--rate", "10"}, "there is no --rate; did you mean --max-rate N?"},
      {{"--rotation", "90"},
       "there is no --rotation; did you mean --set camera.rotation=0|90|180|270?"},
      {{"--rotate", "90"}, "there is no --rotate; did you mean --set camera.rotation=90?"},
      {{"--snapshot-when", "unsure"},
       "did you mean --set events.snapshot-when=change|unsure|both?"},
      {{"--live"}, "there is no --live; did you mean --set camera.live=true?"},
      {{"list-cameras", "--foo"}, "there is no --foo; see lookout list-cameras --help"}};
  for (const auto& [arguments, sentence] : guesses) {
    expect_error(arguments, ErrorKind::kUsage, sentence);
  }
  EXPECT_EQ(parse_run({"--http", "127.0.0.1:0"}).http.address, "127.0.0.1:0");
}

TEST(Commands, ACommandThatHasCommandsNamesThem) {
  expect_error({"mqtt"}, ErrorKind::kUsage, "mqtt needs a command: lookout mqtt forget; see");
}

TEST(Commands, ANameThatIsTooLongIsNoMisspeltCommand) {
  EXPECT_EQ(parse_run({std::string(304, 'x')}).camera.source.size(), 304U);
}

// So that a lookout that is started by --on-change takes none of its variables for a setting.
TEST(Commands, NoSettingIsCalledLikeAnEvent) {
  const std::string help = text_of({"run", "--help"});
  EXPECT_EQ(help.find("--event"), std::string::npos);
  EXPECT_EQ(help.find("\n  event "), std::string::npos);
}

}  // namespace
}  // namespace lookout
