// The program as its users meet it: what it prints, where, and how it ends.
#include "tests/support/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <sstream>

#include "paths.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<Json> classifications(const ProgramResult& result) {
  std::vector<Json> found;
  for (Json& line : json_lines(result.out)) {
    if (line["type"] == "classification") found.push_back(std::move(line));
  }
  return found;
}

// The last line of stderr is the program's sentence on why it ended.
void expect_failure(const ProgramResult& result, int status, const std::string& named) {
  EXPECT_EQ(result.status, status) << result.err;
  const auto start = result.err.rfind("lookout: ");
  ASSERT_NE(start, std::string::npos) << result.err;
  const std::string sentence = result.err.substr(start);
  EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << "one line: " << sentence;
  EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
}

const std::map<std::string, std::string> kLabelOfPattern{{"colorbars", "color bars"},
                                                         {"hcolorbars", "horizontal color bars"},
                                                         {"colorsquares", "color squares"},
                                                         {"black", "black"},
                                                         {"white", "white"},
                                                         {"red", "red"},
                                                         {"green", "green"},
                                                         {"blue", "blue"},
                                                         {"gray", "gray"},
                                                         {"checkers", "checkers"},
                                                         {"colorcheckers", "red-blue checkers"},
                                                         {"hlines", "horizontal lines"},
                                                         {"vlines", "vertical lines"},
                                                         {"cross", "cross"},
                                                         {"ramp", "gray ramp"},
                                                         {"noise", "noise"}};

class SelfTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(SelfTest, TheBuiltInModelNamesEveryPattern) {
  const auto [size, noise] = GetParam();
  // 12 frames of each pattern: the shift's and marker's places differ.
  const ProgramResult result = run_lookout(
      {"test://all?fps=0&hold=12&frames=192&size=" + size + "&noise=" + noise, "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::vector<Json> lines = classifications(result);
  ASSERT_EQ(lines.size(), 192U);
  std::set<std::string> seen;
  for (const Json& line : lines) {
    const std::string pattern = line["file"].get<std::string>().substr(7);
    seen.insert(pattern);
    EXPECT_EQ(line["results"][0]["label"], kLabelOfPattern.at(pattern)) << line;
    EXPECT_EQ(line["results"].size(), 10U);
  }
  EXPECT_EQ(seen.size(), kLabelOfPattern.size());
}

INSTANTIATE_TEST_SUITE_P(All, SelfTest,
                         testing::Combine(testing::Values("224x224", "640x480", "1280x720"),
                                          testing::Values("0", "20")));

class RealPictures : public testing::TestWithParam<const char*> {};

TEST_P(RealPictures, HaveTheRightTopOne) {
  const std::string models = LOOKOUT_SHARED_MODELS;
  if (!std::filesystem::exists(models)) GTEST_SKIP() << models << " is not here";
  const ProgramResult result =
      run_lookout({models + "/samples", "--model", models + "/" + GetParam(), "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::vector<std::pair<std::string, int>> expected{{"n01443537_goldfish", 1},
                                                          {"n02099601_golden_retriever", 207},
                                                          {"n02123597_Siamese_cat", 284},
                                                          {"n03100240_convertible", 511},
                                                          {"n07745940_strawberry", 949}};
  const std::vector<Json> lines = classifications(result);
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["file"], models + "/samples/" + expected[i].first + ".JPEG");
    EXPECT_EQ(lines[i]["results"][0]["index"], expected[i].second);
    EXPECT_EQ(lines[i]["seq"], i);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealPictures,
                         testing::Values("mobilenet_v2_qnnpack.pt", "mobilenet_v2_xnnpack.pt",
                                         "mobilenet_v2_float.pt"));

TEST(Program, StdoutIsDataAndStderrIsLog) {
  const ProgramResult result = run_lookout({"test://checkers?fps=0&frames=3"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out.find("0 test://checkers: checkers "), 0U) << result.out;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3);
  EXPECT_NE(result.err.find("model: "), std::string::npos);
  EXPECT_NE(result.err.find("source: "), std::string::npos);
  EXPECT_NE(result.err.find("summary of "), std::string::npos);
  EXPECT_NE(result.err.find("no --model given"), std::string::npos);
}

TEST(Program, CountsAddUpInTheSummary) {
  const ProgramResult result =
      run_lookout({"test://all?fps=200", "-t", "2s", "--format", "json", "--log-level", "off"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const std::vector<Json> lines = json_lines(result.out);
  const Json& summary = lines.back();
  ASSERT_EQ(summary["type"], "summary");
  EXPECT_EQ(summary["captured"].get<int>(), summary["classified"].get<int>() +
                                                summary["dropped"].get<int>() +
                                                summary["in_flight"].get<int>());
  EXPECT_EQ(classifications(result).size(), summary["classified"].get<std::size_t>());
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [](const Json& line) { return line["type"] == "stats"; }));
  for (const Json& line : lines) {
    if (line["type"] != "stats" && line["type"] != "summary") continue;
    for (const char* field : {"temperature_c", "throttled"}) {
      ASSERT_TRUE(line.contains(field)) << line;
      EXPECT_TRUE(line[field].is_null() || line[field].is_number()) << line;
    }
  }
}

TEST(Program, StatisticsTellHowWarmAndThrottledTheBoardIs) {
  const TempDir machine;
  std::filesystem::create_directories(machine / "thermal/thermal_zone0");
  std::filesystem::create_directories(machine / "platform/soc/soc:firmware");
  machine.write("thermal/thermal_zone0/temp", "81200\n");
  machine.write("platform/soc/soc:firmware/get_throttled", "50004\n");
  const auto run = [](const std::string& commands) {
    return std::system(("unshare --mount sh -c '" + commands + "' 2>/dev/null").c_str());
  };
  const std::string mount = "mount --bind " + machine / "thermal" + " /sys/class/thermal && " +
                            "mount --bind " + machine / "platform" + " /sys/devices/platform";
  if (run(mount) != 0) GTEST_SKIP() << "files cannot be mounted over the kernel's";
  const std::string out = machine / "out";
  ASSERT_EQ(
      run(mount +
          " && " LOOKOUT_PROGRAM " run test://red -t 1s --stats-interval 50ms --format json >" +
          out),
      0);
  std::ifstream file(out);
  std::set<std::string> types;
  for (const Json& line : json_lines({std::istreambuf_iterator<char>(file), {}})) {
    const std::string type = line["type"];
    if (type != "stats" && type != "summary") continue;
    types.insert(type);
    EXPECT_EQ(line["temperature_c"], 81.2);
    EXPECT_EQ(line["throttled"], 0x50004);
  }
  EXPECT_EQ(types, (std::set<std::string>{"stats", "summary"}));
}

TEST(Program, NoSuchInput) {
  expect_failure(run_lookout({"/dev/video99"}), 66, "/dev/video99");
  expect_failure(run_lookout({"/no/such/folder"}), 66, "/no/such/folder");
  expect_failure(run_lookout({"/dev/null"}), 66, "/dev/null is not a camera");
  const TempDir empty;
  expect_failure(run_lookout({empty.path().string()}), 66, empty.path().string());
}

TEST(Program, WrongUse) {
  expect_failure(run_lookout({"--frobnicate"}), 64, "--frobnicate");
  expect_failure(run_lookout({"--top-k", "none"}), 64, "--top-k");
  expect_failure(run_lookout({"test://nothing"}), 64, "nothing");
  expect_failure(run_lookout({"gopher://x"}), 64, "gopher");
  const TempDir directory;
  expect_failure(run_lookout({"--config", directory.write("c.toml", "colour = 1\n")}), 78,
                 "colour");
}

TEST(Program, PermissionRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  const TempDir directory;
  chmod(directory.path().c_str(), 0755);
  const std::string picture = directory / "picture.png";
  cv::imwrite(picture, cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(7)));
  chmod(picture.c_str(), 0);
  Program::Options nobody;
  nobody.user = 65534;
  if (run_lookout({"--version"}, nobody).status != 0) {
    GTEST_SKIP() << "another user cannot run the program from here";
  }
  expect_failure(run_lookout({picture}, nobody), 77, picture);
  const std::string folder = directory / "pictures";
  expect_failure(run_lookout({"test://red", "--snapshot-on-change", folder}, nobody), 77, folder);
}

TEST(Program, ABrokenPictureIsSaidSkippedAndCounted) {
  const TempDir directory;
  for (const char* name : {"1.png", "2.png", "10.png"}) {
    cv::imwrite(directory / name, cv::Mat(64, 64, CV_8UC3, cv::Scalar(0, 0, 255)));
  }
  const std::string broken = directory.write("3.jpg", "this is no picture");
  const ProgramResult result = run_lookout({directory.path().string(), "--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find(broken), std::string::npos) << result.err;
  const std::vector<Json> lines = classifications(result);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2]["file"], directory / "10.png");
  EXPECT_EQ(lines[0]["results"][0]["label"], "red");
  EXPECT_EQ(json_lines(result.out).back()["skipped"], 1);
}

TEST(Program, AFolderOfWhichNothingCanBeReadIsAnError) {
  const TempDir directory;
  directory.write("1.jpg", "this is no picture");
  directory.write("2.jpg", "nor is this");
  const ProgramResult result = run_lookout({directory.path().string(), "--format", "json"});
  EXPECT_EQ(result.status, 66) << result.err;
  EXPECT_NE(result.err.find("none of the 2 pictures can be read\n"), std::string::npos)
      << result.err;
  EXPECT_EQ(json_lines(result.out).back()["type"], "summary");
}

TEST(Program, NamesOfFilesBeginNoLinesAndMoveNoCursor) {
  const TempDir directory;
  cv::imwrite(directory / "1\n\x1b[2J.png", cv::Mat(64, 64, CV_8UC3, cv::Scalar(0, 0, 255)));
  directory.write("2\n\x1b[2J.png", "this is no picture");
  const ProgramResult result = run_lookout({directory.path().string()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1) << result.out;
  EXPECT_NE(result.out.find("/1\\n\\x1b[2J.png: red "), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("/2\\n\\x1b[2J.png cannot be read"), std::string::npos) << result.err;
  expect_failure(run_lookout({"/no/such\n\x1b[2J.png"}), 66, "/no/such\\n\\x1b[2J.png");
}

TEST(Program, BadModels) {
  const TempDir directory;
  const std::string source = "test://red?fps=0&frames=1";
  expect_failure(run_lookout({source, "--model", directory / "none.pt"}), 66, "none.pt");
  const std::string random = directory.write("random.pt", std::string(5000, 'z'));
  expect_failure(run_lookout({source, "--model", random}), 65, random);
  const std::string bare = directory / "bare.pt";
  write_archive(bare, kMeanOfChannels, "", "");
  expect_failure(run_lookout({source, "--model", bare}), 65, "--labels");
  const std::string labels = directory.write("labels.txt", "r\ng\nb\n");
  EXPECT_EQ(run_lookout({source, "--model", bare, "--labels", labels}).status, 0);
  const std::string two = directory.write("two.txt", "r\ng\n");
  expect_failure(run_lookout({source, "--model", bare, "--labels", two}), 65,
                 "3 scores, but there are 2 labels");
  expect_failure(run_lookout({source, "--labels", directory / "none.txt"}), 66,
                 "none.txt cannot be read: No such file or directory");
  const std::string throwing = directory / "throwing.pt";
  write_archive(throwing, "assert x is None, \"not today\"", small_metadata(), kThreeLabels);
  expect_failure(run_lookout({source, "--model", throwing}), 65, "not today");
}

TEST(Program, AModelForAnotherEngine) {
  const TempDir directory;
  const std::string archive = directory / "foreign.pt";
  const std::string make = std::string("/usr/bin/python3 ") + LOOKOUT_TESTS +
                           "/tools/foreign_archive.py " + archive + " 2>/dev/null";
  if (std::system(make.c_str()) != 0) {
    GTEST_SKIP() << "/usr/bin/python3 has no torch (apt-get install python3-torch)";
  }
  expect_failure(run_lookout({"test://red?fps=0&frames=1", "--model", archive}), 65,
                 "fails while classifying");
}

// What the program writes to a terminal of that kind.
std::string on_terminal(const std::string& term) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(terminal), 0);
  EXPECT_EQ(unlockpt(terminal), 0);
  Program::Options options;
  options.stdout_fd = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  options.environment = {"TERM=" + term};
  Program program({"test://all?frames=3"}, options);
  close(options.stdout_fd);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = read(terminal, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  close(terminal);
  EXPECT_EQ(program.finish().status, 0);
  return text;
}

TEST(Program, OnlyATerminalThatCanGetsADisplay) {
  EXPECT_NE(on_terminal("xterm").find('\x1b'), std::string::npos);
  for (const char* term : {"dumb", ""}) {
    const std::string text = on_terminal(term);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << term;
    EXPECT_NE(text.find(" test://"), std::string::npos) << text;
  }
}

TEST(Program, AClosedPipeIsACleanStop) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  Program::Options options;
  options.stdout_fd = ends[1];
  Program program({"test://all", "--format", "json"}, options);
  close(ends[1]);
  char first = 0;
  EXPECT_EQ(read(ends[0], &first, 1), 1);
  close(ends[0]);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("summary of "), std::string::npos);
}

