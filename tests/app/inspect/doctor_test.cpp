#include "app/inspect/doctor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <optional>

#include "pipeline/core/error.h"
#include "tests/app/inspect/doctor_testing.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;
using State = Check::State;

TEST_F(DoctorTest, AHealthyRaspberryPi4) {
  put("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.5");
  put("proc/meminfo", "CmaTotal: 524288 kB\nCmaFree: 507904 kB\n");
  put("sys/class/thermal/thermal_zone0/temp", "48686\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "600000\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1500000\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
  put("sys/devices/platform/soc/soc:firmware/get_throttled", "0\n");
  put("run/systemd/system/x", "");
  put("usr/lib/aarch64-linux-gnu/libcamera/ipa/ipa_rpi_vc4.so",
      "\x7f"
      "ELF libcamera.so.0.7" +
          std::string(1, '\0'));
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(to_text(diagnosis),
            "ok       userland     64 bits\n"
            "ok       cpu          Cortex-A72 on Raspberry Pi 4 Model B Rev 1.5, ARMv8.0: no "
            "atomics, no dot product; not every release of an engine's library runs on it\n"
            "ok       libtorch     2.9.1, engines QNNPACK, ONEDNN; QNNPACK is used\n"
            "ok       onnxruntime  1.27.0, engines CPU; CPU is used\n"
            "ok       model        a model\n"
            "ok       source       auto, 640x480\n"
            "ok       base         /usr/share/lookout/base.pt, to teach classes from\n"
            "ok       camera       " +
                (root_ / "dev/video0") +
                ": A Camera\n"
                "ok       libcamera    v0.7.1, by the module 0.7.so\n"
                "ok       dma-heap     this kernel has none\n"
                "ok       cma          512 MB, 496 MB free\n"
                "ok       temperature  48.7 °C\n"
                "ok       clock        600 MHz of 1500, governor schedutil\n"
                "ok       throttling   none since the start (get_throttled)\n"
                "ok       service      lookout.service is active\n"
                "lookout run would start.\n");
}

TEST_F(DoctorTest, WithoutABaseItTellsHowToGetOne) {
  base_.reset();
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(check(diagnosis, "base").state, State::kNote);
  EXPECT_THAT(check(diagnosis, "base").text, HasSubstr("install the package lookout-base"));
}

TEST_F(DoctorTest, WhatWouldEndARunIsTheExitStatus) {
  for (const ErrorKind kind : {ErrorKind::kNoInput, ErrorKind::kPermission}) {
    probes_.try_source = failing_source(kind);
    const Diagnosis diagnosis = diagnose();
    EXPECT_EQ(diagnosis.exit_status, static_cast<int>(kind));
    EXPECT_EQ(check(diagnosis, "source").state, State::kFailure);
    EXPECT_EQ(check(diagnosis, "source").text, "this is why");
  }
  probes_.load_model = [](const ModelOptions&) -> DescribedModel {
    throw Error(ErrorKind::kBadData, "this is why");
  };
  const Diagnosis both = diagnose();
  EXPECT_EQ(both.exit_status, 65) << "a run loads the model first";
  EXPECT_THAT(to_text(both), HasSubstr("lookout run would end with exit status 65.\n"));
}

TEST_F(DoctorTest, ACameraIsOpenedAsForTheModelAndTheView) {
  probes_.load_model = [](const ModelOptions&) {
    DescribedModel model{"a model", {}};
    model.input.width = 300;
    model.input.height = 200;
    return model;
  };
  options_.camera.view.rotation = 90;
  options_.camera.view.roi = {0, 0, 0.5, 1};
  options_.camera.source_options.framerate = 15;
  SourceOptions seen;
  probes_.try_source = [&seen](const std::string& source, const SourceOptions& options) {
    seen = options;
    return source;
  };
  diagnose();
  EXPECT_EQ(seen.needed_width, 200);
  EXPECT_EQ(seen.needed_height, 600);
  EXPECT_EQ(seen.framerate, 15);
}

TEST_F(DoctorTest, ModelsOfTwoEnginesDoNotRunInOneProcess) {
  for (const char* name : {"gate", "lamp"}) {
    WatchOptions& watch = options_.watches.emplace_back();
    watch.name = name;
    watch.model = std::string(name) == "gate" ? "gate.pt" : "lamp.onnx";
  }
  probes_.load_model = [](const ModelOptions& options) {
    DescribedModel model{"a model", {}};
    if (options.file == "lamp.onnx") model.engine = Engine::kOnnxRuntime;
    return model;
  };
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 72);
  EXPECT_THAT(to_text(diagnosis), HasSubstr("ok       model        a model\n"
                                            "failure  model        ONNX models cannot be run: this "
                                            "process uses LibTorch already"));
}

