#include "app/install/setup_command.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/install/setup_files.h"
#include "app/install/setup_questions.h"
#include "pipeline/core/error.h"
#include "platform/system/password.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kBroker = "mqtt://house@broker.home:1883";

// A machine with one camera, a broker and a systemd that does what it is told.
class SetupTest : public testing::Test {
 protected:
  SetupTest() {
    fs::create_directories(root_.path() / "etc/lookout/conf.d");
    fs::create_directories(root_.path() / "etc/systemd/system");
    root_.write("etc/lookout/lookout.toml", "[camera]\nsource = \"auto\"\n");
    password_ = root_.write("broker.password", "secret of the broker\n");
    page_password_ = root_.write("page.password", "correct horse\n");
    host_.root = root_.path();
    host_.may_write = true;
    host_.tell = [this](std::string_view text) { told_ += text; };
    host_.ask = [this](const std::string& question) { return answer(question); };
    host_.ask_secret = host_.ask;
    host_.cameras = [this] { return cameras_; };
    host_.take_picture = [this](const std::string& source, bool) {
      pictures_.push_back(source);
      if (!camera_problem_.empty()) throw Error(ErrorKind::kDeviceLost, camera_problem_);
      if (source == "/dev/video9") throw Error(ErrorKind::kNoInput, "/dev/video9 is not there");
      return std::string("640x480");
    };
    host_.remove_pictures = [this] { ++pictures_removed_; };
    host_.judge = [](const std::string&, const std::string& bytes) {
      if (bytes == "damaged") throw Error(ErrorKind::kBadData, "it is damaged");
      return JudgedModel{"garage", {"open", "closed"}, false};
    };
    host_.base = [] { return std::nullopt; };
    host_.check_message = [this](const std::string& /*url*/) {
      if (!messages_problem_.empty()) throw Error(ErrorKind::kUnsupported, messages_problem_);
    };
    host_.try_broker = [this](const MqttOptions& options, const std::string& password) {
      brokers_.push_back(options.url + " " + password);
      if (password == "wrong") throw Error(ErrorKind::kDeviceLost, "the broker refuses: password");
    };
    host_.forget_camera = [this](const RunOptions& options) { forgotten_ = options.camera.name; };
    host_.addresses_of = [](const std::string&) { return std::vector<std::string>{"192.0.2.11"}; };
    host_.name_servers = [] { return std::vector<std::string>{"192.0.2.1"}; };
    host_.own_address = [] { return "192.0.2.20"; };
    host_.host_name = [] { return "Berry"; };
    host_.systemctl = [this](const auto& arguments) { return systemctl(arguments); };
    host_.journal = [this](std::int64_t) { return journal_; };
    host_.pause = [this] { now_ += std::chrono::milliseconds(500); };
    host_.now = [this] { return now_; };
    CameraNode node;
    node.path = "/dev/video0";
    node.links = {"/dev/v4l/by-id/usb-cam"};
    node.kind = NodeKind::kCamera;
    node.info.card = "Desk Cam";
    cameras_.nodes.push_back(node);
  }

  void yes(const std::map<std::string, std::string>& answers = {}) {
    SetupOptions options;
    options.yes = true;
    options.answers = answers;
    told_.clear();
    set_up(options, host_);
  }
  void typed(std::deque<std::string> lines) {
    host_.is_terminal = true;
    lines_ = std::move(lines);
    told_.clear();
    set_up({}, host_);
  }
  void undo() {
    SetupOptions options;
    options.undo = true;
    told_.clear();
    set_up(options, host_);
  }

  std::map<std::string, std::string> all_answers() const {
    return {{"camera", "/dev/video0"},
            {"name", "front"},
            {"broker", "broker.home"},
            {"broker-user", "house"},
            {"broker-password-file", password_},
            {"page", "house"},
            {"page-password-file", page_password_}};
  }

