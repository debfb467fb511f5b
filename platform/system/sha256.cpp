#include "platform/system/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

#include "platform/system/input_file.h"

namespace lookout {

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file = open_input("file", path.string());
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  bool ok = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::array<char, 1 << 16> buffer{};
  while (ok && file) {
    file.read(buffer.data(), buffer.size());
    ok = EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(file.gcount())) ==
         1;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ok = ok && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  if (!ok || file.bad()) {
    throw cannot_read("file " + path.string(), std::make_error_code(std::errc::io_error));
  }
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace lookout
