// How a run that cannot start or go on ends: its sentence and its exit status.
#include "tests/support/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "paths.h"
#include "tests/support/onnx_file.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

TEST(Program, NoSuchInput) {
  expect_failure(run_lookout({"/dev/video99"}), 66, "/dev/video99");
  expect_failure(run_lookout({"/no/such/folder"}), 66, "/no/such/folder");
  expect_failure(run_lookout({"/dev/null"}), 66, "/dev/null is not a camera");
  const TempDir empty;
  expect_failure(run_lookout({empty.path().string()}), 66, empty.path().string());
}

// Loading a large archive takes seconds.
TEST(Program, AMissingSourceOrCommandIsSaidBeforeTheModelIsLoaded) {
  const std::string model = "/no/such/model.pt";
  expect_failure(run_lookout({"/no/such/folder", "--model", model}), 66,
                 "no such device, file or folder: /no/such/folder");
  expect_failure(run_lookout({"test://red", "--model", model, "--on-change", "nope-x cat"}), 66,
                 "--on-change: there is no program nope-x in PATH");
  const TempDir directory;
  const std::string text = directory.write("text", "no program");
  expect_failure(run_lookout({"test://red", "--on-change", text}), 77,
                 "--on-change: no permission to run " + text);
}

TEST(Program, FramesThatCannotComeAreToldBeforeTheModelIsLoaded) {
  const std::string model = "/no/such/model.pt";
  const TempDir directory;
  std::filesystem::create_directory(directory / "empty");
  const std::string fake = directory.write("fake.jpg", "no picture");
  expect_failure(run_lookout({directory / "empty", "--model", model}), 66,
                 "there are no pictures in folder " + (directory / "empty"));
  expect_failure(run_lookout({fake, "--model", model}), 66, fake + " cannot be read as a picture");
  expect_failure(run_lookout({"csi://no-such-camera", "--model", model}), 66, "csi://no-such");
  expect_failure(
      run_lookout({"test://red", "--model", model, "--snapshot-on-change", directory / "no/a"}), 74,
      (directory / "no") + " does not exist; make it first");
  expect_failure(run_lookout({"test://red", "--model", model, "--snapshot-on-change", fake}), 74,
                 fake + ": it is a file, not a folder");
  expect_failure(run_lookout({"eval", directory / "empty", "--model", model}), 66,
                 "has no folder for each class, such as " + (directory / "empty/open/"));
}

TEST(Program, AFileThatGrowsBeyondTheLimitEndsARunWithAReason) {
  const TempDir directory;
  const std::string command =
      std::string("cd ") + directory.path().string() +
      " && ulimit -f 1 && exec " LOOKOUT_PROGRAM
      " 'test://red?fps=0&frames=50' --set profile.op-sampling=1 --trace t.json"
      " --threads 1 >/dev/null 2>log";
  const int status = std::system(("sh -c \"" + command + "\"").c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 74);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    files += entry.path().filename() == "log" ? 0 : 1;
  }
  EXPECT_EQ(files, 0U) << "a part of the trace is left";
}

// A copy of the program, first without modules beside it, then with one whose library is missing.
TEST(Program, VideoWithoutFfmpeg) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "bin");
  const std::string program = directory / "bin/lookout";
  std::filesystem::copy_file(LOOKOUT_PROGRAM, program);
  const auto built = std::filesystem::path(LOOKOUT_PROGRAM).parent_path().parent_path();
  std::filesystem::create_directory_symlink(built / "share", directory / "share");
  const std::string video = directory.write("walk.mp4", "any content");
  const std::string log = directory / "log";
  const auto content = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const auto expect_sentence = [&](const std::string& reason) {
    const int status = std::system((program + " " + video + " >" + log + " 2>&1").c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 72);
    EXPECT_NE(content(log).find("walk.mp4 is no picture, and videos cannot be read: " + reason),
              std::string::npos)
        << content(log);
  };
  std::filesystem::create_directories(directory / "lib/lookout");
  const std::string engine = "lib/lookout/liblookout-torch.so";
  std::filesystem::create_symlink(built / engine, directory / engine);
  expect_sentence("lookout was built without");
  const std::string name = "lib/lookout/liblookout-video.so";
  std::string module = content((built / name).string());
  const std::string library = "libavformat.so";
  module.replace(module.find(library), library.size(), "libavformax.so");
  directory.write(name, module);
  expect_sentence(
      "a library that lookout was built with is missing or has another version: "
      "libavformax.so");
  EXPECT_NE(content(log).find("(apt install ffmpeg)"), std::string::npos) << content(log);
}

