#include "platform/http/login_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "pipeline/core/json_text.h"
#include "pipeline/core/log.h"
#include "pipeline/core/lower_case.h"
#include "platform/http/metrics_key.h"
#include "platform/system/password.h"

namespace lookout {
namespace {

constexpr const char* kLogin = "/api/1/login";
constexpr const char* kLogout = "/api/1/logout";
constexpr const char* kSession = "/api/1/session";

HttpResponse with_header(HttpResponse response, const char* name, const std::string& value) {
  response.headers.emplace_back(name, value);
  return response;
}

std::optional<HttpResponse> wrong_method(const HttpRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path == kSession ? reads : request.method == "POST") return std::nullopt;
  const std::string allowed = request.path == kSession ? "GET, HEAD" : "POST";
  return with_header(
      http_error(405, "wrong_method", "the methods that are answered are " + allowed), "Allow",
      allowed);
}

// The values of all cookies of that name: a page on another port of this host can add one.
std::vector<std::string> cookies_named(std::string_view header, std::string_view name) {
  std::vector<std::string> values;
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    values.emplace_back(pair.substr(std::min(equals + 1, pair.size())));
  }
  return values;
}

std::optional<std::string> password_in(const HttpRequest& request) {
  if (!request.body) return std::nullopt;
  const auto json = parse_json(*request.body);
  if (!json.is_object()) return std::nullopt;
  const auto password = json.find("password");
  if (password == json.end() || !password->is_string()) return std::nullopt;
  return password->get<std::string>();
}

// Keyboards of phones put a blank behind what they complete. A password that has one is the first
// that is tried.
bool is_password_as_typed(std::string password, const std::string& hash) {
  if (is_password(password, hash)) return true;
  const auto end = password.find_last_not_of(' ') + 1;
  if (end == password.size()) return false;
  password.resize(end);
  return is_password(password, hash);
}

// Empty: it sends none.
std::string bearer_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string scheme = lower_case(request.authorization.substr(0, kBearer.size()));
  return scheme == kBearer ? request.authorization.substr(kBearer.size()) : "";
}

}  // namespace

LoginService::LoginService(HttpAccess access, LoginOptions options, bool teaches)
    : access_(std::move(access)),
      password_(std::move(options.password)),
      teaches_(teaches),
      sessions_(std::move(options.sessions)) {}

const char* LoginService::route(const std::string& path) const {
  for (const char* name : {kLogin, kLogout, kSession}) {
    if (path == name) return name;
  }
  return nullptr;
}

// Read each time, so that a password that is changed or removed is so at once.
std::string LoginService::password_hash() {
  try {
    std::string hash = read_password_hash(password_);
    last_problem_.clear();
    return hash;
  } catch (const std::exception& error) {
    if (std::exchange(last_problem_, error.what()) != error.what()) {
      log_warn("http: nobody can log in: {}", error.what());
    }
    return {};
  }
}

std::string LoginService::cookie_name() const {
  const bool is_secure = access_.origin.rfind("https:", 0) == 0;
  return (is_secure ? "__Host-" : "") + sessions_.cookie();
}

// The id of an open session.
std::optional<std::string> LoginService::session_of(const HttpRequest& request) {
  std::vector<std::string> ids = cookies_named(request.cookie, cookie_name());
  if (const std::string bearer = bearer_of(request); !bearer.empty()) ids.push_back(bearer);
  if (ids.empty()) return std::nullopt;
  const std::string hash = password_hash();
  const auto now = std::chrono::system_clock::now();
  const auto found = std::find_if(ids.begin(), ids.end(), [&](const std::string& id) {
    return sessions_.is_open(id, hash, now);
  });
  if (found == ids.end()) return std::nullopt;
  return *found;
}

bool LoginService::is_owner(const HttpRequest& request) { return session_of(request).has_value(); }

bool LoginService::has_metrics_key(const HttpRequest& request) {
  const std::string given = bearer_of(request);
  if (given.empty()) return false;
  const std::string hash = password_hash();
  return !hash.empty() && are_secrets_equal(metrics_key(hash), given);
}

