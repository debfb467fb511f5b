// Pictures from files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/source.h"

namespace lookout {

// Whether the name's extension is that of a picture, in either case.
bool has_picture_extension(const std::string& path);

// Not live. Frames have the picture's own size; `origin` is the path as given, for a folder joined
// with the file's name.
class PictureSource : public Source {
 public:
  // A picture, or a folder: of that, the pictures directly within, by their extension, without
  // hidden ones, in the order people expect (img2 before img10). Throws Error(kNoInput) for a
  // folder without pictures, Error(kPermission) for one that may not be listed.
  explicit PictureSource(const std::string& path);

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
