// Pictures from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/core/source.h"
#include "platform/cameras/source_options.h"

namespace lookout {

struct PictureOptions {
  bool recursive = false;  // of a folder, also the pictures in its folders
  std::int64_t max_pixels = kDefaultMaxPixels;
};

// Not live. Frames have the picture's own size; `origin` is the path as given, for a folder joined
// with the file's name.
class PictureSource : public Source {
 public:
  // A picture, or a folder: of that, list_pictures(), which may throw.
  explicit PictureSource(const std::string& path, const PictureOptions& options = {});
  // These, like those of a folder of that name.
  PictureSource(const std::string& name, std::vector<std::string> pictures);

  const SourceInfo& info() const override { return info_; }

  // Does not wait. A broken picture of a folder, or one of more than `max_pixels`, which is not
  // decoded, is named in the log and skipped; as the only input it throws Error(kNoInput).
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  SourceInfo info_;
  std::vector<std::string> pictures_;  // paths, in order
  std::size_t next_ = 0;               // of pictures_
  bool folder_ = false;
  std::int64_t max_pixels_ = kDefaultMaxPixels;
};

}  // namespace lookout
