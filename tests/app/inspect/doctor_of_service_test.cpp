// What doctor says of a configuration as the service sees it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/model/model_store.h"
#include "pipeline/core/sha256.h"
#include "tests/app/inspect/doctor_testing.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;
using State = Check::State;

class DoctorOfServiceTest : public DoctorTest {};

TEST_F(DoctorOfServiceTest, TheServicesConfigurationIsJudgedAsTheServiceSeesIt) {
  options_.config_file = root_ / "etc/lookout/lookout.toml";
  options_.model.file = "/home/owner/model.pt";
  options_.events.snapshot_on_change = "/var/lib/lookout";
  options_.profile.trace = root_ / "trace.json";
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 66);
  EXPECT_EQ(check(diagnosis, "settings").text,
            options_.config_file + ", of lookout.service (--config '' checks the defaults)");
  EXPECT_EQ(check(diagnosis, "sandbox").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "model").text,
            "model /home/owner/model.pt: the service does not see /home: put it into "
            "/usr/local/share/lookout or /etc/lookout");
  EXPECT_EQ(check(diagnosis, "snapshots").state, State::kOk) << "the service makes it";
  EXPECT_EQ(check(diagnosis, "trace").state, State::kNote);
  EXPECT_THAT(check(diagnosis, "trace").text, HasSubstr("may write to /var/lib/lookout only"));

  options_.config_file = root_ / "etc/lookout/front.toml";
  EXPECT_THAT(check(diagnose(), "settings").text, HasSubstr("of lookout@front.service"));
  EXPECT_EQ(check(diagnose(), "snapshots").state, State::kNote) << "another instance's folder";
}

TEST_F(DoctorOfServiceTest, AModelThatFailedIsNoted) {
  options_.config_file = root_ / "etc/lookout/lookout.toml";
  options_.model.file = root_ / "gate.pt";
  const ModelStore store(options_.model.file);
  const InstalledModel failed{sha256("PK, new"), "new", {"a"}, false, 2};
  const InstalledModel before{sha256("PK, old"), "old", {"a"}, false, 1};
  store.keep(failed.sha256, "PK, new");
  store.keep(before.sha256, "PK, old");
  store.put_in_place({failed, before});
  const auto notes = [this] {
    std::vector<std::string> texts;
    for (const Check& check : diagnose().checks) {
      if (check.name == "model" && check.state == State::kNote) texts.push_back(check.text);
    }
    return texts;
  };
  EXPECT_TRUE(notes().empty());
  put("var/lib/lookout/models.json",
      fmt::format(R"({{"schema":1,"models":{{"{}":{{"sha256":"{}","installed_ms":2,"attempts":2,)"
                  R"("answered":false,"proved":false,"failed":true,"error":""}}}}}})",
                  options_.model.file, failed.sha256));
  ASSERT_EQ(notes().size(), 1U);
  EXPECT_THAT(notes().front(), HasSubstr("is not used: the program ended 2 times with it; old ("));
}

TEST_F(DoctorOfServiceTest, AnyConfigurationIsJudgedAsTheServiceWouldSeeIt) {
  probes_.as_service = true;
  options_.config_file = root_.write("garage.toml", "");
  const std::string home = "/home/pi/garage.token";
  options_.http.token_file = home;
  const Diagnosis hidden = diagnose();
  EXPECT_THAT(check(hidden, "secret").text, HasSubstr("http.token-file " + home));
  EXPECT_EQ(check(hidden, "secret").exit_status, 66);
  EXPECT_THAT(check(hidden, "unit").text, HasSubstr("lookout.service is not installed here"));
  options_.http.token_file = "/run/credentials/lookout.service/token";
  EXPECT_EQ(check(diagnose(), "secret").state, State::kNote);
}

