#include "platform/http/login_service.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/platform/http/owner_testing.h"
#include "tests/support/captured_log.h"

namespace lookout {
namespace {

using nlohmann::json;

const std::string kWrong = R"({"password":"wrong horse"})";
class LoginTest : public OwnerTest {};

TEST_F(LoginTest, WithoutTheSwitchThereAreNoSuchRoutes) {
  const HttpRun run;
  EXPECT_EQ(log_in(run, kRightPassword).status, 404);
  EXPECT_EQ(post(run, "/api/1/logout", own_headers(run), "{}").status, 404);
  EXPECT_EQ(http_get(run.port(), "/api/1/session").status, 404);
}

TEST_F(LoginTest, ThePasswordMakesAnOwner) {
  const CapturedLog log;
  const HttpRun run({}, options());
  EXPECT_EQ(role(run, ""), "guest");
  const HttpAnswer answer = log_in(run, kRightPassword);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body), json::parse(R"({"role":"owner","teach":false})"));
  const std::string cookie = cookie_of(answer);
  EXPECT_EQ(answer.headers.at("set-cookie"),
            cookie + "; Path=/; Max-Age=15552000; HttpOnly; SameSite=Strict");
  EXPECT_EQ(role(run, "Cookie: " + cookie + "\r\n"), "owner");
  EXPECT_EQ(role(run, "Cookie: a=b; " + cookie.substr(0, 17) + "x; " + cookie + "\r\n"), "owner");
  const std::string id = cookie.substr(cookie.find('=') + 1);
  EXPECT_EQ(role(run, "Authorization: Bearer " + id + "\r\n"), "owner");
  EXPECT_EQ(role(run, "Authorization: Bearer " + id.substr(1) + "\r\n"), "guest");
  EXPECT_EQ(role(run, "Cookie: other=" + id + "\r\n"), "guest");
  EXPECT_EQ(role(run, "Cookie: " + cookie + "\r\nCookie: a=b\r\n"), "guest");
  EXPECT_NE(log.text().find("http: 127.0.0.1 logged in"), std::string::npos);
}

TEST_F(LoginTest, AWrongPasswordMakesNone) {
  const HttpRun run({}, options());
  const HttpAnswer answer = log_in(run, kWrong);
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(code(answer), "wrong_password");
  EXPECT_EQ(answer.headers.count("set-cookie"), 0U);
  EXPECT_EQ(answer.headers.at("www-authenticate").rfind("Basic", 0), std::string::npos)
      << "browsers would ask for a name and a password";
  for (const char* body : {"", "{", "[]", "{}", R"({"password":1})", R"("correct horse")",
                           R"({"password":["correct horse"]})"}) {
    EXPECT_EQ(log_in(run, body).status, 400) << body;
  }
  EXPECT_EQ(log_in(run, R"({"password":")" + std::string(5000, 'x') + "\"}").status, 413);
}

TEST_F(LoginTest, ABlankThatAPhonePutBehindThePasswordIsNoMistake) {
  const HttpRun run({}, options());
  EXPECT_EQ(log_in(run, R"({"password":"correct horse "})").status, 200);
  EXPECT_EQ(log_in(run, R"({"password":"correct horse  "})").status, 200);
  for (const char* body : {R"({"password":" correct horse"})", R"({"password":"correct  horse"})",
                           R"({"password":"wrong horse "})", R"({"password":" "})"}) {
    EXPECT_EQ(code(log_in(run, body)), "wrong_password") << body;
  }
  write_password_hash(file(), hash_password("correct horse "));
  EXPECT_EQ(log_in(run, R"({"password":"correct horse "})").status, 200) << "its own blank";
  EXPECT_EQ(code(log_in(run, kRightPassword)), "wrong_password");
}