  // All files with their contents and modes.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_.path())) {
      const fs::path path = entry.path();
      const auto mode = static_cast<unsigned int>(entry.status().permissions());
      found[path.lexically_relative(root_.path())] =
          std::to_string(mode) + (entry.is_regular_file() ? read_file(path) : "");
    }
    return found;
  }
  std::string content(const std::string& path) const { return read_file(root_ / path.substr(1)); }
  unsigned int mode(const std::string& path) const {
    return static_cast<unsigned int>(fs::status(root_ / path.substr(1)).permissions());
  }

  const TempDir root_;
  SetupHost host_;
  Cameras cameras_;
  std::string password_;
  std::string page_password_;
  std::string messages_problem_;
  std::string camera_problem_;
  std::string journal_ = "lookout 0.2.0\n1: red 99.9 %\n";
  std::set<std::string> enabled_;
  std::set<std::string> active_;
  std::string refused_;  // a word of a command of systemctl
  std::vector<std::string> commands_;
  std::vector<std::string> pictures_;
  int pictures_removed_ = 0;
  std::vector<std::string> brokers_;
  std::deque<std::string> lines_;
  std::string forgotten_;
  std::string told_;
  std::string state_ = "active";  // of what is started
  Clock::time_point now_{std::chrono::hours(1)};

 private:
  std::string answer(const std::string& question) {
    told_ += question;
    if (lines_.empty()) throw Error(ErrorKind::kUsage, "the answers ended");
    const std::string line = lines_.front();
    lines_.pop_front();
    return line;
  }

  std::string systemctl(const std::vector<std::string>& arguments) {
    const std::string& verb = arguments.front();
    const std::string& unit = arguments.back();
    if (verb == "is-enabled") return enabled_.count(unit) > 0 ? "enabled" : "disabled";
    if (verb == "is-active") return active_.count(unit) > 0 ? state_ : "inactive";
    if (verb == "show") return "0";
    commands_.push_back(verb + " " + unit);
    if (!refused_.empty() && verb == refused_) {
      refused_.clear();
      throw Error(ErrorKind::kPermission, "systemctl " + verb + " is refused");
    }
    if (verb == "enable") enabled_.insert(unit);
    if (verb == "disable") enabled_.erase(unit);
    if (verb == "start") active_.insert(unit);
    if (verb == "stop") active_.clear();
    return "";
  }
};

TEST_F(SetupTest, AnswersBecomeConfigurationSecretsAndDropIns) {
  yes(all_answers());
  const std::string config = content(kSetupConfig);
  EXPECT_THAT(config, HasSubstr("source = \"/dev/video0\"\nname = \"front\"\n"));
  EXPECT_THAT(config, HasSubstr(std::string("[mqtt]\nurl = \"") + kBroker + "\"\n"));
  EXPECT_THAT(config, HasSubstr("[http]\nteach = true\n"));
  EXPECT_THAT(config, HasSubstr("sudo lookout setup --undo"));
  EXPECT_THAT(config, Not(HasSubstr("secret")));
  EXPECT_EQ(content("/etc/lookout/credentials/mqtt"), "secret of the broker\n");
  EXPECT_EQ(mode("/etc/lookout/credentials/mqtt"), 0600U);
  EXPECT_EQ(mode("/etc/lookout/credentials"), 0700U);
  EXPECT_TRUE(
      is_password("correct horse", read_password_hash(root_ / "etc/lookout/lookout.password")));
  const std::string unit = content(kServiceDropIn);
  for (const char* line :
       {"PrivateNetwork=no", "IPAddressAllow=192.0.2.11", "IPAddressAllow=192.0.2.1\n",
        "LoadCredential=setup-mqtt:/etc/lookout/credentials/mqtt",
        "Environment=LOOKOUT_MQTT_PASSWORD_FILE=%d/setup-mqtt"}) {
    EXPECT_THAT(unit, HasSubstr(line));
  }
  EXPECT_THAT(content(kSocketDropIn), HasSubstr("[Socket]\n"));
  EXPECT_THAT(content(kSocketDropIn), HasSubstr("ListenStream=\nListenStream=8090\n"));
  EXPECT_EQ(brokers_, std::vector<std::string>{std::string(kBroker) + " secret of the broker"});
  EXPECT_EQ(enabled_, (std::set<std::string>{"lookout.service", "lookout.socket"}));
  EXPECT_EQ(active_, enabled_);
  EXPECT_THAT(told_, HasSubstr("It sees: red 99.9 %"));
  EXPECT_THAT(told_, HasSubstr("http://192.0.2.20:8090/"));
}