std::optional<HttpResponse> LoginService::write_refusal(const HttpRequest& request) {
  if (auto refused = lookout::write_refusal(access_, request)) return refused;
  return read_refusal(request);
}

std::optional<HttpResponse> LoginService::read_refusal(const HttpRequest& request) {
  if (is_owner(request)) return std::nullopt;
  return http_error(401, "not_logged_in", "log in first, with the password of this server");
}

std::optional<HttpResponse> LoginService::refusal(const HttpRequest& request) {
  if (auto wrong = wrong_method(request)) return wrong;
  if (request.path == kSession) return std::nullopt;
  if (auto refused = lookout::write_refusal(access_, request)) return refused;
  if (request.path == kLogout) return std::nullopt;
  if (!has_password()) {
    return http_error(404, "no_password", "there is no password: sudo lookout password sets one");
  }
  return guess_refusal(request);
}

std::optional<HttpResponse> LoginService::guess_refusal(const HttpRequest& request) {
  const auto now = Clock::now();
  const auto refused = guesses_.refusal(request.address, now);
  if (!refused) return std::nullopt;
  const std::string whose = refused->of_all ? "" : request.address;
  const std::string from = refused->of_all ? "all addresses together" : "this address";
  if (refusals_.refuse(whose, now)) {
    log_warn("http: {}: too many passwords came from {}",
             refused->of_all ? "logins are refused" : whose + " is refused",
             refused->of_all ? from : "there");
  }
  return http_error(429, "too_many_guesses", "too many passwords came from " + from, refused->wait);
}

void LoginService::handle(const HttpRequest& request, const HttpRespond& respond) {
  if (request.path == kLogin) return log_in(request, respond);
  const auto session = session_of(request);
  if (request.path == kSession) return respond(role(session.has_value(), has_password()));
  if (session) sessions_.end(*session);
  respond(with_cookie(role(/*is_owner=*/false, has_password()), "", std::chrono::seconds(0)));
}

void LoginService::log_in(const HttpRequest& request, const HttpRespond& respond) {
  const auto password = password_in(request);
  if (!password) {
    return respond(http_error(400, "no_password_sent", R"(send JSON: {"password":"..."})"));
  }
  const std::string hash = password_hash();
  const auto check = [this, password = *password, hash, respond,
                      address = request.address]() -> BackgroundWork::Deliver {
    if (is_password_as_typed(password, hash)) return [=] { respond(logged_in(address, hash)); };
    // A scheme that browsers do not know: they would ask for a name and a password themselves.
    return [respond] {
      respond(with_header(http_error(401, "wrong_password", "the password is wrong"),
                          "WWW-Authenticate", R"(Session realm="lookout")"));
    };
  };
  if (!checker_.put({check, request.gone})) {
    return respond(http_error(503, "busy", "too many passwords wait to be checked"));
  }
  guesses_.count(request.address, Clock::now());
}

HttpResponse LoginService::logged_in(const std::string& address, const std::string& hash) {
  log_info("http: {} logged in", address.empty() ? "a client of the Unix socket" : address);
  guesses_.note_right(address, Clock::now());
  const std::string id = sessions_.begin(hash, std::chrono::system_clock::now());
  return with_cookie(role(/*is_owner=*/true, /*has_password=*/true), id, SessionStore::kMaxAge);
}

HttpResponse LoginService::role(bool is_owner, bool has_password) const {
  return http_text("application/json",
                   fmt::format("{{\"role\":\"{}\",\"teach\":{}}}\n", is_owner ? "owner" : "guest",
                               has_password && teaches_));
}

HttpResponse LoginService::with_cookie(HttpResponse response, const std::string& id,
                                       std::chrono::seconds age) const {
  const bool is_secure = access_.origin.rfind("https:", 0) == 0;
  return with_header(std::move(response), "Set-Cookie",
                     fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}",
                                 cookie_name(), id, age.count(), is_secure ? "; Secure" : ""));
}

}  // namespace lookout
