#include "app/inspect/csi_checks.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "pipeline/core/error.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using State = Check::State;

class CsiChecks : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& content) const {
    fs::create_directories((root_.path() / path).parent_path());
    root_.write(path, content);
  }
  void put_ipa(const std::string& soname) const {
    put("usr/lib/aarch64-linux-gnu/libcamera/ipa/ipa_rpi_vc4.so",
        "\x7f"
        "ELF libcamera.so." +
            soname + '\0');
  }
  Check libcamera() const {
    return check_csi(root_.path(), [] { return LoadedLibcamera{"v0.7.1", "0.7", "built.so"}; })[0];
  }
  Check heaps() const {
    return check_csi(root_.path(), [] { return LoadedLibcamera(); })[1];
  }

  TempDir root_;
};

TEST_F(CsiChecks, LibcameraIsToldWithTheModule) {
  put_ipa("0.7");
  EXPECT_EQ(libcamera().text, "v0.7.1, by the module built.so");
  EXPECT_EQ(libcamera().state, State::kOk);
}

TEST_F(CsiChecks, ImageProcessingMustBeOfTheSameVersion) {
  EXPECT_THAT(libcamera().text, HasSubstr("sudo apt install libcamera-ipa"));
  EXPECT_EQ(libcamera().state, State::kNote);
  put_ipa("0.5");
  EXPECT_THAT(libcamera().text, HasSubstr("libcamera-ipa is of another version"));
  EXPECT_EQ(libcamera().state, State::kNote);
}

TEST_F(CsiChecks, WithoutLibcameraTheReasonIsTold) {
  const auto none = []() -> LoadedLibcamera { throw Error(ErrorKind::kUnsupported, "no module"); };
  const Check check = check_csi(root_.path(), none)[0];
  EXPECT_EQ(check.text, "no module");
  EXPECT_EQ(check.state, State::kNote);
  EXPECT_EQ(check.exit_status, 0) << "other cameras can be used";
}

TEST_F(CsiChecks, HeapsNeedTheGroupVideo) {
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
