#include "platform/system/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <istream>
#include <memory>

#include "pipeline/error.h"
#include "platform/system/input_file.h"

namespace lookout {

std::string sha256_of_file(const std::filesystem::path& path) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  bool ok = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  read_input("file", path.string(), [&context, &ok](std::istream& file) {
    std::array<char, 1 << 16> part{};
    while (ok && file) {
      file.read(part.data(), part.size());
      const auto size = static_cast<std::size_t>(file.gcount());
      ok = EVP_DigestUpdate(context.get(), part.data(), size) == 1;
    }
  });
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ok = ok && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  if (!ok) throw Error(ErrorKind::kInternal, "OpenSSL has no SHA-256");
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace lookout
