#include "app/install/qr_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace lookout {
namespace {

TEST(QrCode, AnAddressFitsIntoATerminal) {
  const std::string code = qr_code("http://192.168.178.120:8090/");
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'), 15) << "25 modules, and a frame of two";
  EXPECT_NE(code.find("\x1b[30;107m"), std::string::npos) << "black on white on any terminal";
}

TEST(QrCode, ALongTextHasNone) { EXPECT_EQ(qr_code(std::string(500, 'x')), ""); }

}  // namespace
}  // namespace lookout