TEST_F(DoctorTest, ACameraThatTheServiceHasIsNoFailure) {
  probes_.try_source = failing_source(ErrorKind::kDeviceLost);
  EXPECT_EQ(diagnose().exit_status, 69);
  put("run/systemd/system/x", "");
  const Diagnosis running = diagnose();
  EXPECT_EQ(running.exit_status, 0);
  EXPECT_EQ(check(running, "source").text, "this is why: lookout.service is running");
  services_ = {{"lookout.service", "inactive"}, {"lookout@front.service", "active"}};
  EXPECT_EQ(check(diagnose(), "source").text, "this is why: lookout@front.service is running");
  services_.clear();
  EXPECT_EQ(diagnose().exit_status, 69);
}

TEST_F(DoctorTest, WhatOptionsNeedIsTried) {
  options_.profile.trace = root_ / "trace.json";
  options_.camera.capture.cpus = {1023};
  options_.events.snapshot_on_change = root_.path();
  const Diagnosis wrong = diagnose();
  EXPECT_EQ(wrong.exit_status, 64);
  EXPECT_EQ(check(wrong, "trace").state, State::kOk);
  EXPECT_EQ(check(wrong, "capture").state, State::kFailure);
  EXPECT_EQ(check(wrong, "capture").text,
            "processors 1023 for the thread \"capture\": this machine has none of them");
  EXPECT_EQ(check(wrong, "snapshots").state, State::kOk);
  EXPECT_FALSE(std::filesystem::exists(options_.profile.trace)) << "nothing is changed";
  options_.profile.trace = root_ / "none/trace.json";
  EXPECT_EQ(diagnose().exit_status, 74) << "a run tries its trace first";
}

TEST_F(DoctorTest, WhatSlowsDownTheModelIsANote) {
  probes_.load_model = [](const ModelOptions&) {
    return DescribedModel{"a model", {}, "this is why"};
  };
  EXPECT_THAT(to_text(diagnose()), HasSubstr("ok       model        a model\n"
                                             "note     model        this is why\n"));
}

TEST_F(DoctorTest, ABrokerIsTriedAndIsNoFailureWhenItIsAway) {
  options_.mqtt.url = "mqtt://broker";
  probes_.try_mqtt = [](const MqttOptions& mqtt) { return mqtt.url + " works"; };
  EXPECT_EQ(check(diagnose(), "mqtt").text, "mqtt://broker works");
  probes_.try_mqtt = [](const MqttOptions&) -> std::string {
    throw Error(ErrorKind::kDeviceLost, "this is why");
  };
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(check(diagnosis, "mqtt").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "mqtt").text, "this is why");
  EXPECT_EQ(diagnosis.exit_status, 0);
}

TEST_F(DoctorTest, MessagesAreToldOfWhenTheyCouldBeSent) {
  options_.webhook.url = "http://host";
  EXPECT_EQ(check(diagnose(), "webhook").state, State::kOk);
  probes_.resolve_start = [](const RunOptions&) { throw Error(ErrorKind::kConfig, "this is why"); };
  const Diagnosis wrong = diagnose();
  EXPECT_EQ(wrong.exit_status, 78);
  EXPECT_EQ(to_text(wrong).find("webhook"), std::string::npos);
}

TEST_F(DoctorTest, ALineThatTheServiceHasIsNoFailure) {
  options_.gpio.line = 17;
  probes_.find_line = [](const GpioOptions& gpio) { return "line " + std::to_string(*gpio.line); };
  EXPECT_EQ(check(diagnose(), "gpio").text, "line 17");
  probes_.find_line = [](const GpioOptions&) -> std::string {
    throw Error(ErrorKind::kDeviceLost, "this is why");
  };
  EXPECT_EQ(diagnose().exit_status, 69);
  put("run/systemd/system/x", "");
  EXPECT_EQ(diagnose().exit_status, 0);
  EXPECT_EQ(check(diagnose(), "gpio").text, "this is why: lookout.service is running");
}

