#include "platform/system/file_bytes.h"

#include <filesystem>
#include <system_error>

namespace lookout {

FileBytes::FileBytes(const std::string& path) : file_(path, std::ios::binary) {
  std::error_code error;
  size_ = std::filesystem::file_size(path, error);
  if (error) size_ = 0;
}

std::string FileBytes::text(std::uint64_t place, std::size_t count) {
  if (place >= size_) return {};
  constexpr std::size_t kWindow = 64 * 1024;
  const bool inside = place >= window_place_ && place - window_place_ + count <= window_.size();
  if (!inside) {
    window_.resize(kWindow);
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(place));
    file_.read(window_.data(), static_cast<std::streamsize>(window_.size()));
    window_.resize(static_cast<std::size_t>(file_.gcount()));
    window_place_ = place;
  }
  return window_.substr(static_cast<std::size_t>(place - window_place_), count);
}

std::uint64_t FileBytes::big_endian(std::uint64_t place, std::size_t count) {
  std::uint64_t value = 0;
  for (const unsigned char byte : text(place, count)) value = value << 8U | byte;
  return value;
}

std::uint64_t FileBytes::little_endian(std::uint64_t place, std::size_t count) {
  const std::string bytes = text(place, count);
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

}  // namespace lookout
