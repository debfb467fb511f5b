#include "platform/cameras/libcamera_loader.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

fs::path fake_module() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "fake_libcamera_module.so";
}

// The file name of a module.
std::string name_of(const LookoutLibcamera& module) {
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(module.version), &info);
  return fs::path(info.dli_fname).filename();
}

TEST(LibcameraLoaderTest, NewestModuleThatLoadsIsTaken) {
  const TempDir folder;
  fs::copy(fake_module(), folder.path() / "0.4.so");
  fs::copy(fake_module(), folder.path() / "0.7.so");
  fs::copy(fake_module(), folder.path() / "0.0.3.so");
  std::ofstream(folder.path() / "0.10.so") << "for a libcamera that is not there";
  EXPECT_EQ(name_of(load_libcamera_module(folder.path(), {})), "0.7.so");
}

TEST(LibcameraLoaderTest, ModuleThatWasBuiltHereComesFirst) {
  const TempDir folder;
  fs::copy(fake_module(), folder.path() / "0.7.so");
  fs::copy(fake_module(), folder.path() / "built.so");
  EXPECT_EQ(name_of(load_libcamera_module(folder.path(), {})), "built.so");
}

// A module that names the libcamera that it was linked with.
void put_module(const fs::path& file, const std::string& version) {
  fs::copy(fake_module(), file);
  std::ofstream(file, std::ios::app) << "libcamera.so." << version << '\0';
}

TEST(LibcameraLoaderTest, ModuleForTheIpaModulesComesBeforeAll) {
  const TempDir folder;
  put_module(folder.path() / "0.4.so", "0.4");
  put_module(folder.path() / "0.7.so", "0.7");
  put_module(folder.path() / "built.so", "0.8");
  EXPECT_EQ(name_of(load_libcamera_module(folder.path(), {"0.4"})), "0.4.so");
  EXPECT_EQ(name_of(load_libcamera_module(folder.path(), {"0.8"})), "built.so");
  EXPECT_EQ(name_of(load_libcamera_module(folder.path(), {"0.9"})), "built.so");
}

TEST(LibcameraLoaderTest, IpaModulesAreFoundWhereDebianPutsThem) {
  const TempDir root;
  EXPECT_THAT(ipa_versions(root.path()), IsEmpty());
  for (const char* folder : {"libcamera", "libcamera/ipa"}) {
    fs::create_directories(root.path() / "usr/lib/aarch64-linux-gnu" / folder);
  }
  put_module(root.path() / "usr/lib/aarch64-linux-gnu/libcamera/ipa_vimc.so", "0.4");
  put_module(root.path() / "usr/lib/aarch64-linux-gnu/libcamera/ipa/ipa_rpi_vc4.so", "0.7");
  put_module(root.path() / "usr/lib/aarch64-linux-gnu/libcamera/v4l2-compat.so", "0.5");
  EXPECT_THAT(ipa_versions(root.path()), ElementsAre("0.4", "0.7"));
}

TEST(LibcameraLoaderTest, WithoutOneThatLoadsTheVersionsAreNamed) {
  const TempDir folder;
  std::ofstream(folder.path() / "98.4.so") << "for a libcamera that is not there";
  std::ofstream(folder.path() / "98.7.so") << "nor this";
  expect_error(ErrorKind::kUnsupported,
               AllOf(HasSubstr("lookout has modules for 98.7, 98.4"), HasSubstr("V4L2 cameras")),
               [&] { load_libcamera_module(folder.path(), {}); });
}

TEST(LibcameraLoaderTest, WithoutModulesLookoutWasBuiltWithout) {
  const TempDir folder;
  expect_error(ErrorKind::kUnsupported, HasSubstr("built without libcamera"),
               [&] { load_libcamera_module(folder.path() / "nothing", {}); });
}

TEST(LibcameraLoaderTest, VersionIsThePartThatProgramsAreLinkedTo) {
  EXPECT_THAT(libcamera_versions({"libcamera.so.0.7.1", "libcamera.so.0.7", "libcamera.so",
                                  "libcamera-base.so.0.4", "libcamera.so.0.0.3", "libfoo.so.1"}),
              ElementsAre("0.0.3", "0.7"));
  EXPECT_THAT(libcamera_versions({}), IsEmpty());
}

}  // namespace
}  // namespace lookout
