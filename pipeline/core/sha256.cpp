#include "pipeline/core/sha256.h"

#include <sha2.h>

#include <cstdint>

namespace lookout {

std::string sha256(std::string_view bytes) {
  std::string hex(SHA256_DIGEST_STRING_LENGTH, '\0');  // and a zero byte
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), hex.data());
  hex.pop_back();
  return hex;
}

}  // namespace lookout