TEST(Program, AFullDiskIsSaid) {
  Program::Options options;
  options.stdout_path = "/dev/full";
  expect_failure(run_lookout({"test://red?fps=0&frames=10"}, options), 74,
                 "No space left on device");
  expect_failure(run_lookout({"--help"}, options), 74, "No space left on device");
}

TEST(Program, AnAbsentCameraEndsARunAndIsWaitedForByAService) {
  expect_failure(run_lookout({"/dev/video9876"}), 66, "/dev/video9876");
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  expect_failure(run_lookout({"/dev/video9876", "--wait-for-camera", "no"}, service), 66,
                 "/dev/video9876");
  Program program({"/dev/video9876", "--format", "json"}, service);
  ASSERT_TRUE(program.wait_for("\"state\":\"offline\"")) << program.err();
  kill(program.pid(), SIGTERM);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(json_lines(result.out)[0]["camera"], "video9876");
  EXPECT_NE(result.err.find("waiting for camera video9876: no such device"), std::string::npos)
      << result.err;
  expect_failure(
      run_lookout({"/dev/video9876", "--wait-for-camera", "yes", "--give-up-after", "100ms"}), 69,
      "video9876 did not come within 0.1 s");
}

TEST(Program, AServiceIsToldThatItSeesNoHomeFolders) {
  const std::string told = "; a service does not see home folders";
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  for (const std::string file : {"/home/no-one/file", "/root/no-such-folder/file"}) {
    expect_failure(run_lookout({"test://red", "--model", file}, service), 66,
                   std::string("no such model: ").append(file).append(told));
    expect_failure(
        run_lookout({"test://red", "--labels", file}, service), 66,
        std::string("labels ").append(file).append(" cannot be read: No such file or directory") +
            told);
    EXPECT_EQ(run_lookout({"test://red", "--model", file}).err.find(told), std::string::npos);
  }
  EXPECT_EQ(run_lookout({"test://red", "--model", "/no/such/model"}, service).err.find(told),
            std::string::npos);
}

