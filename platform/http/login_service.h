// Who may change something over HTTP: login, logout, and the rule of every route that changes
// anything.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "platform/http/background_work.h"
#include "platform/http/guess_limits.h"
#include "platform/http/http_access.h"
#include "platform/http/http_message.h"
#include "platform/http/rate_limit.h"
#include "platform/http/session_store.h"

namespace lookout {

struct LoginOptions {
  std::filesystem::path password;  // the file with its hash, which is read whenever it is needed
  std::filesystem::path sessions;  // the file of SessionStore; empty: none
};

// `POST /api/1/login` with `{"password":"..."}`, `POST /api/1/logout` and `GET /api/1/session`. Who
// logs in gets a cookie with the id of a session, which programs may send as `Authorization: Bearer
// ID` instead. Used by the server's thread alone.
class LoginService {
 public:
  static constexpr std::size_t kMaxBody = 4096;
  static constexpr std::size_t kMaxWaiting = 4;  // passwords that are to be checked

  // Throws as BackgroundWork and SessionStore.
  // `teaches`: there is something that owners can teach, which the page then shows.
  LoginService(HttpAccess access, LoginOptions options, bool teaches);

  void set_wake(std::function<void()> wake) { checker_.set_wake(std::move(wake)); }
  void poll() { checker_.deliver(); }

  // The name of one of these routes; null for others.
  const char* route(const std::string& path) const;
  // The answer to a request for one of them that is not allowed, by its header alone.
  std::optional<HttpResponse> refusal(const HttpRequest& request);
  // Answers a request for one of them that was not refused.
  void handle(const HttpRequest& request, const HttpRespond& respond);

  // The answer to a request that may not change anything: it breaks the rule of write_refusal(), or
  // comes from nobody who is logged in. Nothing: it may. Every route that changes anything asks.
  std::optional<HttpResponse> write_refusal(const HttpRequest& request);
  // The same for what changes nothing, and is for owners alone.
  std::optional<HttpResponse> read_refusal(const HttpRequest& request);
  // Whether an owner sends it, by cookie or bearer.
  bool is_owner(const HttpRequest& request);
  // Whether it is sent with metrics_key(), by who may read the password's file.
  bool has_metrics_key(const HttpRequest& request);
  // Whether anybody can log in.
  bool has_password() { return !password_hash().empty(); }

 private:
  std::string password_hash();
  std::optional<std::string> session_of(const HttpRequest& request);
  std::optional<HttpResponse> guess_refusal(const HttpRequest& request);
  void log_in(const HttpRequest& request, const HttpRespond& respond);
  HttpResponse logged_in(const std::string& address, const std::string& hash);
  std::string cookie_name() const;
  HttpResponse role(bool is_owner, bool has_password) const;
  HttpResponse with_cookie(HttpResponse response, const std::string& id,
                           std::chrono::seconds age) const;

  const HttpAccess access_;
  const std::filesystem::path password_;
  const bool teaches_;
  SessionStore sessions_;
  GuessLimits guesses_;
  RefusalLog refusals_;
  std::string last_problem_;  // of the password's file; the same one again is not logged
  BackgroundWork checker_{"password", kMaxWaiting};  // takes long, on purpose
};

}  // namespace lookout