TEST_F(DoctorTest, AFolderThatTakesNoSnapshotsIsAFailure) {
  options_.events.snapshot_on_change = root_ / "no/pictures";
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 74);
  EXPECT_EQ(check(diagnosis, "snapshots").state, State::kFailure);
  EXPECT_EQ(check(diagnosis, "snapshots").text,
            "snapshots cannot be written into " + options_.events.snapshot_on_change + ": " +
                (root_ / "no") + " does not exist; make it first");
}

TEST_F(DoctorTest, AFolderThatTakesNoHistoryIsAFailure) {
  options_.history.folder = root_ / "no/history";
  EXPECT_EQ(diagnose().exit_status, 74);
  EXPECT_EQ(check(diagnose(), "history").text, "history.folder " + options_.history.folder +
                                                   " cannot be used: " + (root_ / "no") +
                                                   " does not exist; make it first");
  options_.history.folder = root_ / "history";
  EXPECT_EQ(check(diagnose(), "history").state, State::kOk);
  EXPECT_FALSE(std::filesystem::exists(options_.history.folder)) << "nothing is changed";
}

// The check of the model fails where it needs the engine.
TEST_F(DoctorTest, AnEngineThatCannotBeUsedIsANote) {
  probes_.engine = [](Engine engine) -> EngineFacts {
    if (engine == Engine::kTorch) return {"2.9.1", {"ONEDNN"}, "QNNPACK is needed", "QNNPACK"};
    throw Error(ErrorKind::kNoInput, "it is not installed");
  };
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(check(diagnosis, "libtorch").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "libtorch").text, "2.9.1, engines ONEDNN; QNNPACK is needed");
  EXPECT_EQ(check(diagnosis, "onnxruntime").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "onnxruntime").text, "it is not installed");
}

TEST_F(DoctorTest, OtherDevicesThatAreNotUsableAreNotes) {
  probes_.probe_camera = [](const std::string& path) -> std::string {
    throw Error(ErrorKind::kNoInput, path + " is not a camera");
  };
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(check(diagnosis, "camera").state, State::kNote);
  EXPECT_THAT(check(diagnosis, "camera").text, HasSubstr("is not a camera"));
}

TEST_F(DoctorTest, WhatARunFindsBeforeItLoadsTheModelComesFirst) {
  probes_.resolve_start = [](const RunOptions&) { throw Error(ErrorKind::kNoInput, "gone"); };
  probes_.load_model = [](const ModelOptions&) -> DescribedModel {
    throw Error(ErrorKind::kBadData, "this is why");
  };
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 66);
  EXPECT_EQ(check(diagnosis, "start").text, "gone");
  EXPECT_EQ(check(diagnosis, "model").state, State::kFailure) << "and is told, too";
  options_.events.on_change = {"notify", "cat"};
  probes_.resolve_start = [](const RunOptions&) {};
  EXPECT_EQ(check(diagnose(), "start").text, "--on-change notify");
}

TEST(TrySource, AFolderOrVideoWithoutAFrameIsRefused) {
  const auto try_source = local_probes().try_source;
  const TempDir directory;
  directory.write("1.jpg", "this is no picture");
  directory.write("2.jpg", "nor is this");
  expect_error(ErrorKind::kNoInput, HasSubstr("none of the 2 pictures can be read"),
               [&] { try_source(directory.path(), {}); });
  cv::imwrite(directory / "3.png", cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(7)));
  EXPECT_THAT(try_source(directory.path(), {}), HasSubstr("3 pictures"));
  EXPECT_THAT(try_source("test://red", {}), HasSubstr("red"));
}

TEST_F(DoctorTest, WarningsOfTheOptionsAreNotes) {
  options_.warnings = {"this is ignored"};
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(check(diagnosis, "settings").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "settings").text, "this is ignored");
}

TEST_F(DoctorTest, HeatAndPowerAreNotes) {
  put("sys/class/thermal/thermal_zone0/temp", "81000\n");
  put("sys/devices/platform/soc/soc:firmware/get_throttled", "50005\n");
  put("run/systemd/system/x", "");
  services_.push_back({"lookout@front.service", "failed"});
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(diagnosis.exit_status, 0);
  EXPECT_EQ(check(diagnosis, "temperature").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "service").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "service").text,
            "lookout.service is active, lookout@front.service is failed (journalctl -u "
            "lookout@front -e and systemctl status lookout@front tell why)");
  EXPECT_EQ(check(diagnosis, "throttling").state, State::kNote);
  EXPECT_EQ(check(diagnosis, "throttling").text,
            "under-voltage now, throttled now, under-voltage since the start, was throttled since "
            "the start (get_throttled 0x50005); under-voltage needs a stronger power supply or a "
            "shorter cable; a clock that was lowered needs cooling or better power, or set "
            "heat.limit");
}