// The process that decodes tells it, before it connects to the camera.
TEST(Program, CameraOnTheNetworkWithoutFfmpeg) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "bin");
  const std::string program = directory / "bin/lookout";
  std::filesystem::copy_file(LOOKOUT_PROGRAM, program);
  const auto built = std::filesystem::path(LOOKOUT_PROGRAM).parent_path().parent_path();
  std::filesystem::create_directory_symlink(built / "share", directory / "share");
  std::filesystem::create_directories(directory / "lib/lookout");
  const std::string engine = "lib/lookout/liblookout-torch.so";
  std::filesystem::create_symlink(built / engine, directory / engine);
  const std::string log = directory / "log";
  const auto expect_sentence = [&](const std::string& sentence) {
    const int status = std::system((program + " http://127.0.0.1:1/a >" + log + " 2>&1").c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 72);
    std::ifstream file(log, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  };
  expect_sentence("lookout-stream-decoder cannot be started: No such file or directory");
  const std::string decoder = "lib/lookout/lookout-stream-decoder";
  std::filesystem::copy_file(built / decoder, directory / decoder);
  expect_sentence("videos cannot be read: lookout was built without");
}

TEST(Program, AMissingEngineIsNamed) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "bin");
  const std::string program = directory / "bin/lookout";
  std::filesystem::copy_file(LOOKOUT_PROGRAM, program);
  write_archive(directory / "model.pt", kMeanOfChannels, small_metadata(), kThreeLabels);
  directory.write("model.onnx", OnnxFile::sums_of_planes().described().bytes());
  for (const auto& [model, sentence] :
       {std::pair{"model.pt", "liblookout-torch.so; install the package lookout-torch"},
        std::pair{
            "model.onnx",
            "liblookout-onnxruntime.so; install the package lookout-onnxruntime, a file beside "
            "that "
            "of lookout (sudo apt install ./lookout-onnxruntime_*.deb), or, where lookout was "
            "built, run deploy/install-deps.sh and build again"}}) {
    const std::string log = directory / "log";
    std::string command = program;
    command.append(" 'test://red?frames=1' --model ").append(directory / model);
    command.append(" 2>").append(log);
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 66);
    std::ifstream file(log);
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(said.find(sentence), std::string::npos) << said;
  }
}

// With a program that has no engine but ONNX Runtime's.
TEST(Program, WithoutAModelTheSelfTestIsForTheEngineThatIsThere) {
  const std::filesystem::path built =
      std::filesystem::path(LOOKOUT_PROGRAM).parent_path().parent_path();
  const std::filesystem::path module = built / "lib/lookout/liblookout-onnxruntime.so";
  if (!std::filesystem::exists(module)) GTEST_SKIP() << "built without ONNX Runtime";
  const TempDir directory;
  for (const char* folder : {"bin", "lib/lookout", "share/lookout"}) {
    std::filesystem::create_directories(directory.path() / folder);
  }
  std::filesystem::copy_file(LOOKOUT_PROGRAM, directory / "bin/lookout");
  std::filesystem::create_symlink(module, directory / "lib/lookout/liblookout-onnxruntime.so");
  std::filesystem::copy_file(std::string(LOOKOUT_MODELS) + "/onnx_format/selftest.onnx",
                             directory / "share/lookout/selftest.onnx");
  const std::string out = directory / "out";
  const std::string command = (directory / "bin/lookout") +
                              " 'test://checkers?frames=1' --set results.write=all >" + out +
                              " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(out);
  const std::string said{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(said.find("checkers 9"), std::string::npos) << said;
}

TEST(Program, WrongUse) {
  expect_failure(run_lookout({"--frobnicate"}), 64, "--frobnicate");
  expect_failure(run_lookout({"--top-k", "none"}), 64, "--top-k");
  expect_failure(run_lookout({"test://nothing"}), 64, "nothing");
  expect_failure(run_lookout({"gopher://x"}), 64, "gopher");
  expect_failure(run_lookout({"udp://user:secret@h:554/a"}), 64,
                 "udp://***@h:554/a: of the network");
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

TEST(Program, APictureThatCannotBeReadHasNoSummaryOfZeros) {
  const TempDir directory;
  const ProgramResult result =
      run_lookout({directory.write("1.jpg", "this is no picture"), "--format", "json"});
  EXPECT_EQ(result.status, 66) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.find("summary"), std::string::npos) << result.err;
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

}  // namespace
}  // namespace lookout