TEST_F(SetupTest, TheProposalsNeedNoNetwork) {
  yes();
  EXPECT_EQ(pictures_, std::vector<std::string>{"/dev/v4l/by-id/usb-cam"});
  EXPECT_THAT(content(kSetupConfig), HasSubstr("name = \"berry\""));
  EXPECT_THAT(content(kSetupConfig), Not(HasSubstr("[http]")));
  EXPECT_EQ(content(kServiceDropIn), "");
  EXPECT_EQ(content(kSocketDropIn), "");
  EXPECT_THAT(told_, HasSubstr("http://127.0.0.1:8090/"));
}

TEST_F(SetupTest, TheSecondRunChangesNothing) {
  yes(all_answers());
  const auto before = files();
  commands_.clear();
  yes(all_answers());
  EXPECT_THAT(told_, HasSubstr("Nothing was changed"));
  yes();
  EXPECT_THAT(told_, HasSubstr("Nothing was changed"));
  EXPECT_EQ(files(), before);
  EXPECT_THAT(commands_, IsEmpty());
  EXPECT_EQ(pictures_.size(), 1U) << "the service has the camera";
}

TEST_F(SetupTest, AnotherAnswerLeavesTheOthers) {
  yes(all_answers());
  yes({{"broker", "none"}});
  EXPECT_THAT(content(kSetupConfig), HasSubstr("name = \"front\""));
  EXPECT_THAT(content(kSetupConfig), HasSubstr("[mqtt]\nurl = \"\""));
  EXPECT_FALSE(fs::exists(root_ / "etc/lookout/credentials"));
  EXPECT_FALSE(fs::exists(root_ / "etc/systemd/system/lookout.service.d"));
  EXPECT_THAT(told_, HasSubstr(std::string("removed ") + kServiceDropIn));
}

TEST_F(SetupTest, UndoLeavesNothing) {
  const auto before = files();
  yes(all_answers());
  undo();
  EXPECT_EQ(files(), before);
  EXPECT_THAT(enabled_, IsEmpty());
  EXPECT_THAT(active_, IsEmpty());
  EXPECT_EQ(forgotten_, "front");
  undo();
  EXPECT_THAT(told_, HasSubstr("nothing to undo"));
}

TEST_F(SetupTest, TheBrokerForgetsTheFormerName) {
  yes(all_answers());
  EXPECT_EQ(forgotten_, "");
  auto answers = all_answers();
  answers["name"] = "gate";
  yes(answers);
  EXPECT_EQ(forgotten_, "front");
}

TEST_F(SetupTest, WhatALostRecordHadMadeGoes) {
  yes({{"page", "house"}, {"page-password-file", page_password_}, {"broker", "broker.home"}});
  fs::remove(root_ / "etc/lookout/setup.json");
  yes({{"page", "board"}, {"broker", "none"}});
  EXPECT_FALSE(fs::exists(root_.path() / (kSocketDropIn + 1)));
  EXPECT_FALSE(fs::exists(root_.path() / (kServiceDropIn + 1)));
}

TEST_F(SetupTest, UndoLeavesWhatWasThereBefore) {
  enabled_ = active_ = {"lookout.service"};
  root_.write("etc/lookout/lookout.password", hash_password("correct horse") + "\n");
  root_.write("etc/lookout/conf.d/60-own.toml", "");
  const auto before = files();
  yes({{"page", "board"}});
  undo();
  EXPECT_EQ(files(), before);
  EXPECT_EQ(enabled_, std::set<std::string>{"lookout.service"});
  EXPECT_EQ(active_, enabled_);
}