TEST_F(LoginTest, WhoLogsOutIsAGuest) {
  const HttpRun run({}, options());
  const std::string cookie = "Cookie: " + cookie_of(log_in(run, kRightPassword)) + "\r\n";
  const std::string other = "Cookie: " + cookie_of(log_in(run, kRightPassword)) + "\r\n";
  const HttpAnswer answer = post(run, "/api/1/logout", own_headers(run, cookie), "{}");
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.headers.at("set-cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(role(run, cookie), "guest");
  EXPECT_EQ(role(run, other), "owner");
}

TEST_F(LoginTest, ANewPasswordLogsAllOut) {
  const HttpRun run({}, options());
  const std::string cookie = "Cookie: " + cookie_of(log_in(run, kRightPassword)) + "\r\n";
  write_password_hash(file(), hash_password("correct horse"));  // with another salt
  EXPECT_EQ(role(run, cookie), "guest");
  const std::string next = "Cookie: " + cookie_of(log_in(run, kRightPassword)) + "\r\n";
  EXPECT_EQ(role(run, next), "owner");
  std::filesystem::remove(file());
  EXPECT_EQ(role(run, next), "guest");
  EXPECT_EQ(code(log_in(run, kRightPassword)), "no_password");
  EXPECT_EQ(json::parse(http_get(run.port(), "/api/1/session").body),
            json::parse(R"({"role":"guest","teach":false})"));
}

TEST_F(LoginTest, SessionsOutlastTheServer) {
  std::string cookie;
  {
    const HttpRun run({}, options());
    cookie = "Cookie: " + cookie_of(log_in(run, kRightPassword)) + "\r\n";
  }
  const HttpRun run({}, options());
  EXPECT_EQ(role(run, cookie), "owner");
}

TEST_F(LoginTest, BehindTlsTheCookieIsForTlsAlone) {
  HttpAccess access;
  access.origin = "https://house.example";
  access.hosts = {"house.example"};
  const HttpRun run({}, options(access));
  EXPECT_EQ(code(log_in(run, kRightPassword)), "cross_origin") << "http is not this origin";
  const std::string headers =
      "Host: house.example\r\nOrigin: https://house.example\r\nX-Lookout: 1\r\n"
      "Content-Type: application/json; charset=utf-8\r\n";
  const HttpAnswer answer = post(run, "/api/1/login", headers, kRightPassword);
  EXPECT_EQ(answer.status, 200);
  const std::string cookie = cookie_of(answer);
  EXPECT_EQ(cookie.rfind("__Host-lookout_", 0), 0U);
  EXPECT_EQ(answer.headers.at("set-cookie"),
            cookie + "; Path=/; Max-Age=15552000; HttpOnly; SameSite=Strict; Secure");
  EXPECT_EQ(role(run, "Cookie: " + cookie + "\r\n"), "owner");
}

TEST_F(LoginTest, TheTokenIsAskedForAsBeforeButNotOfOwners) {
  HttpAccess access;
  access.token = "0123456789abcdef";
  const HttpRun run({}, options(access));
  const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
  EXPECT_EQ(role(run, ""), "401");
  EXPECT_EQ(role(run, token), "guest") << "it reads, and changes nothing";
  EXPECT_EQ(code(log_in(run, kRightPassword)), "wrong_token");
  const HttpAnswer answer = post(run, "/api/1/login", own_headers(run, token), kRightPassword);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(role(run, "Cookie: " + cookie_of(answer) + "\r\n"), "owner");
}

TEST_F(LoginTest, OtherMethodsAreRefused) {
  const HttpRun run({}, options());
  for (const char* path : {"/api/1/login", "/api/1/logout"}) {
    const HttpAnswer answer = http_get(run.port(), path);
    EXPECT_EQ(answer.status, 405) << path;
    EXPECT_EQ(answer.headers.at("allow"), "POST");
  }
  const HttpAnswer answer = post(run, "/api/1/session", own_headers(run), "{}");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.headers.at("allow"), "GET, HEAD");
}

TEST_F(LoginTest, AnAddressHasTenPasswordsAndAllTogetherThirty) {
  const CapturedLog log;
  const HttpRun run({}, options());
  const std::string cookie =
      "Cookie: " + cookie_of(log_in(run, kRightPassword, "127.0.0.3")) + "\r\n";
  // On a busy machine some come back meanwhile.
  const auto guess = [&run](const char* address) {
    int guesses = 0;
    while (guesses < 100 && log_in(run, kWrong, address).status == 401) ++guesses;
    return guesses;
  };
  EXPECT_GE(guess("127.0.0.2"), GuessLimits::kOfAddress);
  EXPECT_NE(log.text().find("http: 127.0.0.2 is refused"), std::string::npos);
  const HttpAnswer answer = log_in(run, kWrong, "127.0.0.2");
  EXPECT_EQ(code(answer), "too_many_guesses");
  EXPECT_EQ(answer.headers.count("retry-after"), 1U);
  EXPECT_GE(guess("127.0.0.4"), GuessLimits::kOfAddress) << "another address";
  EXPECT_LE(guess("127.0.0.5") + guess("127.0.0.6"), GuessLimits::kOfAddress) << "all have no more";
  EXPECT_NE(log.text().find("http: logins are refused"), std::string::npos);
  EXPECT_EQ(role(run, cookie), "owner") << "who is logged in stays so";
  EXPECT_EQ(log_in(run, kRightPassword, "127.0.0.3").status, 200)
      << "an address that knew the password is not locked out by others";
}

