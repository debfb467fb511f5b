// For tests of doctor: a machine in a folder.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/inspect/doctor.h"
#include "pipeline/core/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {

// Everything works unless a test changes it.
class DoctorTest : public testing::Test {
 protected:
  DoctorTest() {
    probes_.root = root_.path();
    probes_.engine = [](Engine engine) {
      if (engine == Engine::kOnnxRuntime) return EngineFacts{"1.27.0", {"CPU"}, "", "CPU"};
      return EngineFacts{"2.9.1", {"QNNPACK", "ONEDNN"}, "", "QNNPACK"};
    };
    probes_.probe_camera = [](const std::string&) { return "A Camera"; };
    probes_.try_source = [](const std::string& source, const SourceOptions&) {
      return source + ", 640x480";
    };
    probes_.libcamera = [] { return LoadedLibcamera{"v0.7.1", "0.7", "0.7.so"}; };
    probes_.resolve_start = [](const RunOptions&) {};
    probes_.load_model = [](const ModelOptions&) { return DescribedModel{"a model", {}}; };
    probes_.base = [this] { return base_; };
    probes_.base_of = [this](const ModelOptions&) { return base_of_head_; };
    probes_.services = [this] { return services_; };
    put("proc/cpuinfo", "Features\t: fp asimd crc32\nCPU part\t: 0xd08\n");
    put("dev/video0", "");
  }

  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((root_.path() / path).parent_path());
    root_.write(path, content);
  }

  static auto failing_source(ErrorKind kind) {
    return [kind](const std::string&, const SourceOptions&) -> std::string {
      throw Error(kind, "this is why");
    };
  }

  Diagnosis diagnose() const { return lookout::diagnose(options_, probes_); }

  // The first check of that name.
  static Check check(const Diagnosis& diagnosis, const std::string& name) {
    for (const Check& check : diagnosis.checks) {
      if (check.name == name) return check;
    }
    ADD_FAILURE() << "no check " << name;
    return {};
  }

  TempDir root_;
  RunOptions options_;
  Probes probes_;
  std::optional<std::filesystem::path> base_ = "/usr/share/lookout/base.pt";
  std::optional<BaseOfHead> base_of_head_;
  std::vector<ServiceState> services_{{"lookout.service", "active"}};
};

}  // namespace lookout
