#include "platform/http/http_address.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

TEST(HttpAddress, IsAnAddressWithAPortOrAUnixSocket) {
  const HttpAddress v4 = parse_http_address("127.0.0.1:8090");
  EXPECT_EQ(v4.host, "127.0.0.1");
  EXPECT_EQ(v4.port, 8090);
  EXPECT_EQ(to_text(v4), "http://127.0.0.1:8090/");
  const HttpAddress v6 = parse_http_address("[::]:0");
  EXPECT_EQ(v6.host, "::");
  EXPECT_EQ(v6.port, 0);
  EXPECT_EQ(to_text(v6), "http://[::]:0/");
  const HttpAddress path = parse_http_address("unix:/run/lookout/http");
  EXPECT_EQ(path.path, "/run/lookout/http");
  EXPECT_EQ(to_text(path), "unix:/run/lookout/http");
}

TEST(HttpAddress, OtherTextsAreRefused) {
  const std::string long_path(200, 'x');
  for (const std::string& text :
       {std::string(), std::string("8090"), std::string(":8090"), std::string("127.0.0.1"),
        std::string("localhost:80"), std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"),
        std::string("127.0.0.1:"), std::string("::1:80"), std::string("[127.0.0.1]:80"),
        std::string("[::1]"), std::string("[]:80"), std::string("unix:"), "unix:" + long_path,
        std::string("127.0.0.1\0.example:80", 21)}) {
    EXPECT_THROW(parse_http_address(text), Error) << text;
  }
}

// unix(7): 108 bytes with the NUL at the end.
TEST(HttpAddress, ThePathOfASocketHasALimit) {
  EXPECT_EQ(parse_http_address("unix:" + std::string(107, 'x')).path.size(), 107U);
  EXPECT_THROW(parse_http_address("unix:" + std::string(108, 'x')), Error);
}

TEST(HttpAddress, LoopbackIsWhatOtherMachinesDoNotReach) {
  for (const char* text : {"127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "unix:x"}) {
    EXPECT_TRUE(is_loopback(parse_http_address(text))) << text;
  }
  for (const char* text : {"0.0.0.0:80", "192.168.1.2:80", "[::]:80", "[fe80::1]:80"}) {
    EXPECT_FALSE(is_loopback(parse_http_address(text))) << text;
  }
}

}  // namespace
}  // namespace lookout