// The rule of all that changes anything.
class WriteRuleTest : public LoginTest {
 protected:
  WriteRuleTest() {
    HttpAccess access;
    access.hosts = {"camera.example"};
    service_.emplace(access, LoginOptions{file(), ""}, /*teaches=*/false);
    request_.method = "POST";
    request_.path = "/api/1/anything";
    request_.host = "camera.example:8090";
    request_.origin = "http://camera.example:8090";
    request_.x_lookout = "1";
    request_.content_type = "application/json";
    HttpRequest login = request_;
    login.path = "/api/1/login";
    login.body = std::make_shared<const std::string>(kRightPassword);
    HttpResponse answer;
    answer.status = 0;
    service_->handle(login, [&answer](HttpResponse response) { answer = std::move(response); });
    while (answer.status == 0) service_->poll();
    const std::string cookie = answer.headers.at(0).second;
    request_.cookie = cookie.substr(0, cookie.find(';'));
  }

  // The code of the refusal; empty: there is none.
  std::string refusal(const HttpRequest& request) {
    const auto refused = service_->write_refusal(request);
    return refused ? refused->error : "";
  }

  std::optional<LoginService> service_;
  HttpRequest request_;  // which is allowed
};

TEST_F(WriteRuleTest, AnOwnersRequestFromThisServersPageIsAllowed) {
  EXPECT_EQ(refusal(request_), "");
  request_.fetch_site = "same-origin";
  request_.content_type = "application/json; charset=utf-8";
  EXPECT_EQ(refusal(request_), "");
}

TEST_F(WriteRuleTest, AGuestIsNot) {
  request_.cookie.clear();
  EXPECT_EQ(refusal(request_), "not_logged_in");
  request_.authorization = "Bearer 0123456789abcdef";
  EXPECT_EQ(refusal(request_), "not_logged_in");
}

TEST_F(WriteRuleTest, OtherOriginsAreRefused) {
  for (const char* origin : {"",                                     // none
                             "null",                                 // a sandboxed frame, a file
                             "http://evil.example",                  // another site
                             "http://camera.example",                // another port of this host
                             "http://camera.example:3000",           //
                             "http://camera.example:80900",          //
                             "https://camera.example:8090",          // another scheme
                             "https://camera.example",               //
                             "http://camera.example.evil.example",   // a longer name
                             "http://evil.camera.example:8090",      // a page below this name
                             "http://camera.example:8090.evil.com",  //
                             "http://user@camera.example:8090",      // with a user
                             "http://camera.example:8090/",          // no browser writes it so
                             "http://camera.example:8090, null",     // two
                             "http://localhost:8090",                // another name of this server
                             "file://", "chrome-extension://abcdef"}) {
    HttpRequest request = request_;
    request.origin = origin;
    EXPECT_EQ(refusal(request), "cross_origin") << origin;
  }
}

TEST_F(WriteRuleTest, WhatAFormCanSendIsRefused) {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=x", "text/json", "application/jsonp"}) {
    HttpRequest request = request_;
    request.content_type = type;
    EXPECT_EQ(refusal(request), "not_json") << type;
  }
  for (const char* marker : {"", "0", "1, 1"}) {
    HttpRequest request = request_;
    request.x_lookout = marker;
    EXPECT_EQ(refusal(request), "no_header") << marker;
  }
  for (const char* site : {"cross-site", "same-site", "none", "Cross-Site"}) {
    HttpRequest request = request_;
    request.fetch_site = site;
    EXPECT_EQ(refusal(request), "cross_site") << site;
  }
}

}  // namespace
}  // namespace lookout
