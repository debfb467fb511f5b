// A server at which owners log in, for tests of what only they may do.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "platform/http/http_service.h"
#include "platform/system/password.h"
#include "tests/platform/http/http_client.h"
#include "tests/platform/http/http_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {

inline const std::string kRightPassword = R"({"password":"correct horse"})";
// Of "correct horse", by SHA-512 with few rounds: it is checked at once.
inline const std::string kPasswordHash =
    "$6$rounds=1000$saltstring$YiR6NSM0LQXmu7vAhkMXfkdYk7qtFouVx1Mdr3HmzXspT8kONjlpU3CsV7ezCB62uXJo"
    "AdaagsH4ck7/tB9js.";

// A server at which owners log in.
class OwnerTest : public testing::Test {
 protected:
  OwnerTest() { write_password_hash(file(), kPasswordHash); }

  std::string file() const { return directory_ / "lookout.password"; }

  HttpServiceOptions options(HttpAccess access = {}) const {
    HttpServiceOptions options;
    options.access = std::move(access);
    options.login = LoginOptions{file(), directory_ / "sessions"};
    return options;
  }

  // What a page of this server sends with a POST.
  static std::string own_headers(const HttpRun& run, const std::string& more = "") {
    const std::string host = "localhost:" + std::to_string(run.port());
    return "Host: " + host + "\r\nOrigin: http://" + host +
           "\r\nX-Lookout: 1\r\nContent-Type: application/json\r\n" + more;
  }
  static HttpAnswer send(const HttpRun& run, const std::string& method, const std::string& path,
                         const std::string& headers, const std::string& body,
                         const char* address = "127.0.0.1") {
    HttpClient client(run.port(), 0, address);
    client.send(method + " " + path + " HTTP/1.1\r\n" + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.read_answer();
  }
  static HttpAnswer post(const HttpRun& run, const std::string& path, const std::string& headers,
                         const std::string& body, const char* address = "127.0.0.1") {
    return send(run, "POST", path, headers, body, address);
  }
  static HttpAnswer log_in(const HttpRun& run, const std::string& body,
                           const char* address = "127.0.0.1") {
    return post(run, "/api/1/login", own_headers(run), body, address);
  }
  // `lookout_0a1b2c3d=...`
  static std::string cookie_of(const HttpAnswer& answer) {
    const auto found = answer.headers.find("set-cookie");
    if (found == answer.headers.end()) return {};
    return found->second.substr(0, found->second.find(';'));
  }
  static std::string role(const HttpRun& run, const std::string& headers) {
    const HttpAnswer answer =
        http_get(run.port(), "/api/1/session", "Host: localhost\r\n" + headers);
    return answer.status == 200 ? nlohmann::json::parse(answer.body)["role"].get<std::string>()
                                : std::to_string(answer.status);
  }
  static std::string code(const HttpAnswer& answer) {
    const nlohmann::json body =
        nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
    return body.is_object() && body.contains("error") ? body["error"]["code"].get<std::string>()
                                                      : "";
  }

  const TempDir directory_;
};

}  // namespace lookout
