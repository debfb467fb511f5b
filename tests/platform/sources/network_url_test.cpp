#include "platform/sources/network_url.h"

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NetworkUrl, WhatMayBeShownHasNoSecrets) {
  EXPECT_EQ(shown_url("rtsp://camera:554/stream"), "rtsp://camera:554/stream");
  EXPECT_EQ(shown_url("rtsp://camera"), "rtsp://camera");
  EXPECT_EQ(shown_url("rtsp://user:secret@camera:554/stream"), "rtsp://***@camera:554/stream");
  EXPECT_EQ(shown_url("http://[::1]:80/a?user=u&password=secret"), "http://[::1]:80/a?***");
  EXPECT_EQ(shown_url("rtsp://camera/user=u_password=secret_channel=1.sdp"), "rtsp://camera/***");
  EXPECT_EQ(shown_url("http://camera?secret"), "http://camera?***");
  EXPECT_EQ(shown_url("http://camera/a#secret"), "http://camera/a");
  // Not escaped, which no address may have.
  for (const char* text : {"http://user:p@secret@h/a", "rtsp://user:/secret@h",
                           "rtsp://u:?secret@h/", "rtsp://u:secret@[", "rtsp://u:sec#ret@h"}) {
    EXPECT_THAT(shown_url(text), testing::AllOf(Not(HasSubstr("sec")), HasSubstr("://***@")));
  }
}

TEST(NetworkUrl, ALineHasNoSecrets) {
  EXPECT_EQ(hide_secrets("[http @ 0x1] a 'http://u:secret@h/a?b', then tcp://h:1?timeout=2 failed"),
            "[http @ 0x1] a 'http://***@h/a?***', then tcp://h:1?*** failed");
  EXPECT_EQ(hide_secrets("rtsp://u:secret@h/a"), "rtsp://***@h/a");
  EXPECT_EQ(hide_secrets("HTTP error 401"), "HTTP error 401");
  EXPECT_EQ(hide_secrets("://"), "://");
  EXPECT_EQ(hide_secrets(""), "");
}

TEST(NetworkUrl, TheHostIsTheName) {
  EXPECT_EQ(host_of("rtsp://user:secret@camera:554/stream"), "camera");
  EXPECT_EQ(host_of("http://192.0.2.1/a:b@c"), "192.0.2.1");
  EXPECT_EQ(host_of("http://[2001:db8::1]:8080/"), "[2001:db8::1]");
  EXPECT_EQ(host_of("http://[::1]"), "[::1]");
}

TEST(NetworkUrl, CredentialsAreEscaped) {
  EXPECT_EQ(with_credentials("rtsp://camera:554/a", "user:p@ss:/#%\n"),
            "rtsp://user:p%40ss%3A%2F%23%25@camera:554/a");
  EXPECT_EQ(with_credentials("http://camera", "user:\r\nmore"), "http://user:@camera");
}

TEST(NetworkUrl, BadCredentialsAreAnErrorWithoutThem) {
  for (const char* content : {"", "secret", ":secret", "\nuser:secret"}) {
    expect_error(ErrorKind::kUsage,
                 testing::AllOf(HasSubstr("USER:PASSWORD"), Not(HasSubstr("secret"))),
                 [&] { with_credentials("rtsp://camera", content); });
  }
  expect_error(
      ErrorKind::kUsage,
      testing::AllOf(HasSubstr("rtsp://***@camera has a user name"), Not(HasSubstr("secret"))),
      [] { with_credentials("rtsp://u:secret@camera", "user:secret"); });
}

}  // namespace
}  // namespace lookout