TEST(Program, AServiceThatMayNotReachItsModelsHomeFolderIsNotTriedAgain) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  struct stat home {};
  if (stat("/root", &home) != 0 || (home.st_mode & S_IXOTH) != 0) {
    GTEST_SKIP() << "/root is not there, or open to everybody";
  }
  Program::Options service;
  service.environment = {"NOTIFY_SOCKET=/nonexistent"};
  service.user = 65534;
  if (run_lookout({"--version"}, service).status != 0) {
    GTEST_SKIP() << "another user cannot run the program from here";
  }
  expect_failure(run_lookout({"test://red", "--model", "/root/model.pt"}, service), 66,
                 "/root/model.pt; a service does not see home folders");
}

TEST(Program, ListCamerasNeedsNone) {
  const ProgramResult result = run_lookout({"list-cameras", "--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["type"], "cameras");
}

class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, EndTheProgramWithItsSummary) {
  Program program({"test://all", "--format", "json"});
  ASSERT_TRUE(program.wait_for("\"type\":\"classification\"")) << program.err();
  kill(program.pid(), GetParam());
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("summary of "), std::string::npos);
  EXPECT_EQ(json_lines(result.out).back()["type"], "summary");
}

INSTANTIATE_TEST_SUITE_P(All, Signals, testing::Values(SIGINT, SIGTERM));

