#include "platform/pictures/picture_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace lookout {
namespace {

using namespace std::string_view_literals;

enum class Kind { kRead, kHeif, kAvif, kPicture, kFilm };

struct Format {
  std::size_t place;
  std::string_view bytes;  // which a file has there
  std::string_view name;
  Kind kind;
  PictureFormat format = PictureFormat::kOther;
};

// ISO base media files come by their brands (ISO/IEC 23008-12, annex B; AVIF 1.1, 6).
constexpr std::array<Format, 48> kFormats{{
    {0, "\xff\xd8\xff"sv, "JPEG", Kind::kRead, PictureFormat::kJpeg},
    {0, "\x89PNG\r\n\x1a\n"sv, "PNG", Kind::kRead, PictureFormat::kPng},
    {8, "WEBP"sv, "WebP", Kind::kRead, PictureFormat::kWebp},
    {0, "II*\0"sv, "TIFF", Kind::kRead, PictureFormat::kTiff},
    {0, "MM\0*"sv, "TIFF", Kind::kRead, PictureFormat::kTiff},
    {0, "II+\0"sv, "TIFF", Kind::kRead, PictureFormat::kTiff},
    {0, "MM\0+"sv, "TIFF", Kind::kRead, PictureFormat::kTiff},
    {0, "BM"sv, "BMP", Kind::kRead, PictureFormat::kBmp},
    {4, "ftypheic"sv, kHeic, Kind::kHeif},
    {4, "ftypheix"sv, kHeic, Kind::kHeif},
    {4, "ftypheim"sv, kHeic, Kind::kHeif},
    {4, "ftypheis"sv, kHeic, Kind::kHeif},
    {4, "ftyphevc"sv, kHeic, Kind::kHeif},
    {4, "ftyphevx"sv, kHeic, Kind::kHeif},
    {4, "ftypmif1"sv, kHeic, Kind::kHeif},
    {4, "ftypmsf1"sv, kHeic, Kind::kHeif},
    {4, "ftypheif"sv, kHeic, Kind::kHeif},
    {4, "ftypavif"sv, "AVIF", Kind::kAvif},
    {4, "ftypavis"sv, "AVIF", Kind::kAvif},
    {4, "ftypjp2"sv, "JPEG 2000", Kind::kPicture},
    {4, "jP  \r\n\x87\n"sv, "JPEG 2000", Kind::kPicture},
    {0, "\xff\x4f\xff\x51"sv, "JPEG 2000", Kind::kPicture},
    {4, "JXL \r\n\x87\n"sv, "JPEG XL", Kind::kPicture},
    {0, "\xff\x0a"sv, "JPEG XL", Kind::kPicture},
    {0, "\x76\x2f\x31\x01"sv, "OpenEXR", Kind::kPicture},
    {0, "#?RADIANCE"sv, "Radiance HDR", Kind::kPicture},
    {0, "#?RGBE"sv, "Radiance HDR", Kind::kPicture},
    {0, "\x59\xa6\x6a\x95"sv, "a Sun raster", Kind::kPicture},
    {0, "P1\n"sv, "PBM", Kind::kPicture},
    {0, "P2\n"sv, "PGM", Kind::kPicture},
    {0, "P3\n"sv, "PPM", Kind::kPicture},
    {0, "P4\n"sv, "PBM", Kind::kPicture},
    {0, "P5\n"sv, "PGM", Kind::kPicture},
    {0, "P6\n"sv, "PPM", Kind::kPicture},
    {0, "P7\n"sv, "PAM", Kind::kPicture},
    {0, "PF\n"sv, "PFM", Kind::kPicture},
    {0, "Pf\n"sv, "PFM", Kind::kPicture},
    {0, "8BPS"sv, "a Photoshop document", Kind::kPicture},
    {0, "%PDF"sv, "a PDF", Kind::kPicture},
    {0, "<svg"sv, "SVG", Kind::kPicture},
    {0, "<!DOCTYPE html"sv, "a web page", Kind::kPicture},
    {0, "<!doctype html"sv, "a web page", Kind::kPicture},
    {0, "<html"sv, "a web page", Kind::kPicture},
    {0, "<HTML"sv, "a web page", Kind::kPicture},
    {0, "GIF8"sv, "GIF", Kind::kFilm},
    {8, "AVI "sv, "a video", Kind::kFilm},
    {4, "ftyp"sv, "a video", Kind::kFilm},
    {0, "\x1a\x45\xdf\xa3"sv, "a video", Kind::kFilm},
}};

bool has(std::string_view start, std::size_t place, std::string_view bytes) {
  return start.size() >= place && start.substr(place, bytes.size()) == bytes;
}

// Null: none of them.
const Format* find_format(std::string_view start) {
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& each) {
    return has(start, each.place, each.bytes);
  });
  return found == kFormats.end() ? nullptr : found;
}

bool is_animated_webp(std::string_view start) {
  constexpr std::size_t kFlags = 20;  // of the header of an extended file
  constexpr unsigned kAnimation = 2;
  return start.size() > kFlags && has(start, 8, "WEBPVP8X") &&
         (static_cast<unsigned char>(start[kFlags]) & kAnimation) != 0;
}

}  // namespace

PictureFormat picture_format(std::string_view start) {
  const Format* format = find_format(start);
  return format == nullptr ? PictureFormat::kOther : format->format;
}

std::string_view format_name(std::string_view start) {
  const Format* format = find_format(start);
  return format == nullptr ? std::string_view() : format->name;
}

std::optional<std::string> unreadable_format(std::string_view start) {
  if (is_animated_webp(start)) {
    return "is an animated WebP, which is not supported; convert it to a GIF or a video";
  }
  const Format* format = find_format(start);
  switch (format == nullptr ? Kind::kRead : format->kind) {
    case Kind::kHeif:
      return "is a HEIC picture, which is not supported; convert it: heif-convert A.heic A.jpg";
    case Kind::kAvif:
      return "is an AVIF picture, which is not supported; convert it to JPEG or PNG";
    case Kind::kPicture:
      return fmt::format("is {}, which is not read; JPEG, PNG, WebP, TIFF and BMP are",
                         format->name);
    default:
      return std::nullopt;
  }
}

}  // namespace lookout
