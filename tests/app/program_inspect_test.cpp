// The sub-commands that explain: inspect, list-cameras and doctor.
#include "tests/support/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "paths.h"
#include "tests/support/loopback_listener.h"
#include "tests/support/onnx_file.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

TEST(Program, ListCamerasNeedsNone) {
  const ProgramResult result = run_lookout({"list-cameras", "--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["type"], "cameras");
}

TEST(Program, InspectTellsWhatIsInAnArchive) {
  const ProgramResult text = run_lookout({"inspect", "--run"});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* named : {"sha256", "224x224 RGB, center-square", "mean 0.485", "16: color bars",
                            "qint8, computed by XNNPACK kernels", "parameters", "producer"}) {
    EXPECT_NE(text.out.find(named), std::string::npos) << named << " in " << text.out;
  }
  const ProgramResult json = run_lookout({"inspect", "--run", "--format", "json"});
  const Json report = Json::parse(json.out);
  EXPECT_EQ(report["input"]["resize"], "center-square");
  EXPECT_EQ(report["labels"].size(), 16U);
  EXPECT_EQ(report["sha256"].get<std::string>().size(), 64U);
  expect_failure(run_lookout({"inspect", "/no/such/model.pt"}), 66, "/no/such/model.pt");
}

TEST(Program, InspectShowsTheCodeOfAnArchive) {
  const TempDir directory;
  const std::string written = directory / "written.pt";
  const std::string file = directory / "m.pt";
  // It has neither metadata nor labels, and cannot be loaded.
  write_archive(written, "return x.mean([2, 3])", "", "");
  copy_archive(written, file, {"return", "\x1b[2J return"});
  const ProgramResult text = run_lookout({"inspect", file, "--code"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out.rfind("# code/__torch__", 0), 0U) << text.out;
  EXPECT_THAT(text.out, HasSubstr("torch.mean(x, [2, 3])\n"));
  EXPECT_THAT(text.out, HasSubstr("\\x1b[2J return"));
  EXPECT_EQ(text.out.find('\x1b'), std::string::npos) << text.out;
  const Json json = Json::parse(run_lookout({"inspect", file, "--code", "--format", "json"}).out);
  EXPECT_EQ(json["type"], "code");
  EXPECT_THAT(json["code"][0]["text"].get<std::string>(), HasSubstr("def forward("));
  write_convolution(file);
  const Json parts = Json::parse(run_lookout({"inspect", file, "--code", "--format", "json"}).out);
  EXPECT_THAT(parts["code"][0]["text"].get<std::string>(), HasSubstr("features"));
  expect_failure(run_lookout({"inspect", file, "--graph"}), 65, "--code shows it");
  expect_failure(run_lookout({"inspect", file, "--code", "--run"}), 64, "without running it");
  expect_failure(run_lookout({"inspect", file, "--code", "--graph"}), 64, "give one of them");
}

TEST(Program, InspectShowsTheNodesOfAnOnnxModel) {
  const TempDir directory;
  OnnxFile model = OnnxFile::sums_of_planes().described();
  model.after = {"Relu\x1b[2J"};
  const std::string file = directory.write("m.onnx", model.bytes());
  const ProgramResult text = run_lookout({"inspect", file, "--graph"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("float [?, 3, 2, 2]\n"));
  EXPECT_THAT(text.out, HasSubstr("constants:\n"));
  EXPECT_THAT(text.out, HasSubstr(" = Relu\\x1b[2J ("));
  const Json json = Json::parse(run_lookout({"inspect", file, "--graph", "--format", "json"}).out);
  EXPECT_EQ(json["type"], "graph");
  EXPECT_EQ(json["inputs"][0]["shape"], Json({-1, 3, 2, 2}));
  EXPECT_EQ(json["nodes"].back()["operator"], "Relu\x1b[2J");
  expect_failure(run_lookout({"inspect", file, "--code"}), 65, "--graph shows its nodes");
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

// The folder of Debian's alternative with that name; empty where it is not installed.
std::string blas_folder(const std::string& alternative) {
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib")) {
    const std::filesystem::path folder = entry.path() / alternative;
    if (std::filesystem::exists(folder / "libblas.so.3")) return folder.string();
  }
  return {};
}

// What `lookout run` logs and `lookout doctor` prints with that BLAS.
std::string run_and_doctor(const std::string& model, const std::string& blas) {
  Program::Options options;
  options.environment = {"LD_LIBRARY_PATH=" + blas};
  const ProgramResult run = run_lookout({"test://red?frames=1", "--model", model}, options);
  const ProgramResult doctor = run_lookout({"doctor", "test://red", "--model", model}, options);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(doctor.status, 0) << doctor.out;
  return run.err + doctor.out;
}

TEST(Program, AReferenceBlasIsToldOfWhereItIsSlow) {
  const TempDir directory;
  const std::string floats = directory / "floats.pt";
  write_archive(floats, kMeanOfChannels, small_metadata(), kThreeLabels);
  const std::string quantized = std::string(LOOKOUT_MODELS) + "/selftest.pt";
  const std::string reference = blas_folder("blas");
  const std::string fast = blas_folder("openblas-pthread");
  if (reference.empty() || fast.empty()) {
    GTEST_SKIP() << "needs the packages libblas3 and libopenblas0-pthread";
  }
  const std::string sentence = "floats are multiplied by the reference BLAS, " + reference;
  const std::string told = run_and_doctor(floats, reference);
  EXPECT_THAT(told, HasSubstr("warning model small: " + sentence));
  EXPECT_THAT(told, HasSubstr("note     model        " + sentence));
  EXPECT_THAT(run_and_doctor(floats, fast), Not(HasSubstr("BLAS")));
  EXPECT_THAT(run_and_doctor(quantized, reference), Not(HasSubstr("BLAS")));
}

// Expects that both end with `status` and say the same of the option.
void expect_doctor_ends_as_run(const std::string& option, const std::string& value, int status,
                               const Program::Options& as = {}) {
  const ProgramResult run = run_lookout({"test://red?frames=1", option, value}, as);
  const ProgramResult doctor = run_lookout({"doctor", "test://red?frames=1", option, value}, as);
  expect_failure(run, status, value.substr(value.find('=') + 1));
  EXPECT_EQ(doctor.status, status) << doctor.out;
  const std::string start = "lookout: ";
  const auto sentence = run.err.substr(run.err.rfind(start) + start.size());
  EXPECT_NE(doctor.out.find(sentence), std::string::npos) << doctor.out << sentence;
}

TEST(Program, DoctorEndsAsTheRunThatItJudges) {
  expect_doctor_ends_as_run("--trace", "/none/trace.json", 74);
  expect_doctor_ends_as_run("--set", "camera.capture-cpus=1023", 64);
  expect_doctor_ends_as_run("--snapshot-on-change", "/none/pictures", 74);
}

// A signal ends it while it waits for `text` in what it prints.
void expect_doctor_ends_by_signal(Program& doctor, int signal, const std::string& text) {
  ASSERT_TRUE(doctor.wait_for(text)) << doctor.out() << doctor.err();
  kill(doctor.pid(), signal);
  EXPECT_EQ(doctor.finish().status, 128 + signal);
}

TEST(Program, DoctorOfACameraThatHangsEndsByASignal) {
  if (!std::filesystem::exists(LOOKOUT_FAKE_CAMERA)) GTEST_SKIP() << "no fake camera in this build";
  const TempDir directory;
  std::filesystem::create_symlink("/dev/null", directory / "camera");
  Program::Options preload;
  preload.environment = {"LD_PRELOAD=" LOOKOUT_FAKE_CAMERA,
                         "LOOKOUT_FAKE_CAMERA=" + (directory / "camera"),
                         "LOOKOUT_FAKE_FAULT=" + directory.write("fault", "hangs")};
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Program doctor({"doctor", directory / "camera"}, preload);
    expect_doctor_ends_by_signal(doctor, signal, "the camera hangs");
  }
}

TEST(Program, DoctorOfACameraThatNeverAnswersEndsByASignal) {
  const LoopbackListener camera;
  Program doctor({"doctor", fmt::format("rtsp://127.0.0.1:{}/", camera.port())});
  const int connection = camera.accept();
  kill(doctor.pid(), SIGTERM);
  EXPECT_EQ(doctor.finish().status, 128 + SIGTERM);
  close(connection);
}

// The process that tries it ends, too.
TEST(Program, DoctorOfAModelThatNeverReturnsEndsByASignal) {
  const TempDir directory;
  const std::string model = directory / "model.pt";
  write_archive(model,
                "rounds = 0\n"
                "  while bool(x.max() > -1000.0):\n"
                "    if rounds == 0:\n"
                "      print('no end')\n"
                "    rounds = rounds + 1\n"
                "  return x.mean([2, 3])",
                small_metadata(), kThreeLabels);
  Program doctor({"doctor", "test://red", "--model", model});
  ASSERT_TRUE(doctor.wait_for("no end")) << doctor.err();
  const std::string id = std::to_string(doctor.pid());
  pid_t apart = 0;
  std::ifstream("/proc/" + id + "/task/" + id + "/children") >> apart;
  ASSERT_GT(apart, 0);
  pollfd end{static_cast<int>(syscall(SYS_pidfd_open, apart, 0)), POLLIN, 0};
  expect_doctor_ends_by_signal(doctor, SIGTERM, "no end");
  constexpr int kMaxMs = 60'000;
  EXPECT_EQ(poll(&end, 1, kMaxMs), 1) << "process " << apart << " runs on";
  close(end.fd);
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
  expect_doctor_ends_as_run("--set", "camera.capture-priority=50", 77, nobody);
}

}  // namespace
}  // namespace lookout
