#include "platform/http/http_access.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

const HttpAccess kAccess{{"camera.example"}, "sixteen letters:", ""};

TEST(HttpAccess, TheHostIsThisMachineOrAConfiguredName) {
  for (const char* host :
       {"localhost", "LocalHost:8090", "localhost.", "127.0.0.1:8090", "10.0.0.7", "[::1]:8090",
        "[fe80::1]", "camera.example", "Camera.Example:443"}) {
    EXPECT_TRUE(is_host_allowed(kAccess, host)) << host;
  }
  for (const char* host :
       {"", ":8090", "evil.example", "localhost.evil.example", "evil.camera.example",
        "127.0.0.1.evil.example", "[::1", "[]", "[::1].evil.com", "[::1]x:80", "[::1]:80.evil.com",
        "[localhost]", "[127.0.0.1]", "localhost:80.evil.com", "localhost:a"}) {
    EXPECT_FALSE(is_host_allowed(kAccess, host)) << host;
  }
  EXPECT_FALSE(is_host_allowed(kAccess, std::string("127.0.0.1\0.evil.example", 23)));
}

TEST(HttpAccess, TheOriginIsThisServerOrAConfiguredName) {
  EXPECT_TRUE(is_origin_allowed(kAccess, "", "localhost"));
  EXPECT_TRUE(is_origin_allowed(kAccess, "http://localhost:8090", "localhost:8090"));
  EXPECT_TRUE(is_origin_allowed(kAccess, "https://camera.example", "localhost"));
  EXPECT_FALSE(is_origin_allowed(kAccess, "http://localhost:80", "localhost:8090"));
  EXPECT_FALSE(is_origin_allowed(kAccess, "http://evil.example", "localhost"));
  EXPECT_FALSE(is_origin_allowed(kAccess, "null", "localhost"));
}

// Another program of the same host, or another one's page, has another port.
TEST(HttpAccess, AnOriginOnAnotherPortIsNotThisServer) {
  EXPECT_TRUE(is_origin_allowed(kAccess, "http://Camera.Example", "10.0.0.7"));
  EXPECT_TRUE(is_origin_allowed(kAccess, "http://camera.example:8090", "camera.example:8090"));
  EXPECT_FALSE(is_origin_allowed(kAccess, "http://camera.example:3000", "camera.example:8090"));
  EXPECT_FALSE(is_origin_allowed(kAccess, "https://camera.example:3000", "camera.example"));
  HttpAccess access = kAccess;
  access.origin = "https://camera.example:8443";
  EXPECT_TRUE(is_origin_allowed(access, "https://camera.example:8443", "localhost:8090"));
  EXPECT_FALSE(is_origin_allowed(access, "http://camera.example:8443", "localhost:8090"));
}

TEST(HttpAccess, TheOriginOfAUrlIsWhatBrowsersSend) {
  EXPECT_EQ(origin_of_url("https://Camera.Example:443/path?a#b"), "https://camera.example");
  EXPECT_EQ(origin_of_url("HTTP://pi.local:80"), "http://pi.local");
  EXPECT_EQ(origin_of_url("http://pi.local:443/"), "http://pi.local:443");
  EXPECT_EQ(origin_of_url("https://[::1]:8443"), "https://[::1]:8443");
  for (const char* wrong : {"", "camera.example", "ftp://camera.example", "https://", "https:///a",
                            "https://me@camera.example", "https://camera.example:x"}) {
    EXPECT_EQ(origin_of_url(wrong), "") << wrong;
  }
  EXPECT_EQ(name_of_url("https://Camera.Example:8443/path"), "camera.example");
}

TEST(HttpAccess, TheTokenComesAsBearerOrAsAPassword) {
  EXPECT_TRUE(is_token_right(kAccess, "Bearer sixteen letters:"));
  EXPECT_TRUE(is_token_right(kAccess, "bearer sixteen letters:"));
  EXPECT_TRUE(is_token_right(kAccess, "Basic bWU6c2l4dGVlbiBsZXR0ZXJzOg=="));  // me:TOKEN
  EXPECT_TRUE(is_token_right(kAccess, "Basic OnNpeHRlZW4gbGV0dGVyczo="));      // :TOKEN
  EXPECT_TRUE(is_token_right(HttpAccess{}, ""));
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer sixteen letters",
        "Bearer sixteen letters::", "Bearer Sixteen letters:", "Bearer sixteen letters.",
        "sixteen letters:", "Basic c2l4dGVlbiBsZXR0ZXJz", "Basic ????",
        "Digest sixteen letters:"}) {
    EXPECT_FALSE(is_token_right(kAccess, wrong)) << wrong;
  }
}

TEST(HttpAccess, Base64IsDecoded) {
  EXPECT_EQ(from_base64("YQ=="), "a");
  EXPECT_EQ(from_base64("YWI="), "ab");
  EXPECT_EQ(from_base64("YWJj"), "abc");
  for (const char* wrong : {"", "Y", "YQ", "YQ=", "Y===", "====", "Y Q=", "YQ==YQ=="}) {
    EXPECT_EQ(from_base64(wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace lookout
