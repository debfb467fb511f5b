#include "platform/http/session_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <system_error>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/log.h"
#include "pipeline/core/sha256.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"
#include "platform/system/password.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "lookout-sessions-1";
constexpr std::size_t kIdBytes = 32;
constexpr std::size_t kCookieBytes = 4;
constexpr std::size_t kSha256Digits = 64;
constexpr std::chrono::seconds kLastWrite{1};

std::int64_t to_seconds(SessionStore::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

SessionStore::Time from_seconds(std::int64_t seconds) {
  return SessionStore::Time(std::chrono::seconds(seconds));
}

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

SessionStore::SessionStore(fs::path file)
    : file_(std::move(file)), cookie_("lookout_" + random_secret(kCookieBytes)) {
  if (file_.empty()) return;
  read();
  writer_ = std::make_unique<AsyncWorker<std::string>>(
      "sessions", [path = file_](const std::string& text, const auto& /*task*/) {
        try {
          AtomicFile("sessions", path)
              .save([&text](const WritePart& write) { write(text); }, FileAccess());
        } catch (const std::exception& error) {
          log_warn("http: who is logged in is forgotten at the end: {}", error.what());
        }
      });
}

SessionStore::~SessionStore() {
  if (writer_) writer_->end_by(Clock::now() + kLastWrite);
}

void SessionStore::read() {
  std::error_code ignored;
  if (!fs::exists(file_, ignored)) return;
  std::string text;
  try {
    text = read_input("sessions", file_.string());
  } catch (const std::exception& error) {
    log_warn("http: nobody is logged in: {}", error.what());
    return;
  }
  std::istringstream lines(text);
  std::string format;
  std::string cookie;
  std::string password;
  if (!(lines >> format >> cookie >> password) || format != kFormat ||
      cookie.rfind("lookout_", 0) != 0 || !is_hex(password, kSha256Digits)) {
    log_warn("http: nobody is logged in: sessions {} cannot be understood", file_.string());
    return;
  }
  cookie_ = cookie;
  password_ = password;
  std::string hash;
  std::int64_t begun = 0;
  std::int64_t used = 0;
  while (sessions_.size() < kMax && lines >> hash >> begun >> used && is_hex(hash, kSha256Digits)) {
    sessions_.push_back({hash, from_seconds(begun), from_seconds(used)});
  }
}

void SessionStore::save() {
  if (!writer_) return;
  std::string text = fmt::format("{} {} {}\n", kFormat, cookie_, password_);
  for (const Session& session : sessions_) {
    append_format(text, "{} {} {}\n", session.hash, to_seconds(session.begun),
                  to_seconds(session.used));
  }
  writer_->put(std::move(text));
}

// Looks at all of them, whichever it is.
std::vector<SessionStore::Session>::iterator SessionStore::find(const std::string& id) {
  const std::string hash = sha256(id);
  auto found = sessions_.end();
  for (auto session = sessions_.begin(); session != sessions_.end(); ++session) {
    if (are_secrets_equal(hash, session->hash)) found = session;
  }
  return found;
}

std::string SessionStore::begin(const std::string& password_hash, Time now) {
  const std::string password = sha256(password_hash);
  if (password != password_) sessions_.clear();
  password_ = password;
  if (sessions_.size() == kMax) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const Session& one, const Session& other) { return one.used < other.used; }));
  }
  std::string id = random_secret(kIdBytes);
  sessions_.push_back({sha256(id), now, now});
  save();
  return id;
}

// A clock that was set back, and stays so, makes no session last.
void SessionStore::settle(Session& session, Time now) {
  if (session.begun <= now && session.used <= now) return session.behind.reset();
  if (!session.behind || now < *session.behind) session.behind = now;
  if (now - *session.behind < kNoted) return;
  session.begun = std::min(session.begun, *session.behind);
  session.used = std::min(session.used, *session.behind);
}

bool SessionStore::is_open(const std::string& id, const std::string& password_hash, Time now) {
  if (sessions_.empty() || password_hash.empty() || sha256(password_hash) != password_) {
    return false;
  }
  const auto session = find(id);
  if (session == sessions_.end()) return false;
  settle(*session, now);
  if (now - session->used > kMaxIdle || now - session->begun > kMaxAge) return false;
  if (now - session->used >= kNoted) {
    session->used = now;
    save();
  }
  return true;
}

void SessionStore::end(const std::string& id) {
  const auto session = find(id);
  if (session == sessions_.end()) return;
  sessions_.erase(session);
  save();
}

}  // namespace lookout