TEST_F(SetupTest, WhatDoesNotWorkChangesNothing) {
  const auto before = files();
  const std::string wrong = password_ + ".wrong";
  root_.write("broker.password.wrong", "wrong\n");
  auto answers = all_answers();
  answers["broker-password-file"] = wrong;
  expect_error(ErrorKind::kDeviceLost, "the broker refuses: password", [&] { yes(answers); });
  fs::remove(wrong);
  expect_error(ErrorKind::kNoInput, "/dev/video9 is not there", [&] {
    yes({{"camera", "/dev/video9"}});
  });
  expect_error(ErrorKind::kUsage, HasSubstr("--page-password-file FILE"), [&] {
    yes({{"page", "house"}});
  });
  expect_error(ErrorKind::kUsage, HasSubstr("house or the board"), [&] { yes({{"page", "all"}}); });
  cameras_ = {};
  expect_error(ErrorKind::kNoInput, HasSubstr("no camera was found"), [&] { yes(); });
  EXPECT_EQ(files(), before);
  EXPECT_THAT(commands_, IsEmpty());
}

TEST_F(SetupTest, WhatSystemdRefusesIsTakenBack) {
  const auto before = files();
  for (const char* verb : {"daemon-reload", "enable", "start"}) {
    refused_ = verb;
    expect_error(ErrorKind::kPermission, HasSubstr("everything is as it was before"),
                 [&] { yes(all_answers()); });
    EXPECT_EQ(files(), before) << verb;
    EXPECT_THAT(enabled_, IsEmpty()) << verb;
    EXPECT_THAT(active_, IsEmpty()) << verb;
  }
}

TEST_F(SetupTest, AFileThatCannotBeWrittenTakesTheOthersBack) {
  root_.write("etc/systemd/system/lookout.service.d", "no folder");
  const auto before = files();
  EXPECT_THROW(yes(all_answers()), Error);
  EXPECT_EQ(files(), before);
  EXPECT_THAT(commands_, IsEmpty());
}

TEST_F(SetupTest, AModelIsTriedCopiedAndNamedByItsHash) {
  fs::create_directories(root_.path() / "home");
  const std::string model = root_.write("home/garage.pt", "a model");
  yes({{"model", model}});
  EXPECT_EQ(content("/usr/local/share/lookout/garage.pt"), "a model");
  EXPECT_EQ(mode("/usr/local/share/lookout/garage.pt"), 0644U);
  EXPECT_THAT(content(kSetupConfig),
              HasSubstr("file = \"/usr/local/share/lookout/garage.pt\"\nsha256 = [\""));
  EXPECT_THAT(told_, HasSubstr("it knows open, closed"));
  yes();
  EXPECT_THAT(told_, HasSubstr("Nothing was changed"));
  root_.write("home/garage.pt", "damaged");
  expect_error(ErrorKind::kBadData, "it is damaged", [&] { yes({{"model", model}}); });
  yes({{"model", "none"}});
  EXPECT_FALSE(fs::exists(root_ / "usr/local/share/lookout"));
}

TEST_F(SetupTest, AnotherModelOfThatNameIsNotReplaced) {
  fs::create_directories(root_.path() / "usr/local/share/lookout");
  root_.write("usr/local/share/lookout/garage.pt", "the owner's");
  const std::string model = root_.write("garage.pt", "a model");
  expect_error(ErrorKind::kOutput, HasSubstr("rename yours"), [&] { yes({{"model", model}}); });
}

TEST_F(SetupTest, OnATerminalEnterTakesTheProposals) {
  typed({"", "", "", "", "board", "", "", ""});
  EXPECT_THAT(told_, HasSubstr("1  /dev/v4l/by-id/usb-cam  Desk Cam"));
  EXPECT_THAT(told_, HasSubstr("Name [berry]: "));
  EXPECT_THAT(content(kSetupConfig), HasSubstr("source = \"/dev/v4l/by-id/usb-cam\""));
}