// Today's kernels of Raspberry Pi have no get_throttled.
TEST_F(DoctorTest, UnderVoltageIsToldByTheSensorOfTheSupply) {
  EXPECT_EQ(check(diagnose(), "throttling").text, "not told by this kernel");
  put("sys/class/hwmon/hwmon0/name", "cpu_thermal\n");
  put("sys/class/hwmon/hwmon1/name", "rpi_volt\n");
  put("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n");
  const Check good = check(diagnose(), "throttling");
  EXPECT_EQ(good.state, State::kOk);
  EXPECT_EQ(good.text,
            "no under-voltage now (rpi_volt); this kernel tells no more: what was before is in "
            "journalctl -k --grep voltage");
  put("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n");
  const Check low = check(diagnose(), "throttling");
  EXPECT_EQ(low.state, State::kNote);
  EXPECT_EQ(low.text,
            "under-voltage now (rpi_volt); under-voltage needs a stronger power supply or a "
            "shorter cable");
  EXPECT_EQ(nlohmann::json::parse(to_json(diagnose()))["throttled_source"], "rpi_volt");
}

TEST_F(DoctorTest, AGovernorThatLowersTheClockIsNamedWithWhatToDo) {
  const std::string clock = "sys/devices/system/cpu/cpu0/cpufreq/";
  put(clock + "scaling_cur_freq", "600000\n");
  put(clock + "scaling_max_freq", "1500000\n");
  for (const char* governor : {"ondemand", "conservative", "powersave"}) {
    put(clock + "scaling_governor", std::string(governor) + "\n");
    const Check slow = check(diagnose(), "clock");
    EXPECT_EQ(slow.state, State::kNote) << governor;
    EXPECT_THAT(slow.text, HasSubstr(std::string("600 MHz of 1500, governor ") + governor + ": "));
    EXPECT_THAT(slow.text, HasSubstr("echo performance | sudo tee"));
  }
  put(clock + "scaling_governor", "performance\n");
  EXPECT_EQ(check(diagnose(), "clock").state, State::kOk);
}

TEST_F(DoctorTest, ALimitOfHeatNeedsASensor) {
  options_.heat.limit = 75;
  EXPECT_EQ(check(diagnose(), "heat").state, State::kNote);
  EXPECT_EQ(check(diagnose(), "heat").text,
            "heat.limit does nothing: this machine has no sensor of its temperature");
  put("sys/class/thermal/thermal_zone0/temp", "48686\n");
  EXPECT_EQ(check(diagnose(), "heat").state, State::kOk);
  EXPECT_EQ(check(diagnose(), "heat").text, "limit 75 °C");
}

