// A run that people look at over HTTP.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/platform/http/http_client.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"

namespace lookout {
namespace {

TEST(Program, ShowsItsPictureAndItsStateOverHttp) {
  Program program({"test://red", "--set", "http.address=127.0.0.1:0", "--format", "json"});
  const std::uint16_t port = http_port(program);
  HttpAnswer snapshot;
  while (snapshot.status != 200) snapshot = http_get(port, "/snapshot.jpg");
  EXPECT_EQ(snapshot.body.substr(0, 2), "\xff\xd8");
  const HttpAnswer state = http_get(port, "/state");
  EXPECT_EQ(nlohmann::json::parse(state.body)["result"]["results"][0]["label"], "red");
  HttpClient viewer(port);
  EXPECT_EQ(viewer.get("/stream").status, 200);
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
}

TEST(Program, OtherMachinesLookWithATokenOrWhenThatIsAllowed) {
  const TempDir directory;
  const std::string address = "http.address=0.0.0.0:0";
  expect_failure(run_lookout({"test://red", "--set", address}), 78, "http.token-file");
  const std::string short_token = directory.write("short", "123456789012345\n");
  expect_failure(run_lookout({"test://red", "--set", "http.token-file=" + short_token}), 78,
                 "fewer than 16 characters");
  expect_failure(run_lookout({"test://red", "--set", "http.token-file=/no/such/file"}), 66,
                 "/no/such/file");
  const std::string token = directory.write("token", "1234567890123456\n");
  for (const std::string& permission :
       {"http.token-file=" + token, std::string("http.insecure=true")}) {
    const ProgramResult result =
        run_lookout({"test://red", "-t", "1ms", "--set", address, "--set", permission});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find("http: http://0.0.0.0:"), std::string::npos) << result.err;
  }
}

TEST(Program, WarnsOfSecretsThatOthersCanRead) {
  const TempDir directory;
  const std::string file = directory.write("secret", "1234567890123456:2\n");
  chmod(file.c_str(), 0644);
  const std::vector<std::vector<std::string>> uses{
      {"test://red", "--set", "http.address=127.0.0.1:0", "--set", "http.token-file=" + file},
      {"test://red", "--mqtt", "mqtt://me@127.0.0.1:1", "--set", "mqtt.password-file=" + file},
      {"test://red", "--mqtt", "mqtts://127.0.0.1:1", "--set", "mqtt.key=" + file, "--set",
       "mqtt.certificate=" + file},
      {"rtsp://127.0.0.1:1/", "--set", "camera.credentials=" + file}};
  for (std::vector<std::string> arguments : uses) {
    arguments.insert(arguments.end(), {"-t", "1ms"});
    const std::string err = run_lookout(arguments).err;
    EXPECT_NE(err.find(file + " can be read by other users"), std::string::npos) << err;
  }
}

TEST(Program, WithoutAnAddressNothingListens) {
  const ProgramResult result = run_lookout({"test://red", "-t", "1ms"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("http:"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace lookout