TEST(Program, InspectTellsWhatIsInAnArchive) {
  const ProgramResult text = run_lookout({"inspect"});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* named : {"sha256", "224x224 RGB, center-square", "mean 0.485", "16: color bars",
                            "qint8, computed by XNNPACK kernels", "parameters", "producer"}) {
    EXPECT_NE(text.out.find(named), std::string::npos) << named << " in " << text.out;
  }
  const ProgramResult json = run_lookout({"inspect", "--format", "json"});
  const Json report = Json::parse(json.out);
  EXPECT_EQ(report["input"]["resize"], "center-square");
  EXPECT_EQ(report["labels"].size(), 16U);
  EXPECT_EQ(report["sha256"].get<std::string>().size(), 64U);
  expect_failure(run_lookout({"inspect", "/no/such/model.pt"}), 66, "/no/such/model.pt");
}

TEST(Program, InTheJournalOnlyChangesAreWritten) {
  const TempDir directory;
  Program::Options journal;
  journal.stdout_path = directory.write("journal", "");
  struct stat status {};
  ASSERT_EQ(stat(journal.stdout_path.c_str(), &status), 0);
  journal.environment = {"JOURNAL_STREAM=" + std::to_string(status.st_dev) + ":" +
                         std::to_string(status.st_ino)};
  const ProgramResult result = run_lookout({"test://all?fps=0&hold=5&frames=80"}, journal);
  EXPECT_EQ(result.status, 0) << result.err;
  std::ifstream written(journal.stdout_path);
  int lines = 0;
  for (std::string line; std::getline(written, line);) ++lines;
  EXPECT_EQ(lines, 16) << "one for each pattern";
}