TEST_F(DoctorOfServiceTest, TheUnitHasToAllowWhatSourceAndBrokerNeed) {
  probes_.as_service = true;
  options_.camera.source = "rtsp://192.0.2.7/stream";
  put("usr/lib/systemd/system/lookout.service", "[Service]\nPrivateNetwork=yes\n");
  const Check network = check(diagnose(), "network");
  EXPECT_EQ(network.state, State::kFailure);
  EXPECT_EQ(network.exit_status, 77);
  EXPECT_THAT(network.text, HasSubstr("network-camera.conf"));
  options_.camera.source = "test://red";
  options_.webhook.url = "https://ntfy.sh/topic";
  EXPECT_THAT(check(diagnose(), "network").text, HasSubstr("webhook.conf"));
  options_.webhook.url.clear();
  options_.camera.source = "rtsp://192.0.2.7/stream";
  put("etc/systemd/system/lookout.service.d/camera.conf", "[Service]\nPrivateNetwork=no\n");
  EXPECT_THAT(to_text(diagnose()), Not(HasSubstr("needs a network")));
  options_.camera.source = "csi://0";
  EXPECT_THAT(check(diagnose(), "devices").text, HasSubstr("DeviceAllow=char-dma_heap"));
  put("etc/systemd/system/lookout.service.d/csi.conf", "DeviceAllow=char-dma_heap rw\n");
  EXPECT_THAT(to_text(diagnose()), Not(HasSubstr("DeviceAllow")));
}

TEST_F(DoctorOfServiceTest, DropInsAreNamedAndTheServiceMustBeAbleToReadThem) {
  options_.config_file = root_ / "etc/lookout/lookout.toml";
  const std::string drop_in = root_ / "etc/lookout/conf.d/50.toml";
  const auto of_drop_ins = [this] {
    for (const Check& check : diagnose().checks) {
      if (check.text.find("conf.d") != std::string::npos) return check;
    }
    return Check{};
  };
  put("etc/lookout/conf.d/50.toml", "");
  EXPECT_EQ(of_drop_ins().text, "read after it, the last one wins: " + drop_in);
  std::filesystem::permissions(drop_in, std::filesystem::perms::owner_read);
  EXPECT_EQ(of_drop_ins().state, State::kFailure);
  EXPECT_EQ(of_drop_ins().text,
            "configuration " + drop_in +
                ": the service runs as the user lookout, who may not read it (sudo chmod a+r)");
  EXPECT_EQ(diagnose().exit_status, 77);
}

TEST_F(DoctorOfServiceTest, AnotherConfigurationIsNamedAndJudgedAsTheCallerSeesIt) {
  options_.config_file = root_ / "mine.toml";
  options_.model.file = "/home/owner/model.pt";
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(check(diagnosis, "settings").text, options_.config_file);
}

TEST_F(DoctorOfServiceTest, FilesThatTheServiceCannotReadAreNamedWithTheReason) {
  options_.config_file = root_ / "etc/lookout/lookout.toml";
  const auto error_of = [this](const char* file) {
    options_.model.file = file;
    const Check model = check(diagnose(), "model");
    if (model.state == State::kOk) return std::string();
    return fmt::format("{}: {}", model.exit_status, model.text);
  };
  EXPECT_THAT(error_of("/tmp/model.pt"),
              HasSubstr("66: model /tmp/model.pt: the service does not"));
  EXPECT_THAT(error_of("/root/x"), HasSubstr("the service does not see /root"));
  EXPECT_THAT(error_of("/etc/shadow"), HasSubstr("77: model /etc/shadow: the service runs as"));
  EXPECT_EQ(error_of("/etc/passwd"), "");
  EXPECT_EQ(error_of("/usr/share/no/such"), "") << "that is said when it is opened";
  EXPECT_EQ(error_of("/homes/model.pt"), "");
  base_of_head_ = BaseOfHead{"/root/base.pt", Engine::kTorch};
  EXPECT_THAT(error_of("/etc/passwd"), HasSubstr("66: base /root/base.pt: the service does not"));
}

}  // namespace
}  // namespace lookout