// Path, kind and time of the last change of all that is in a folder.
std::vector<std::string> tree(const std::filesystem::path& folder) {
  std::vector<std::string> entries;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    entries.push_back(entry.path().string() + (entry.is_directory() ? "/" : ""));
  }
  entries.push_back(
      std::to_string(std::filesystem::last_write_time(folder).time_since_epoch().count()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

TEST_F(DoctorTest, NothingOnTheDiskIsChanged) {
  const TempDir work;
  options_.profile.trace = work / "trace.json";
  work.write(".trace.json.ab12yz.part", "of a run that was killed");
  const auto before = tree(work.path());
  for (const char* folder : {"new", "new/"}) {
    options_.events.snapshot_on_change = work / folder;
    EXPECT_EQ(diagnose().exit_status, 0);
    EXPECT_EQ(tree(work.path()), before);
  }
  options_.events.snapshot_on_change = work / "new/within";
  const Diagnosis wrong = diagnose();
  EXPECT_EQ(wrong.exit_status, 74);
  EXPECT_EQ(check(wrong, "snapshots").text, "snapshots cannot be written into " +
                                                (work / "new/within") + ": " + (work / "new") +
                                                " does not exist; make it first");
  EXPECT_EQ(tree(work.path()), before);
}

TEST_F(DoctorTest, WhatTheMachineDoesNotTellIsSaid) {
  std::filesystem::remove_all(root_.path() / "dev");
  std::filesystem::remove_all(root_.path() / "proc");
  const Diagnosis diagnosis = diagnose();
  EXPECT_EQ(check(diagnosis, "cpu").text, "unknown");
  EXPECT_EQ(check(diagnosis, "camera").text, "there is no /dev/video* at all");
  EXPECT_EQ(check(diagnosis, "service").text, "no systemd");
  EXPECT_EQ(check(diagnosis, "temperature").text, "no sensor");
}

TEST_F(DoctorTest, JsonHasTheChecksAndTheNumbers) {
  put("sys/class/thermal/thermal_zone0/temp", "48686\n");
  probes_.try_source = failing_source(ErrorKind::kNoInput);
  const std::string text = to_json(diagnose());
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["type"], "doctor");
  EXPECT_EQ(json["would_start"], false);
  EXPECT_EQ(json["exit_status"], 66);
  EXPECT_DOUBLE_EQ(json["temperature_c"], 48.686);
  EXPECT_TRUE(json["throttled"].is_null());
  EXPECT_EQ(json["throttled_source"], "");
  const auto& source = json["checks"][5];
  EXPECT_EQ(source["check"], "source");
  EXPECT_EQ(source["state"], "failure");
  EXPECT_EQ(source["text"], "this is why");
}

TEST_F(DoctorTest, NamesBeginNoLinesAndMoveNoCursor) {
  probes_.probe_camera = [](const std::string&) { return "A\n\x1b[2JCamera"; };
  EXPECT_THAT(to_text(diagnose()), HasSubstr("/dev/video0: A\\n\\x1b[2JCamera\n"));
}

class DoctorOfCsi : public DoctorTest {
 protected:
  void put_ipa(const std::string& soname) const {
    put("usr/lib/aarch64-linux-gnu/libcamera/ipa/ipa_rpi_vc4.so",
        "\x7f"
        "ELF libcamera.so." +
            soname + '\0');
  }
  Check libcamera() const { return check(diagnose(), "libcamera"); }
  Check heaps() const { return check(diagnose(), "dma-heap"); }
};

TEST_F(DoctorOfCsi, LibcameraIsToldWithTheModule) {
  put_ipa("0.7");
  EXPECT_EQ(libcamera().text, "v0.7.1, by the module 0.7.so");
  EXPECT_EQ(libcamera().state, State::kOk);
}

TEST_F(DoctorOfCsi, ImageProcessingMustBeOfTheSameVersion) {
  EXPECT_THAT(libcamera().text, HasSubstr("sudo apt install libcamera-ipa"));
  EXPECT_EQ(libcamera().state, State::kNote);
  put_ipa("0.5");
  EXPECT_THAT(libcamera().text, HasSubstr("libcamera-ipa is of another version"));
  EXPECT_EQ(libcamera().state, State::kNote);
}

TEST_F(DoctorOfCsi, WithoutLibcameraTheReasonIsTold) {
  probes_.libcamera = []() -> LoadedLibcamera {
    throw Error(ErrorKind::kUnsupported, "no module");
  };
  EXPECT_EQ(libcamera().text, "no module");
  EXPECT_EQ(libcamera().state, State::kNote);
  EXPECT_EQ(libcamera().exit_status, 0) << "other cameras can be used";
}

TEST_F(DoctorOfCsi, HeapsNeedTheGroupVideo) {
  EXPECT_EQ(heaps().state, State::kOk);
  put("dev/dma_heap/linux,cma", "");
  const std::string heap = root_ / "dev/dma_heap/linux,cma";
  ASSERT_EQ(chmod(heap.c_str(), 0600), 0);
  EXPECT_EQ(heaps().state, State::kNote);
  EXPECT_THAT(heaps().text, HasSubstr("linux,cma is of the group "));
  EXPECT_THAT(heaps().text, HasSubstr("mode 600: CSI cameras need the group video and 660"));

  const struct group* video = getgrnam("video");
  if (geteuid() != 0 || video == nullptr) GTEST_SKIP() << "needs root, to change a file's group";
  ASSERT_EQ(chown(heap.c_str(), 0, video->gr_gid), 0);
  ASSERT_EQ(chmod(heap.c_str(), 0660), 0);
  EXPECT_EQ(heaps().state, State::kOk);
  EXPECT_EQ(heaps().text, "linux,cma of the group video");
}

}  // namespace
}  // namespace lookout
