#include "platform/system/password.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

mode_t mode_of(const std::string& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST(Password, AHashIsOfItsPasswordAlone) {
  const std::string hash = hash_password("correct horse");
  EXPECT_THAT(hash, StartsWith("$y$"));
  EXPECT_EQ(hash.find_first_of(" \n"), std::string::npos);
  EXPECT_TRUE(is_password("correct horse", hash));
  for (const char* wrong : {"", "correct hors", "correct horse ", "Correct horse"}) {
    EXPECT_FALSE(is_password(wrong, hash)) << wrong;
  }
  EXPECT_FALSE(is_password(std::string("correct horse\0x", 15), hash));
}

TEST(Password, EachHashHasASaltOfItsOwn) {
  EXPECT_NE(hash_password("correct horse"), hash_password("correct horse"));
}

TEST(Password, WhatIsNoHashIsOfNoPassword) {
  for (const char* hash : {"", "*0", "*1", "!", "$", "$y$", "$y$j9T$", "$none$salt$hash"}) {
    EXPECT_FALSE(is_password("correct horse", hash)) << hash;
    EXPECT_FALSE(is_password("", hash)) << hash;
  }
}

TEST(Password, OthersOfCryptAreUnderstood) {
  // SHA-512, as an administrator may have made it elsewhere.
  EXPECT_TRUE(is_password("correct horse",
                          "$6$rounds=1000$saltstring$YiR6NSM0LQXmu7vAhkMXfkdYk7qtFouVx1Mdr3HmzXspT8"
                          "kONjlpU3CsV7ezCB62uXJoAdaagsH4ck7/tB9js."));
}

TEST(Password, OneThatIsShortLongOrCannotBeTypedIsRefused) {
  EXPECT_EQ(reason_against_password("1234567890"), "");
  EXPECT_EQ(reason_against_password("äöüßäöüßäö"), "");
  EXPECT_EQ(reason_against_password("123456789"), "has fewer than 10 characters");
  EXPECT_EQ(reason_against_password("äöüßäöüßä"), "has fewer than 10 characters");
  EXPECT_EQ(reason_against_password(std::string(256, 'a')), "");
  EXPECT_EQ(reason_against_password(std::string(257, 'a')), "has more than 256 bytes");
  EXPECT_EQ(reason_against_password("123456789\t0"), "has a control character");
}

TEST(Password, TheFileIsItsOwnersAlone) {
  if (geteuid() == 0) GTEST_SKIP() << "root gives it to the service's group";
  const TempDir directory;
  const std::string file = directory / "lookout.password";
  write_password_hash(file, "$y$one");
  EXPECT_EQ(read_password_hash(file), "$y$one");
  EXPECT_EQ(mode_of(file), 0600U);
}

TEST(Password, TheFileIsReplacedAsAWhole) {
  const TempDir directory;
  const std::string file = directory.write("lookout.password", "$y$old\n");
  chmod(file.c_str(), 0644);
  write_password_hash(file, "$y$new");
  EXPECT_EQ(read_password_hash(file), "$y$new");
  EXPECT_EQ(mode_of(file) & 0007U, 0U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Password, NoFileIsNoPasswordAndAnotherFileIsAnError) {
  const TempDir directory;
  EXPECT_EQ(read_password_hash(directory / "none"), "");
  const std::string plain = directory.write("plain", "correct horse\n");
  chmod(plain.c_str(), 0600);
  expect_error(ErrorKind::kConfig, HasSubstr("holds no hash: make it by lookout password"),
               [&] { read_password_hash(plain); });
}

TEST(Password, RandomSecretsDiffer) {
  const std::string one = random_secret(32);
  EXPECT_EQ(one.size(), 64U);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one, random_secret(32));
}

TEST(Password, SecretsAreComparedAsAWhole) {
  EXPECT_TRUE(are_secrets_equal("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc"}) {
    EXPECT_FALSE(are_secrets_equal(other, "abc")) << other;
  }
}

}  // namespace
}  // namespace lookout
