#include "app/install/setup_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

TEST(SetupFiles, ThePasswordOfTheBrokerIsForThisBrokerAlone) {
  const TempDir root;
  MqttOptions mqtt;
  mqtt.url = "mqtt://house@broker.home:1883";
  EXPECT_EQ(with_setup_password(mqtt, root.path()).password_file, "") << "nothing is set up";
  SetupRecord record;
  record.answers = {{"broker", mqtt.url}};
  std::filesystem::create_directories(root / "etc/lookout/credentials");
  root.write("etc/lookout/setup.json", to_text(record));
  EXPECT_EQ(with_setup_password(mqtt, root.path()).password_file, "") << "there is none";
  const std::string password = root.write("etc/lookout/credentials/mqtt", "secret");
  EXPECT_EQ(with_setup_password(mqtt, root.path()).password_file, password);
  mqtt.password_file = "mine";
  EXPECT_EQ(with_setup_password(mqtt, root.path()).password_file, "mine");
  mqtt.password_file.clear();
  mqtt.url = "mqtt://house@other.home:1883";
  EXPECT_EQ(with_setup_password(mqtt, root.path()).password_file, "");
}

}  // namespace
}  // namespace lookout
