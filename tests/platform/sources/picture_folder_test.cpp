#include "platform/sources/picture_folder.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PictureFolder : public testing::Test {
 protected:
  void make(const std::string& name) {
    fs::create_directories(fs::path(dir_ / name).parent_path());
    dir_.write(name, "");
  }
  std::vector<std::string> list(bool recursive = false) const {
    return list_pictures(dir_.path().string(), recursive);
  }

  const TempDir dir_;
};

TEST_F(PictureFolder, WhatIsLeftOutIsSaidOnceWithItsReason) {
  for (const char* name : {"a.jpg", "b.HEIC", "c.heic", "d.mp4", "e.MOV", "f.gif", "notes.txt",
                           "g.jxl", ".hidden.heic", "in/h.jpg", "other/i.jpg"}) {
    make(name);
  }
  const CapturedLog log;
  EXPECT_THAT(list(), ElementsAre(dir_ / "a.jpg"));
  EXPECT_THAT(log.text(),
              HasSubstr("folder " + dir_.path().string() +
                        ": 7 left out: 1 .gif (a video), 2 .heic (not supported), 1 .jxl (not "
                        "supported), 2 videos, 1 other file; 2 folders are not entered "
                        "(camera.recursive)"));
}

TEST_F(PictureFolder, RawAndRarePicturesAreNotSupported) {
  for (const char* name : {"a.jpg", "a.dng", "a.CR2", "a.nef", "a.hdr"}) make(name);
  const CapturedLog log;
  list();
  EXPECT_THAT(log.text(), HasSubstr("4 left out: 1 .cr2 (not supported), 1 .dng (not supported), "
                                    "1 .hdr (not supported), 1 .nef (not supported)"));
}

TEST_F(PictureFolder, NothingIsSaidWhenNothingIsLeftOut) {
  make("a.jpg");
  make(".hidden.txt");
  const CapturedLog log;
  list();
  EXPECT_THAT(log.text(), IsEmpty());
}

TEST_F(PictureFolder, AFolderWithoutPicturesSaysWhatItHas) {
  const std::string nothing = "there are no pictures in folder " + dir_.path().string();
  expect_error(ErrorKind::kNoInput, nothing, [this] { list(); });
  make("a.heic");
  make("in/b.jpg");
  expect_error(
      ErrorKind::kNoInput,
      nothing + ": 1 left out: 1 .heic (not supported); 1 folder is not entered (camera.recursive)",
      [this] { list(); });
}

TEST_F(PictureFolder, RecursiveEntersFoldersInNaturalOrder) {
  for (const char* name : {"img2.jpg", "img10.jpg", "day2/b.jpg", "day10/c.jpg", "day2/deep/d.jpg",
                           ".hidden/e.jpg", "day2/notes.txt"}) {
    make(name);
  }
  const CapturedLog log;
  EXPECT_THAT(list(true), ElementsAre(dir_ / "day2/b.jpg", dir_ / "day2/deep/d.jpg",
                                      dir_ / "day10/c.jpg", dir_ / "img2.jpg", dir_ / "img10.jpg"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("1 left out: 1 other file"), Not(HasSubstr("folders"))));
}

TEST_F(PictureFolder, EachFolderIsEnteredOnceThoughLinksLeadInACircle) {
  make("in/a.jpg");
  fs::create_directory_symlink("..", dir_ / "in/up");
  fs::create_directory_symlink("in", dir_ / "same");
  fs::create_directory_symlink("nowhere", dir_ / "broken");
  EXPECT_EQ(list(true).size(), 1U);
}

TEST_F(PictureFolder, AFolderThatMayNotBeReadIsSaidAndPassedOver) {
  make("a.jpg");
  make("closed/b.jpg");
  fs::permissions(dir_.path(), fs::perms::all);
  fs::permissions(dir_ / "closed", fs::perms::none);
  expect_error_unprivileged(ErrorKind::kInternal, "closed cannot be read", [this] {
    const CapturedLog log;
    const bool found = list(true).size() == 1;
    throw Error(ErrorKind::kInternal, found ? log.text() : "");
  });
  fs::permissions(dir_ / "closed", fs::perms::all);
}

TEST_F(PictureFolder, KnowsPicturesByTheirExtension) {
  for (const auto* name :
       {"a.jpg", "a.JPEG", "dir/a.b.png", "a.webp", "a.tiff", "a.dib", "a.jfif"}) {
    EXPECT_TRUE(has_picture_extension(name)) << name;
  }
  for (const auto* name :
       {"a.mp4", "jpg", ".jpg", "a.jpg/b", "a", "", "a.heic", "a.avif", "a.jp2"}) {
    EXPECT_FALSE(has_picture_extension(name)) << name;
  }
}

}  // namespace
}  // namespace lookout
