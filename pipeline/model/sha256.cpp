#include "pipeline/model/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "pipeline/error.h"

namespace lookout {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorKind::kInternal, "OpenSSL has no SHA-256");
  }
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace lookout