TEST_F(SetupTest, OnATerminalAWrongAnswerIsAskedForAgain) {
  typed({"7",
         "/dev/video9",
         "1",
         "front",
         "none",
         "broker.home",
         "house",
         "wrong",
         "broker.home",
         "house",
         "right",
         "house",
         "short",
         "house",
         "correct horse",
         "correct house",
         "house",
         "correct horse",
         "correct horse",
         "none",
         "maybe",
         "yes"});
  for (const char* line : {"there is no camera with this number", "/dev/video9 is not there",
                           "the broker refuses: password", "fewer than 10 characters",
                           "the two passwords differ", "yes or no"}) {
    EXPECT_THAT(told_, HasSubstr(line));
  }
  EXPECT_EQ(content("/etc/lookout/credentials/mqtt"), "right\n");
}

TEST_F(SetupTest, OnATerminalEnterKeepsSecrets) {
  yes(all_answers());
  const auto before = files();
  typed({"", "", "", "", "", "", "", "", "", ""});
  EXPECT_THAT(told_, HasSubstr("Nothing was changed"));
  EXPECT_EQ(files(), before);
}

TEST_F(SetupTest, WhoDoesNotAnswerChangesNothing) {
  const auto before = files();
  expect_error(ErrorKind::kUsage, "the answers ended", [&] { typed({"", "front"}); });
  EXPECT_EQ(files(), before);
}

TEST_F(SetupTest, CredentialsOfACameraAreASecret) {
  yes({{"camera", "rtsp://me:p%40ss@camera.home/live"}});
  EXPECT_THAT(content(kSetupConfig), HasSubstr("source = \"rtsp://camera.home/live\""));
  EXPECT_EQ(content("/etc/lookout/credentials/camera"), "me:p@ss\n");
  EXPECT_THAT(content(kServiceDropIn),
              HasSubstr("Environment=LOOKOUT_CAMERA_CREDENTIALS=%d/setup-camera"));
  EXPECT_THAT(told_, Not(HasSubstr("p%40ss")));
  yes();
  EXPECT_THAT(told_, HasSubstr("Nothing was changed"));
}

TEST_F(SetupTest, ThePasswordOfACameraMayComeFromAFile) {
  const std::string file = root_.write("camera.password", "p@ss/word\n");
  yes({{"camera", "rtsp://me@camera.home/live"}, {"camera-password-file", file}});
  EXPECT_THAT(content(kSetupConfig), HasSubstr("source = \"rtsp://camera.home/live\""));
  EXPECT_EQ(content("/etc/lookout/credentials/camera"), "me:p@ss/word\n");
  ASSERT_FALSE(pictures_.empty());
  EXPECT_EQ(pictures_.back(), "rtsp://me:p%40ss%2Fword@camera.home/live");
  EXPECT_THAT(told_, Not(HasSubstr("word")));
  root_.write("camera.password", "another\n");
  yes({{"camera-password-file", file}});
  EXPECT_EQ(content("/etc/lookout/credentials/camera"), "me:another\n");
  EXPECT_EQ(pictures_.back(), "rtsp://me:another@camera.home/live");
  expect_error(ErrorKind::kUsage, HasSubstr("--camera-password-file needs the user"), [&] {
    yes({{"camera", "rtsp://other.home/live"}, {"camera-password-file", file}});
  });
}

TEST_F(SetupTest, OnATerminalThePasswordOfACameraIsAskedForAndNotShown) {
  typed({"rtsp://me@camera.home/live", "typed", "", "", "none", "board", "", "none", ""});
  EXPECT_EQ(content("/etc/lookout/credentials/camera"), "me:typed\n");
  EXPECT_EQ(pictures_.back(), "rtsp://me:typed@camera.home/live");
}

TEST_F(SetupTest, PicturesOfATryAreRemovedAtTheEnd) {
  yes();
  EXPECT_EQ(pictures_removed_, 1);
  expect_error(ErrorKind::kNoInput, HasSubstr("not there"), [&] {
    yes({{"camera", "/dev/video9"}});
  });
  EXPECT_EQ(pictures_removed_, 2);
}

