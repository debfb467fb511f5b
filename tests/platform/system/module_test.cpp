#include "pipeline/core/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "pipeline/core/error.h"
#include "platform/cameras/libcamera_loader.h"
#include "platform/sources/open_source.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Module, OneThatWasNotBuiltIsNamed) {
  expect_error(ErrorKind::kUnsupported, HasSubstr("lib/lookout/libnothing.so"),
               [] { load_module("libnothing.so", "f"); });
}

TEST(Module, OneThatCannotBeLoadedIsNamed) {
  // As a library of another version would: the loader refuses it.
  const auto path = module_path("libbroken-test.so");
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "no library";
  expect_error(ErrorKind::kUnsupported, AllOf(HasSubstr("version"), HasSubstr("libbroken-test.so")),
               [] { load_module("libbroken-test.so", "f"); });
  std::filesystem::remove(path);
}

TEST(Module, ALibraryTakesNoSignal) {
  const auto path = module_path("libsignal-test.so");
  std::filesystem::create_directories(path.parent_path());
  std::filesystem::copy_file(
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "taker_of_signals.so", path,
      std::filesystem::copy_options::overwrite_existing);
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const auto other = std::signal(SIGUSR2, SIG_IGN);  // which the library leaves alone
  load_module("libsignal-test.so", "taken");
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
  EXPECT_EQ(std::signal(SIGUSR2, other), SIG_IGN);
  std::filesystem::remove(path);
}

TEST(CsiCamera, ItsNumberOrNameHasToFollow) {
  for (const char* uri : {"csi://", "csi://0?width=640"}) {
    expect_error(ErrorKind::kUsage, HasSubstr("csi://0"), [&] { open_source(uri, {}); });
  }
}

// Why libcamera cannot be used here, or nothing.
std::string problem_of_libcamera() {
  try {
    list_csi_cameras();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUnsupported) return error.what();
  }
  return "";
}

TEST(CsiCamera, OneThatIsNotThereIsAnError) {
  if (const std::string problem = problem_of_libcamera(); !problem.empty()) GTEST_SKIP() << problem;
  expect_error(ErrorKind::kNoInput, HasSubstr("camera"),
               [] { open_source("csi://no-such-camera", {}); });
}

TEST(CsiCamera, ItIsNamedByItsNumberOrItsName) {
  if (const std::string problem = problem_of_libcamera(); !problem.empty()) GTEST_SKIP() << problem;
  const CapturedLog log;  // whether or not the camera is there
  SourceOptions options;
  options.wait = true;
  EXPECT_EQ(open_source("csi://0", options)->info().name, "csi0");
  EXPECT_EQ(open_source("csi://imx708", options)->info().name, "imx708");
}

}  // namespace
}  // namespace lookout
