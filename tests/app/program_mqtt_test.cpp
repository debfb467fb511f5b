// A run with MQTT: what needs no broker, and a little with mosquitto where it is installed;
// tests/mqtt has the rest.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "platform/system/child_process.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

std::string maps_of(const Program& program) {
  std::ifstream maps("/proc/" + std::to_string(program.pid()) + "/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

bool has_thread(const Program& program, const std::string& name) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "comm");
    std::string comm;
    if (std::getline(file, comm) && comm == name) return true;
  }
  return false;
}

constexpr const char* kMosquitto = "/usr/sbin/mosquitto";

// A broker on a Unix socket in `directory`.
std::unique_ptr<ChildProcess> start_mosquitto(const TempDir& directory, const std::string& socket) {
  ProcessOptions options;
  options.arguments = {
      kMosquitto, "-c",
      directory.write("mosquitto.conf",
                      "listener 0 " + socket + "\nallow_anonymous true\nuser root\n")};
  return std::make_unique<ChildProcess>(options);
}

TEST(Program, PublishesOnARealBrokerUntilItIsForgotten) {
  if (!std::filesystem::exists(kMosquitto)) GTEST_SKIP() << "there is no " << kMosquitto;
  const TempDir directory;
  const std::string socket = directory.path() / "socket";
  const std::string url = "mqtt+unix:" + socket;
  Program program({"test://red", "--mqtt", url, "--set", "camera.name=front", "--log-level=debug"});
  ASSERT_TRUE(program.wait_for("cannot be reached")) << program.err();
  const auto broker = start_mosquitto(directory, socket);
  ASSERT_TRUE(program.wait_for("mqtt: connected to " + url)) << program.err();
  ASSERT_TRUE(program.wait_for("mqtt: lookout/front is this machine's")) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
  // What it published about itself is found, once.
  const std::vector<std::string> forget{"mqtt", "forget", "--mqtt", url, "--config", ""};
  EXPECT_EQ(run_lookout(forget).out, "removed from the broker: front\n");
  expect_failure(run_lookout(forget), 66, "no camera of this machine");
}

TEST(Program, WithoutMqttNothingOfItIsLoaded) {
  Program program({"test://red"});
  ASSERT_TRUE(program.wait_for("test://red")) << program.err();
  EXPECT_EQ(maps_of(program).find("mosquitto"), std::string::npos);
  EXPECT_EQ(maps_of(program).find("lookout-mqtt"), std::string::npos);
  EXPECT_FALSE(has_thread(program, "mqtt"));
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

TEST(Program, ABrokerThatIsAwayIsNamedOnceAndHoldsUpNothing) {
  Program program({"test://red", "--mqtt", "mqtt://127.0.0.1:1", "-t", "1500ms"});
  ASSERT_TRUE(program.wait_for("test://red"));
  EXPECT_NE(maps_of(program).find("liblookout-mqtt"), std::string::npos);
  EXPECT_TRUE(has_thread(program, "mqtt"));
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string sentence = "mqtt: mqtt://127.0.0.1:1 cannot be reached";
  const auto first = result.err.find(sentence);
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(sentence, first + 1), std::string::npos) << result.err;
}

TEST(Program, MqttSettingsThatDoNotGoTogetherAreRefused) {
  const TempDir directory;
  const std::string password = directory.write("password", "secret\n");
  const std::string empty = directory.write("empty", "\n");
  const auto refuse = [](const std::string& url, const std::string& setting, int status,
                         const std::string& part) {
    expect_failure(run_lookout({"test://red", "-t", "1ms", "--mqtt", url, "--set", setting}),
                   status, part);
  };
  refuse("mqtt://broker", "mqtt.password-file=" + password, 78, "needs a user in mqtt.url");
  refuse("mqtt://me@broker", "mqtt.password-file=" + empty, 78, "its first line is empty");
  refuse("mqtt://me@broker", "mqtt.password-file=/no/such/file", 66, "/no/such/file");
  refuse("mqtt://broker", "mqtt.ca=" + password, 78, "mqtts://");
  refuse("mqtts://broker", "mqtt.key=" + password, 78, "belong together");
  refuse("mqtts://broker", "mqtt.ca=/no/such/file", 66, "/no/such/file");
  refuse("mqtt://broker", "mqtt.prefix=a/+", 64, "mqtt.prefix");
  refuse("mqtt://me:secret@broker", "mqtt.commands=true", 64, "mqtt.password-file");
}

TEST(Program, MqttForgetNeedsABroker) {
  expect_failure(run_lookout({"mqtt", "forget", "--all-machines", "--config", ""}), 64,
                 "--mqtt URL");
  expect_failure(run_lookout({"run", "test://red", "--all-machines"}), 64, "--all-machines");
  expect_failure(run_lookout({"mqtt", "forget", "--config", ""}), 64, "--mqtt URL");
  expect_failure(run_lookout({"mqtt", "forget", "--mqtt", "mqtt://127.0.0.1:1", "--config", ""}),
                 69, "cannot be reached");
  expect_failure(run_lookout({"mqtt", "forget", "front"}), 64, "camera.name");
  expect_failure(run_lookout({"mqtt"}), 64, "");
}

TEST(Program, DoctorTriesTheBrokerAndShowsNoSecret) {
  const TempDir directory;
  const std::string password = directory.write("password", "topsecret\n");
  const ProgramResult result =
      run_lookout({"doctor", "test://red", "--config", "", "--mqtt", "mqtt://me@127.0.0.1:1",
                   "--set", "mqtt.password-file=" + password});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("note     mqtt         mqtt: mqtt://127.0.0.1:1 cannot be reached"),
            std::string::npos)
      << result.out;
  EXPECT_EQ((result.out + result.err).find("topsecret"), std::string::npos);
}

}  // namespace
}  // namespace lookout