TEST_F(SetupTest, TheMessageToThePhoneIsASecretFile) {
  const std::string file = root_.write("url", "https://ntfy.sh/topic\n");
  yes({{"webhook-file", file}});
  EXPECT_EQ(content("/etc/lookout/credentials/webhook"), "https://ntfy.sh/topic\n");
  EXPECT_THAT(content(kServiceDropIn),
              HasSubstr("Environment=LOOKOUT_WEBHOOK_URL_FILE=%d/setup-webhook"));
  EXPECT_THAT(content(kServiceDropIn), HasSubstr("IPAddressAllow=192.0.2.11"));
  EXPECT_THAT(content(kSetupConfig), HasSubstr("[webhook]\nurl = \"\""))
      << "one elsewhere is not used";
  EXPECT_THAT(content(kSetupConfig), HasSubstr("min-duration = \"10s\""));
  EXPECT_THAT(told_, HasSubstr("A message is sent when a state has lasted for 10 s."));
  yes();
  EXPECT_THAT(told_, HasSubstr("Nothing was changed"));
}

TEST_F(SetupTest, AServerOnTheInternetMayHaveOtherAddressesTomorrow) {
  const std::string file = root_.write("url", "https://ntfy.sh/topic\n");
  host_.addresses_of = [](const std::string&) {
    return std::vector<std::string>{"159.203.148.75", "2604:a880:400:d1::1"};
  };
  yes({{"webhook-file", file}});
  EXPECT_THAT(content(kServiceDropIn), HasSubstr("since those of ntfy.sh change.\n"
                                                 "IPAddressAllow=any\n"));
  for (const auto& [address, allowed] : {std::pair("192.168.178.5", "192.168.178.5"),
                                         {"172.31.0.1", "172.31.0.1"},
                                         {"fd00::5", "fd00::5"},
                                         {"2a01:4f8::1", "any"},
                                         {"172.32.0.1", "any"}}) {
    host_.addresses_of = [one = std::string(address)](const std::string&) {
      return std::vector{one};
    };
    yes({{"webhook-file", file}});
    EXPECT_THAT(content(kServiceDropIn),
                HasSubstr(std::string("IPAddressAllow=") + allowed + "\n"));
  }
}

TEST_F(SetupTest, AResultOfAWatchIsAResult) {
  journal_ = "lookout 0.2.0\n12 the-gate: open 97.0 %\n";
  yes();
  EXPECT_THAT(told_, HasSubstr("It sees: open 97.0 %"));
}

TEST_F(SetupTest, TheStateIsToldAndNotTheBestClassOfAFrame) {
  const std::map<std::string, std::string> seen{
      {"1: red 31.0 % (5.1 ms), now unknown", "unknown so far"},
      {"1: nothing above the threshold (5.1 ms), now unknown", "unknown so far"},
      {"1: nothing above the threshold (5.1 ms)", "unknown so far"},
      {"7 gate: red 31.0 %, blue 20.0 % (5.1 ms), state none yet", "unknown so far"},
      {"7: red 99.0 % (5.1 ms), now red 97.5 %, was unknown", "red 97.5 %"},
      {"1: red 31.0 % (5.1 ms), now unknown\n9: red 99.0 % (5.1 ms), now red 97.5 %",
       "red 97.5 %"}};
  for (const auto& [line, told] : seen) {
    journal_ = "lookout 0.2.0\n" + line + "\n";
    yes();
    EXPECT_THAT(told_, HasSubstr("It sees: " + told + "\n")) << line;
    undo();
  }
}

TEST_F(SetupTest, ACameraThatTheServiceHasIsTaken) {
  camera_problem_ = "in use by another program";
  expect_error(ErrorKind::kDeviceLost, HasSubstr("in use"), [&] {
    yes({{"camera", "/dev/video0"}});
  });
  active_ = {"lookout.service"};
  yes({{"camera", "/dev/video0"}});
  EXPECT_THAT(told_, HasSubstr("not tried, since the service that runs may have it"));
}

