// Pictures from files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/source.h"

namespace lookout {

// Whether the name's extension is that of a picture, in either case.
bool has_picture_extension(const std::string& path);

// The pictures directly within a folder, by their extension, without hidden ones, in the order
// people expect (img2 before img10): paths, joined with the folder as given. Throws Error(kNoInput)
// when there are none, Error(kPermission) when it may not be listed.
std::vector<std::string> list_pictures(const std::string& folder);

// Not live. Frames have the picture's own size; `origin` is the path as given, for a folder joined
// with the file's name.
class PictureSource : public Source {
 public:
  // A picture, or a folder: of that, list_pictures(), which may throw.
  explicit PictureSource(const std::string& path);
  // These, like those of a folder of that name.
  PictureSource(const std::string& name, std::vector<std::string> pictures);

  const SourceInfo& info() const override { return info_; }

  // Does not wait. A broken picture of a folder is named in the log and skipped; a broken picture
  // that is the only input throws Error(kNoInput).
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  SourceInfo info_;
  std::vector<std::string> pictures_;  // paths, in order
  std::size_t next_ = 0;               // of pictures_
  bool folder_ = false;
};

}  // namespace lookout
