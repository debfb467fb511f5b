#include "platform/webhook/webhook_settings.h"

#include <string>
#include <vector>

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

MessageFields change() { return {"front", "", "open", "closed", 0.5F, "now"}; }

class WebhookSettingsTest : public testing::Test {
 protected:
  WebhookSettingsTest() { text_.url = "https://host/topic"; }

  WebhookRequest request() const {
    return make_request(parse_webhook(text_), change(), "the picture");
  }
  void expect_refused(const testing::Matcher<std::string>& sentence) const {
    expect_error(ErrorKind::kConfig, sentence, [this] { parse_webhook(text_); });
  }

  WebhookText text_;
};

TEST_F(WebhookSettingsTest, WithAUrlAloneTheStateIsSentAsText) {
  const WebhookRequest request = this->request();
  EXPECT_EQ(request.url, "https://host/topic");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.body, "front: open");
  EXPECT_THAT(request.headers, ElementsAre("Content-Type: text/plain; charset=utf-8"));
  EXPECT_THAT(request.form, IsEmpty());
  EXPECT_EQ(request.picture, "");
}

TEST_F(WebhookSettingsTest, JsonIsSentAsJson) {
  text_.body = R"({"message": "{state}"})";
  EXPECT_EQ(request().body, R"({"message": "open"})");
  EXPECT_THAT(request().headers, ElementsAre("Content-Type: application/json"));
}

TEST_F(WebhookSettingsTest, AContentTypeMakesABodyJson) {
  text_.body = "{state}";
  text_.headers = {"content-type: application/json; charset=utf-8"};
  EXPECT_EQ(request().body, "\"open\"");
  EXPECT_EQ(request().headers, text_.headers);
}

TEST_F(WebhookSettingsTest, ThePictureMayBeTheBody) {
  text_.picture = "body";
  text_.headers = {"Title: {camera}", "Message: {previous}, now {state}"};
  EXPECT_EQ(request().body, "the picture");
  EXPECT_THAT(request().headers,
              ElementsAre("Title: front", "Message: closed, now open", "Content-Type: image/jpeg"));
}

TEST_F(WebhookSettingsTest, ThePictureMayBeAFieldOfAForm) {
  text_.picture = "photo";
  text_.form = {"chat_id: 42", "caption: {camera}: {state}", "empty:"};
  const WebhookRequest request = this->request();
  EXPECT_THAT(request.form, ElementsAre(Pair("chat_id", "42"), Pair("caption", "front: open"),
                                        Pair("empty", "")));
  EXPECT_EQ(request.picture_field, "photo");
  EXPECT_EQ(request.picture, "the picture");
  EXPECT_EQ(request.body, "");
  EXPECT_THAT(request.headers, IsEmpty());
}

TEST_F(WebhookSettingsTest, GetHasNoBody) {
  text_.method = "GET";
  text_.url = "http://relay/0?turn={state}";
  EXPECT_EQ(request().url, "http://relay/0?turn=open");
  EXPECT_EQ(request().body, "");
  EXPECT_THAT(request().headers, IsEmpty());
}

TEST_F(WebhookSettingsTest, HeadersOfAFileAreSentAsTheyAre) {
  text_.secret_headers = {"Authorization: Bearer {state}"};
  EXPECT_THAT(request().headers, Contains("Authorization: Bearer {state}"));
}

TEST_F(WebhookSettingsTest, LogsKnowTheHostAlone) {
  text_.url_is_secret = true;
  for (const auto& [url, host] : std::vector<std::pair<std::string, std::string>>{
           {"https://api.telegram.org/bot1:secret/sendPhoto", "api.telegram.org"},
           {"HTTP://me:secret@host:8123/api?key=secret", "host:8123"},
           {"http://[::1]:80", "[::1]:80"}}) {
    text_.url = url;
    EXPECT_EQ(parse_webhook(text_).host, host);
  }
}

TEST_F(WebhookSettingsTest, WhatIsNoUrlIsRefusedWithoutShowingIt) {
  for (const char* url : {"", "host/secret", "ftp://host/secret", "file:///secret", "http://",
                          "http://ho st/secret", "http://host:99999/secret", "http://host:/secret",
                          "http://{camera}/secret", "http://host/secret\n", "http://[::1/secret"}) {
    text_.url = url;
    expect_refused(AllOf(HasSubstr("webhook.url: expected a URL"), Not(HasSubstr("secret"))));
  }
  text_.url = "http://me:secret@host";
  expect_refused(AllOf(HasSubstr("webhook.url-file"), Not(HasSubstr("secret"))));
}

TEST_F(WebhookSettingsTest, WhatIsNoHeaderIsRefused) {
  for (const char* header : {"no header", ": value", "a b: c", "Title: a\r\nX: b"}) {
    text_.headers = {header};
    expect_refused(HasSubstr("webhook.headers: expected headers"));
    text_.headers.clear();
    text_.secret_headers = {header};
    expect_refused(HasSubstr("webhook.headers-file: expected"));
    text_.secret_headers.clear();
  }
}

TEST_F(WebhookSettingsTest, UnknownPlaceholdersAreRefusedWhereverTheyStand) {
  text_.headers = {"Title: {stat}"};
  expect_refused(HasSubstr("webhook.headers: there is no {stat}"));
  text_.headers.clear();
  text_.url = "https://host/{stat}";
  expect_refused(HasSubstr("webhook.url: there is no {stat}"));
  text_.url = "https://host";
  text_.form = {"caption: {stat}"};
  expect_refused(HasSubstr("webhook.form: there is no {stat}"));
}

TEST_F(WebhookSettingsTest, WhatDoesNotGoTogetherIsRefused) {
  text_.picture = "body";
  text_.body = "{state}";
  expect_refused(HasSubstr("leaves no place"));
  text_.picture = "photo";
  expect_refused(HasSubstr("do not go together"));
  text_.body.clear();
  text_.method = "GET";
  expect_refused(HasSubstr("GET"));
  text_.method = "POST";
  text_.form = {"no field"};
  expect_refused(HasSubstr("webhook.form: expected fields"));
}

}  // namespace
}  // namespace lookout
