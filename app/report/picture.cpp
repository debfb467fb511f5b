#include "app/report/picture.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "app/report/html.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "platform/sources/picture_source.h"
#include "platform/system/thumbnail.h"

namespace lookout {
namespace {

constexpr int kThumbnailSide = 160;

}  // namespace

std::string thumbnail_of(const std::string& path) {
  try {
    Frame frame;
    PictureSource source(path);
    if (source.read(frame, std::chrono::milliseconds(0)) != ReadStatus::kFrame) return {};
    return thumbnail_uri(whole_picture(frame), kThumbnailSide);
  } catch (const Error&) {
    return {};
  }
}

std::string picture_html(const PictureEntry& picture) {
  const std::string file = std::filesystem::path(picture.file).filename().string();
  std::string out = "<li><figure>";
  if (!picture.thumbnail.empty()) {
    append_format(out, "<img src=\"{}\" alt=\"{}\" title=\"{}\"/>", escaped(picture.thumbnail),
                  escaped(file + ", taken for " + picture.label), escaped(picture.file));
  }
  append_format(out, "<figcaption><b>{}</b> {:.0f} %<br/>{}</figcaption></figure></li>\n",
                escaped(picture.label), 100 * picture.score, escaped(file));
  return out;
}

}  // namespace lookout