TEST(Program, WithTheShippedFileAFlickeringSceneDoesNotFillTheJournal) {
  const ProgramResult result =  // no class lasts for two frames
      run_lookout({"test://all?fps=0&hold=1&frames=64", "--results", "changes", "--config",
                   std::string(LOOKOUT_DEPLOY) + "/lookout.toml"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(Program, ChangesOfTheStateAreWrittenRunAndPictured) {
  const TempDir directory;
  const std::string states = directory / "states";
  const ProgramResult result =
      run_lookout({"test://all?fps=0&hold=5&frames=10", "--format", "json", "--results", "changes",
                   "--on-change", "sh -c 'echo $LOOKOUT_EVENT_STATE >>" + states + "'",
                   "--snapshot-on-change", directory.path().string(), "--snapshot-cooldown", "1h"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::vector<std::string> types;
  for (const Json& line : json_lines(result.out)) types.push_back(line["type"]);
  EXPECT_EQ(types, (std::vector<std::string>{"state", "classification", "state", "classification",
                                             "summary"}));
  const Json second = json_lines(result.out)[2];
  EXPECT_EQ(second["state"], "horizontal color bars");
  EXPECT_EQ(second["previous"], "color bars");
  EXPECT_EQ(second["seq"], 5);
  std::ifstream file(states);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("horizontal color bars\n"), std::string::npos) << text;
  int pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() != ".jpg") continue;
    ++pictures;
    EXPECT_EQ(cv::imread(entry.path()).size(), cv::Size(640, 480));
  }
  EXPECT_EQ(pictures, 1);
}

TEST(Program, ACommandFindsThePictureOfItsChange) {
  const TempDir directory;
  const std::string copy = directory / "copy.jpg";
  const ProgramResult result = run_lookout({"test://cross?fps=0&frames=3", "--on-change",
                                            "sh -c 'cp \"$LOOKOUT_EVENT_SNAPSHOT\" " + copy + "'",
                                            "--snapshot-on-change", directory.path().string()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(cv::imread(copy).size(), cv::Size(640, 480)) << result.err;
}

TEST(Program, AFolderForSnapshotsIsMadeOrRefusedAtTheStart) {
  const TempDir directory;
  const std::string folder = directory / "pictures";
  const ProgramResult result =
      run_lookout({"test://cross?fps=0&frames=3", "--snapshot-on-change", folder});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("1 written, 0 failed"), std::string::npos) << result.err;
  const ProgramResult refused =
      run_lookout({"test://cross?fps=0&frames=3", "--snapshot-on-change", directory / "no/such"});
  expect_failure(refused, 74, directory / "no/such");
  EXPECT_EQ(refused.out, "");
}

TEST(Program, ACommandThatFailsIsSaidWhateverTheParentDidWithSigchld) {
  Program::Options options;
  options.ignore_sigchld = true;
  const ProgramResult result =
      run_lookout({"test://cross?fps=0&frames=3", "--on-change", "sh -c 'exit 3'"}, options);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("--on-change sh: exit status 3"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("1 run, 1 failed"), std::string::npos) << result.err;
}

TEST(Program, NothingOfACommandOrAFullFolderStopsClassification) {
  const TempDir folder;
  const ProgramResult result =
      run_lookout({"test://all?fps=0&hold=5&frames=80", "--min-duration", "1ms", "--on-change",
                   "/no/such", "--snapshot-on-change", folder.path(), "--snapshot-limit", "1"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 80);
  EXPECT_NE(result.out.find("), now "), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("/no/such: cannot be started: No such file"), std::string::npos);
  EXPECT_NE(result.err.find("one snapshot is larger than the limit"), std::string::npos);
}

TEST(Program, OperatorsAreInTheStatisticsWhenSampled) {
  const std::string source = "test://all?fps=0&frames=100";
  const ProgramResult sampled = run_lookout(
      {source, "--format", "json", "--op-sampling", "0.2", "--op-shapes", "--threads", "1"});
  ASSERT_EQ(sampled.status, 0) << sampled.err;
  const Json summary = json_lines(sampled.out).back();
  EXPECT_EQ(summary["op_sampling"], 0.2);
  ASSERT_GT(summary["operators"].size(), 3U);
  double share = 0;
  for (const Json& row : summary["operators"]) share += row["share"].get<double>();
  EXPECT_NEAR(share, 1, 0.01);
  const std::string costly = summary["operators"][0]["name"];
  EXPECT_NE(sampled.err.find("  " + costly + " ["), std::string::npos) << sampled.err;

  const ProgramResult plain = run_lookout({source, "--format", "json"});
  EXPECT_FALSE(json_lines(plain.out).back().contains("operators"));
  EXPECT_EQ(plain.err.find("operators"), std::string::npos) << plain.err;
}

TEST(Program, ASignalAsksForTheOperators) {
  for (const auto& [sampling, answer] : std::map<std::string, std::string>{
           {"1", "of the calls sampled"}, {"0", "operators are not sampled"}}) {
    Program program({"test://all", "--op-sampling", sampling});
    ASSERT_TRUE(program.wait_for("test://colorbars: ")) << program.err();
    kill(program.pid(), SIGUSR1);
    EXPECT_TRUE(program.wait_for(answer)) << program.err();
    kill(program.pid(), SIGTERM);
    EXPECT_EQ(program.finish().status, 0);
  }
}

TEST(Program, TheArchivesProducerIsInTheSummaryAndTheDebugLog) {
  const ProgramResult result =
      run_lookout({"test://red?fps=0&frames=3", "--format", "json", "--log-level", "debug"});
  const Json archive = json_lines(result.out).back()["archive"];
  EXPECT_TRUE(archive["producer"].contains("torch")) << archive;
  EXPECT_EQ(archive["kernels"], "XNNPACK");
  EXPECT_NE(result.err.find("archive: {\"name\":\"selftest\",\"producer\":{"), std::string::npos)
      << result.err;
  const std::string usage = "LibTorch: torch.script.load is used";
  const auto told = result.err.find(usage);
  ASSERT_NE(told, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(usage, told + 1), std::string::npos) << "once";
}

TEST(Program, ATraceIsSoundAndSummarized) {
  const TempDir directory;
  const std::string file = directory / "trace.json";
  const ProgramResult result =
      run_lookout({"test://all?fps=0&frames=40", "--trace", file, "--trace-frames", "25"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("trace: 25 frames in " + file), std::string::npos) << result.err;
  const ProgramResult text = run_lookout({"trace-summary", file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out.rfind("25 frames in ", 0), 0U) << text.out;
  const Json summary = Json::parse(run_lookout({"trace-summary", file, "--format", "json"}).out);
  EXPECT_EQ(summary["about"]["model"], "selftest");
  EXPECT_EQ(summary["threads"].size(), 2U);
  EXPECT_GT(summary["operators"].size(), 3U);
  const std::string check =
      std::string(LOOKOUT_TESTS) + "/tools/check_trace.py " + file + " 25 >&2";
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  EXPECT_EQ(std::system(("python3 " + check).c_str()), 0);
}

TEST(Program, ATraceOfACameraBeginsAfterItsWarmUp) {
  const TempDir directory;
  const std::string file = directory / "trace.json";
  Program program({"test://all?fps=200", "--trace", file, "--trace-frames", "5"});
  // It is there when its frames are, not only at the end.
  ASSERT_TRUE(program.wait_for("trace: 5 frames in " + file)) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
  std::ifstream stream(file);
  const Json trace = Json::parse(stream);
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["args"]["frame"], 10);
  }
}

TEST(Program, ATraceThatCannotBeWrittenIsRefusedAtTheStart) {
  const TempDir directory;
  for (const std::string& file : {directory / "no/such/trace.json", directory.path().string()}) {
    const ProgramResult result = run_lookout({"test://red", "--trace", file});
    expect_failure(result, 74, file + " cannot be written: ");
    EXPECT_EQ(result.out, "");
  }
  expect_failure(run_lookout({"test://red", "--trace", "/dev/null"}), 74, "it is no file");
}

TEST(Program, WhatIsNoTraceHasNoSummary) {
  const TempDir directory;
  expect_failure(run_lookout({"trace-summary", directory / "none.json"}), 66, "none.json");
  expect_failure(run_lookout({"trace-summary", directory.path().string()}), 66, "cannot be read");
  const std::string file = directory.write("bad.json", "{\"a\":1}");
  expect_failure(run_lookout({"trace-summary", file}), 65, file + " is not a trace");
  expect_failure(run_lookout({"trace-summary"}), 64, "file");
}

TEST(Program, DoctorTellsWhetherARunWouldStart) {
  const ProgramResult healthy = run_lookout({"doctor", "test://all", "--format", "json"});
  EXPECT_EQ(healthy.status, 0) << healthy.out << healthy.err;
  EXPECT_EQ(Json::parse(healthy.out)["would_start"], true);
  EXPECT_NE(healthy.out.find("QNNPACK is used"), std::string::npos);
  const ProgramResult no_camera = run_lookout({"doctor", "/dev/video99"});
  EXPECT_EQ(no_camera.status, 66);
  EXPECT_NE(no_camera.out.find("lookout run would end with exit status 66."), std::string::npos);
  const TempDir directory;
  const std::string model = directory.write("random.pt", std::string(5000, 'z'));
  EXPECT_EQ(run_lookout({"doctor", "test://all", "--model", model}).status, 65);
}

TEST(Program, OptionsOfResultsStatesAndSchedulingAreApplied) {
  const std::string source = "test://checkers?fps=0&frames=3";
  const ProgramResult some = run_lookout({source, "--threshold", "0.5", "--format", "json"});
  ASSERT_EQ(classifications(some).size(), 3U) << some.err;
  EXPECT_EQ(classifications(some)[0]["results"].size(), 1U) << some.out;
  EXPECT_NE(some.out.find("\"type\":\"state\""), std::string::npos) << some.out;
  const ProgramResult steady = run_lookout({source, "--min-duration", "1h", "--format", "json"});
  EXPECT_EQ(classifications(steady).size(), 3U) << steady.err;
  EXPECT_EQ(steady.out.find("\"type\":\"state\""), std::string::npos) << steady.out;
  expect_failure(run_lookout({source, "--capture-cpus", "1023"}), 64, "1023");
}

TEST(Program, ACommandThatTakesTooLongMakesRoomForTheNext) {
  const TempDir directory;
  const std::string first = directory / "first";
  // The program ends before the 10 s that a command has by default.
  Program program({"test://all?hold=5", "-t", "7s", "--on-change-timeout", "200ms", "--on-change",
                   "sh -c 'mkdir " + first + " || echo a second one; exec sleep 60'"});
  EXPECT_TRUE(program.wait_for("a second one")) << program.err();
  EXPECT_NE(program.err().find("--on-change sh: killed: it took too long"), std::string::npos);
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

// Expects that both end with `status` and say the same of the option.
void expect_doctor_ends_as_run(const std::string& option, const std::string& value, int status,
                               const Program::Options& as = {}) {
  const ProgramResult run = run_lookout({"test://red?frames=1", option, value}, as);
  const ProgramResult doctor = run_lookout({"doctor", "test://red?frames=1", option, value}, as);
  expect_failure(run, status, value);
  EXPECT_EQ(doctor.status, status) << doctor.out;
  const std::string start = "lookout: ";
  const auto sentence = run.err.substr(run.err.rfind(start) + start.size());
  EXPECT_NE(doctor.out.find(sentence), std::string::npos) << doctor.out << sentence;
}

TEST(Program, DoctorEndsAsTheRunThatItJudges) {
  expect_doctor_ends_as_run("--trace", "/none/trace.json", 74);
  expect_doctor_ends_as_run("--capture-cpus", "1023", 64);
  expect_doctor_ends_as_run("--snapshot-on-change", "/none/pictures", 74);
}

TEST(Program, DoctorTellsWhatIsNotPermitted) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  if (limit.rlim_cur > 0) GTEST_SKIP() << "real-time priorities are permitted to everybody";
  Program::Options nobody;
  nobody.user = 65534;
  if (run_lookout({"--version"}, nobody).status != 0) {
    GTEST_SKIP() << "another user cannot run the program from here";
  }
  expect_doctor_ends_as_run("--capture-priority", "50", 77, nobody);
}

TEST(Program, TheViewIsApplied) {
  // Colour bars are no longer themselves when only their first bar is looked at.
  const ProgramResult result = run_lookout(
      {"test://hcolorbars?fps=0&frames=1&size=640x640", "--roi", "0,0,1,0.1", "--format", "json"});
  EXPECT_EQ(classifications(result)[0]["results"][0]["label"], "white") << result.out;
  const ProgramResult turned =
      run_lookout({"test://hlines?fps=0&frames=1", "--rotation", "90", "--format", "json"});
  EXPECT_EQ(classifications(turned)[0]["results"][0]["label"], "vertical lines") << turned.out;
}

}  // namespace
}  // namespace lookout
