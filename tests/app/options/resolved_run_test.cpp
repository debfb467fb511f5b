#include "app/options/resolved_run.h"

#include "pipeline/core/error.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::Contains;
using testing::HasSubstr;

class ResolvedRunTest : public testing::Test {
 protected:
  ResolvedRunTest() { options_.camera.source = "test://red"; }

  TempDir directory_;
  RunOptions options_;
};

TEST_F(ResolvedRunTest, HasWhatFilesAndAddressesSay) {
  options_.http.address = "0.0.0.0:8090";
  options_.http.token_file = directory_.write("token", "1234567890123456\nmore\n");
  options_.http.hosts = {"camera.example"};
  options_.profile.trace = directory_ / "trace.json";
  options_.log.stats_interval = std::chrono::seconds(5);
  const ResolvedRun run = resolve(options_);
  EXPECT_TRUE(run.trace);
  EXPECT_EQ(run.http_address.value().host, "0.0.0.0");
  EXPECT_EQ(run.http_access.token, "1234567890123456");
  EXPECT_THAT(run.http_access.hosts, Contains("camera.example"));
  EXPECT_FALSE(run.mqtt);
  EXPECT_EQ(run.stats_interval, std::chrono::seconds(5));
  EXPECT_FALSE(run.one_picture);
}

TEST_F(ResolvedRunTest, ABrokerIsDescribedWithItsPassword) {
  options_.mqtt.url = "mqtt://me@broker";
  options_.mqtt.password_file = directory_.write("password", "secret\n");
  const MqttLinkOptions link = resolve_mqtt(options_.mqtt).value();
  EXPECT_EQ(link.settings.host, "broker");
  EXPECT_EQ(link.settings.port, 1883);
  EXPECT_EQ(link.settings.user, "me");
  EXPECT_EQ(link.settings.password, "secret");
  EXPECT_EQ(link.party.broker, "mqtt://broker:1883");
}

TEST_F(ResolvedRunTest, MessagesHaveTheirSecretsOfFiles) {
  EXPECT_FALSE(resolve_start(options_).webhook);
  options_.webhook.url_file = directory_.write("url", "https://host/secret\nmore\n");
  options_.webhook.headers_file = directory_.write("headers", "A: 1\r\n\nB: 2\n");
  options_.webhook.timeout = std::chrono::seconds(5);
  const WebhookSettings settings = resolve_start(options_).webhook.value();
  EXPECT_EQ(settings.host, "host");
  EXPECT_EQ(settings.url.fill({}), "https://host/secret");
  EXPECT_EQ(settings.secret_headers, std::vector<std::string>({"A: 1", "B: 2"}));
  EXPECT_EQ(settings.connection.timeout, std::chrono::seconds(5));
  options_.webhook.url = "https://host";
  expect_error(ErrorKind::kConfig, HasSubstr("exclude each other"),
               [this] { resolve_start(options_); });
}

TEST_F(ResolvedRunTest, ALineNeedsStatesAndOneWatch) {
  EXPECT_FALSE(resolve_start(options_).gpio);
  options_.gpio.line = 17;
  const auto resolve_it = [this] { resolve_start(options_); };
  expect_error(ErrorKind::kConfig, HasSubstr("gpio.line needs gpio.states"), resolve_it);
  options_.gpio.states = {"unknown"};
  expect_error(ErrorKind::kConfig, HasSubstr("never active"), resolve_it);
  options_.gpio.states = {"open"};
  options_.gpio.active_low = true;
  const GpioReporterOptions gpio = resolve_start(options_).gpio.value();
  EXPECT_EQ(gpio.line.line, 17U);
  EXPECT_EQ(gpio.line.chip, "/dev/gpiochip0");
  EXPECT_TRUE(gpio.line.active_low);
  options_.watches.emplace_back().name = "gate";
  expect_error(ErrorKind::kConfig, HasSubstr("name the watch"), resolve_it);
  options_.gpio.watch = "door";
  expect_error(ErrorKind::kConfig, HasSubstr("there is no [watch.door]"), resolve_it);
  options_.gpio.watch = "gate";
  EXPECT_EQ(resolve_start(options_).gpio.value().watch, "gate");
  options_.gpio.watch.clear();
  options_.watches.front().taught = true;
  EXPECT_NO_THROW(resolve_start(options_)) << "what is taught ends no service";
}

TEST_F(ResolvedRunTest, ALoginNeedsAPlaceForThePassword) {
  EXPECT_FALSE(resolve_start(options_).http_password);
  options_.http.guests = false;
  expect_error(ErrorKind::kConfig, HasSubstr("needs http.teach = true"),
               [this] { resolve_start(options_); });
  options_.http.guests = true;
  options_.http.teach = true;
  expect_error(ErrorKind::kConfig, HasSubstr("http.teach needs a password"),
               [this] { resolve_start(options_); });
  options_.config_file = "/etc/lookout/front.toml";
  EXPECT_EQ(resolve_start(options_).http_password, "/etc/lookout/front.password");
  options_.http.password_file = "/etc/other";
  EXPECT_EQ(resolve_start(options_).http_password, "/etc/other");
}

TEST_F(ResolvedRunTest, TheAddressForBrowsersIsANameOfTheServer) {
  options_.http.public_url = "https://Camera.Example:8443/front/";
  const ResolvedRun run = resolve_start(options_);
  EXPECT_EQ(run.http_access.origin, "https://camera.example:8443");
  EXPECT_THAT(run.http_access.hosts, Contains("camera.example"));
}

TEST_F(ResolvedRunTest, OtherMachinesMayLookWithAPasswordInPlaceOfAToken) {
  options_.camera.source = "test://red";
  options_.http.address = "0.0.0.0:8090";
  options_.http.teach = true;
  options_.http.password_file = directory_ / "password";
  EXPECT_NO_THROW(resolve_start(options_));
}

// Pictures of clients are classified as they do.
TEST_F(ResolvedRunTest, WatchesNeedNoCamera) {
  options_.camera.source = "none";
  options_.watches.emplace_back().name = "gate";
  EXPECT_NO_THROW(resolve_start(options_));
}

TEST_F(ResolvedRunTest, TheFirstProblemOfARunIsTold) {
  options_.events.snapshot_on_change = directory_ / "no/pictures";
  options_.camera.source = directory_ / "none";
  options_.http.address = "0.0.0.0:8090";
  const auto resolve_run = [this] { resolve(options_); };
  expect_error(ErrorKind::kConfig, HasSubstr("without a token"), resolve_run);
  options_.http.insecure = true;
  expect_error(ErrorKind::kNoInput, HasSubstr("no such device, file or folder"), resolve_run);
  options_.camera.source = "test://red";
  expect_error(ErrorKind::kOutput, HasSubstr("snapshots cannot be written"), resolve_run);
  EXPECT_NO_THROW(resolve_start(options_)) << "which looks at no folder";
}

}  // namespace
}  // namespace lookout
