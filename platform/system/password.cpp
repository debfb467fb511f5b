#include "platform/system/password.h"

#include <crypt.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"
#include "platform/system/service.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kYescrypt = "$y$";
constexpr const char* kWhat = "the password file";

// Bytes of UTF-8 that begin a character.
std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

// Empty when the library refuses. Its memory is cleared, since it had the password.
std::string crypt_text(const std::string& password, const std::string& setting) {
  const auto data = std::make_unique<crypt_data>();
  const char* hash = crypt_r(password.c_str(), setting.c_str(), data.get());
  // One that begins with a star is an error of older libraries.
  const std::string text = hash == nullptr || *hash == '*' ? "" : hash;
  explicit_bzero(data.get(), sizeof(crypt_data));
  return text;
}

std::optional<gid_t> group_of_service() {
  if (geteuid() != 0) return std::nullopt;
  const group* members = getgrnam(kServiceUser);
  if (members == nullptr) return std::nullopt;
  return members->gr_gid;
}

}  // namespace

std::string reason_against_password(std::string_view password) {
  if (count_characters(password) < kMinPassword) {
    return fmt::format("has fewer than {} characters", kMinPassword);
  }
  if (password.size() > kMaxPassword) return fmt::format("has more than {} bytes", kMaxPassword);
  const bool has_control = std::any_of(password.begin(), password.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20U || byte == 0x7F;
  });
  return has_control ? "has a control character" : "";
}

std::string hash_password(const std::string& password) {
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> setting{};
  const char* made =
      crypt_gensalt_rn(kYescrypt, 0, nullptr, 0, setting.data(), static_cast<int>(setting.size()));
  std::string hash = made == nullptr ? "" : crypt_text(password, made);
  if (hash.empty()) throw Error(ErrorKind::kInternal, "libcrypt makes no yescrypt hash");
  return hash;
}

bool is_password(const std::string& password, const std::string& hash) {
  const bool is_text = !hash.empty() && password.find('\0') == std::string::npos;
  return is_text && are_secrets_equal(crypt_text(password, hash), hash);
}

std::string read_password_hash(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored) && !ignored) return {};
  std::string hash = read_secret(kWhat, file);
  hash.resize(std::min(hash.find_first_of("\r\n"), hash.size()));
  if (hash.rfind('$', 0) == 0) return hash;
  throw Error(ErrorKind::kConfig, fmt::format("{} {} holds no hash: make it by lookout password",
                                              kWhat, file.string()));
}

FileAccess password_access() {
  constexpr mode_t kMine = 0600;
  constexpr mode_t kForService = 0640;
  const auto group = group_of_service();
  return {group ? kForService : kMine, group};
}

void write_password_hash(const fs::path& file, const std::string& hash) {
  const AtomicFile target(kWhat, file);
  target.save([&hash](const WritePart& write) { write(hash + "\n"); }, password_access());
}

std::string random_secret(std::size_t bytes) {
  std::string text;
  while (bytes-- > 0) {
    unsigned char byte = 0;
    while (getrandom(&byte, 1, 0) != 1) {
      if (errno == EINTR) continue;
      throw Error(ErrorKind::kInternal,
                  "the kernel gives no random bytes: " + std::generic_category().message(errno));
    }
    append_format(text, "{:02x}", static_cast<unsigned int>(byte));
  }
  return text;
}

}  // namespace lookout
