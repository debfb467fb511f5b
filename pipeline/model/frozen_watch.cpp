#include "pipeline/model/frozen_watch.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>

namespace lookout {
namespace {

std::uint64_t hash_of(const void* bytes, std::size_t size) {
  return std::hash<std::string_view>()({static_cast<const char*>(bytes), size});
}

std::uint64_t combined(std::uint64_t one, std::uint64_t other) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;  // 2^64 / the golden ratio
  return (one ^ other) * kOdd;
}

// Of 1 byte in 31, in pieces that lie all over the picture.
std::uint64_t hash_of_pieces(const unsigned char* bytes, std::size_t size, std::uint64_t hash) {
  constexpr std::size_t kPiece = 128;
  constexpr std::size_t kStep = 31 * kPiece;  // no multiple of a line, as a rule
  for (std::size_t i = 0; i < size; i += kStep) {
    hash = combined(hash, hash_of(bytes + i, std::min(kPiece, size - i)));
  }
  return hash;
}

std::uint64_t hash_of(const Frame& frame) {
  const CameraPicture& picture = frame.picture;
  if (picture.kind == CameraPicture::Kind::kJpeg) {
    return hash_of(picture.bytes.data(), picture.bytes.size());
  }
  if (picture.kind == CameraPicture::Kind::kRaw) {
    return hash_of_pieces(picture.bytes.data(), picture.bytes.size(), 0);
  }
  if (frame.bgr.isContinuous()) {
    return hash_of_pieces(frame.bgr.data, frame.bgr.total() * frame.bgr.elemSize(), 0);
  }
  std::uint64_t hash = 0;
  for (int y = 0; y < frame.bgr.rows; ++y) {
    const auto size = static_cast<std::size_t>(frame.bgr.cols) * frame.bgr.elemSize();
    hash = hash_of_pieces(frame.bgr.ptr(y), size, hash);
  }
  return hash;
}

// Whether there is nothing to see.
bool is_even(const LumaBlocks& blocks) {
  constexpr int kContrast = 4 * LumaBlocks::kUnit;
  if (blocks.means.empty()) return true;
  const auto [low, high] = std::minmax_element(blocks.means.begin(), blocks.means.end());
  return *high - *low < kContrast;
}

}  // namespace

bool FrozenWatch::is_frozen(const Frame& frame, const LumaBlocks& blocks) {
  const std::uint64_t hash = combined(
      hash_of(frame), hash_of(blocks.means.data(), blocks.means.size() * sizeof(blocks.means[0])));
  if (!since_ || hash != hash_) {
    told_ = told_ && hash == hash_;
    since_ = frame.captured;
    hash_ = hash;
    return false;
  }
  if (told_ || frame.captured - *since_ < kPatience || is_even(blocks)) return false;
  told_ = true;
  return true;
}

}  // namespace lookout
