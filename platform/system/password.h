// A password that is kept as its hash, and other secrets.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "platform/system/atomic_file.h"

namespace lookout {

constexpr std::size_t kMinPassword = 10;   // characters, of a new one
constexpr std::size_t kMaxPassword = 256;  // bytes

// Why nobody should have this password, in words that follow "the password": "has fewer than 10
// characters". Empty: there is no reason.
std::string reason_against_password(std::string_view password);

// The hash of crypt(3), by yescrypt at its default cost with a random salt: a text without blanks.
// Takes a tenth of a second and 16 MB on a small board. Throws Error(kInternal) when the library
// refuses. Any thread.
std::string hash_password(const std::string& password);

// Whether the hash is of this password. Takes as long. False when the hash is none. Any thread.
bool is_password(const std::string& password, const std::string& hash);

// The first line of the file, which is a hash; empty when there is no file. Throws what
// read_secret() does when the file cannot be read, and Error(kConfig) when it holds no hash. Any
// thread.
std::string read_password_hash(const std::filesystem::path& file);

// Who may read the file with the hash: with mode 0640 the service's group when this process is
// root's, else with 0600 nobody else.
FileAccess password_access();

// Writes the file as a whole, with that access. Throws as AtomicFile.
void write_password_hash(const std::filesystem::path& file, const std::string& hash);

// So many random bytes of the kernel, in hexadecimal. Throws Error(kInternal) when it has none. Any
// thread.
std::string random_secret(std::size_t bytes);

// Compares in a time that depends on the lengths alone.
inline bool are_secrets_equal(std::string_view given, std::string_view secret) {
  unsigned int difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

}  // namespace lookout