TEST_F(SetupTest, ASecretThatIsGoneIsAskedForAgain) {
  const std::string file = root_.write("url", "https://ntfy.sh/topic\n");
  yes({{"webhook-file", file}});
  fs::remove(root_ / "etc/lookout/credentials/webhook");
  yes({{"webhook-file", file}});
  EXPECT_EQ(content("/etc/lookout/credentials/webhook"), "https://ntfy.sh/topic\n");
}

TEST_F(SetupTest, AMessageThatCannotBeSentIsToldBeforeAnythingIsWritten) {
  messages_problem_ = "webhook: libcurl is missing";
  const std::string file = root_.write("url", "https://ntfy.sh/topic\n");
  expect_error(ErrorKind::kUnsupported, HasSubstr("libcurl"), [&] {
    yes({{"webhook-file", file}});
  });
  EXPECT_EQ(content(kSetupConfig), "");
}

TEST_F(SetupTest, WithoutBootOnlyThisTimeItIsStarted) {
  yes({{"boot", "no"}});
  EXPECT_THAT(enabled_, IsEmpty());
  EXPECT_THAT(active_, Contains("lookout.service"));
  EXPECT_THAT(told_, Not(HasSubstr("starts with the machine")));
}

TEST_F(SetupTest, AServiceMayWriteJson) {
  journal_ = R"({"schema":1,"type":"state","state":"red"}
{"schema":1,"type":"classification","results":[{"index":5,"label":"red","score":0.9991}]}
)";
  yes();
  EXPECT_THAT(told_, HasSubstr("It sees: red 99.9 %"));
  journal_ = R"({"results":[{"label":7}]} {"results":7})";
  undo();
  expect_error(ErrorKind::kDeviceLost, HasSubstr("there is no result yet"), [&] { yes(); });
}

TEST_F(SetupTest, AServiceWithoutAResultIsTold) {
  journal_ = "model x.pt is damaged\n";
  expect_error(ErrorKind::kDeviceLost, HasSubstr("there is no result yet"), [&] { yes(); });
  EXPECT_THAT(told_, HasSubstr("model x.pt is damaged"));
  EXPECT_NE(content(kSetupConfig), "");
  undo();
  state_ = "failed";
  expect_error(ErrorKind::kDeviceLost, HasSubstr("the service does not run"), [&] { yes(); });
}

TEST_F(SetupTest, WithoutRootTheLineWithSudoIsTold) {
  host_.may_write = false;
  expect_error(ErrorKind::kPermission,
               HasSubstr("sudo lookout setup --camera csi://0 --name 'the door' --yes"), [&] {
                 yes({{"camera", "csi://0"}, {"name", "the door"}});
               });
}

TEST_F(SetupTest, WithoutATerminalSomebodyHasToSayYes) {
  expect_error(ErrorKind::kUsage, HasSubstr("--yes"), [this] { set_up({}, host_); });
}

TEST_F(SetupTest, ItShowsWhatIsSetUpWithoutSecrets) {
  SetupOptions options;
  options.show = true;
  set_up(options, host_);
  EXPECT_THAT(told_, HasSubstr("Nothing is set up yet: sudo lookout setup"));
  yes(all_answers());
  told_.clear();
  host_.may_write = false;
  set_up(options, host_);
  EXPECT_THAT(told_, HasSubstr("broker   mqtt://house@broker.home:1883"));
  EXPECT_THAT(told_, HasSubstr(kSocketDropIn));
  EXPECT_THAT(told_, Not(HasSubstr("secret of")));
}

TEST_F(SetupTest, TheRecordOfAVersionThatAskedLessIsShownAndUndone) {
  SetupRecord older;
  older.answers = {{"camera", "/dev/video0"}};
  older.files = {"/etc/lookout/conf.d/50-setup.toml"};
  const std::string config = root_.write("etc/lookout/conf.d/50-setup.toml", "");
  root_.write("etc/lookout/setup.json", to_text(older));
  SetupOptions options;
  options.show = true;
  set_up(options, host_);
  EXPECT_THAT(told_, HasSubstr("camera   /dev/video0"));
  undo();
  EXPECT_FALSE(fs::exists(config));
  EXPECT_EQ(forgotten_, "");
}

}  // namespace
}  // namespace lookout
