#include "app/install/password_command.h"

#include <deque>

#include "platform/system/password.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;

class PasswordCommandTest : public testing::Test {
 protected:
  PasswordCommandTest() { options_.config_file = directory_ / "front.toml"; }

  // What somebody types.
  std::string change(std::deque<std::string> lines, bool is_terminal = true) {
    PasswordInput input;
    input.is_terminal = is_terminal;
    input.read_line = [this, &lines](const std::string& question) {
      questions_ += question;
      std::string line = lines.front();
      lines.pop_front();
      return line;
    };
    return change_password(options_, command_, input);
  }
  std::string hash() const { return read_password_hash(directory_ / "front.password"); }

  TempDir directory_;
  RunOptions options_;
  PasswordOptions command_;
  std::string questions_;
};

TEST_F(PasswordCommandTest, ItIsAskedForTwiceAndKeptBesideTheConfiguration) {
  EXPECT_THAT(change({"correct horse", "correct horse"}),
              HasSubstr("front.password, as its hash. Nobody can log in until http.teach = true."));
  EXPECT_TRUE(is_password("correct horse", hash()));
  EXPECT_EQ(questions_, "New password: The same again: ");
}

TEST_F(PasswordCommandTest, AFileOrPipeSaysItOnce) {
  options_.http.teach = true;
  EXPECT_THAT(change({"correct horse"}, false), HasSubstr("It is asked for from now on"));
  EXPECT_TRUE(is_password("correct horse", hash()));
}

TEST_F(PasswordCommandTest, OneThatIsShortOrTypedDifferentlyChangesNothing) {
  expect_error(ErrorKind::kUsage, HasSubstr("fewer than 10 characters; nothing was changed"),
               [this] { change({"123456789"}); });
  expect_error(ErrorKind::kUsage, HasSubstr("differ; nothing was changed"), [this] {
    change({"correct horse", "correct house"});
  });
  EXPECT_EQ(hash(), "");
}

TEST_F(PasswordCommandTest, ItIsRemoved) {
  change({"correct horse"}, false);
  command_.remove = true;
  EXPECT_THAT(change({}), HasSubstr("is removed: nobody can log in"));
  EXPECT_EQ(hash(), "");
  EXPECT_THAT(change({}), HasSubstr("There is no password in"));
}

TEST_F(PasswordCommandTest, AFileOfAnotherNameIsNamedByTheConfiguration) {
  options_.http.password_file = directory_ / "other";
  change({"correct horse"}, false);
  EXPECT_EQ(hash(), "");
  EXPECT_NE(read_password_hash(directory_ / "other"), "");
}

TEST_F(PasswordCommandTest, WithoutAPlaceNobodyIsAsked) {
  options_.config_file.clear();
  expect_error(ErrorKind::kConfig, HasSubstr("http.password-file=FILE"), [this] { change({}); });
  options_.config_file = directory_ / "none/front.toml";
  expect_error(ErrorKind::kOutput, HasSubstr("cannot be written"), [this] { change({}); });
}

}  // namespace
}  // namespace lookout
