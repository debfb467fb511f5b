// Who is logged in.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/async_worker.h"

namespace lookout {

// Sessions have random ids, of which the hashes alone are kept. They belong to a password: with
// another one all of them are over. They are written to a file that a thread replaces as a whole,
// so that they outlast the process. Used by one thread.
//
// The clock may be wrong, a year ahead or behind, and right again later. So a session that seems
// too old is refused, but stays until another one needs its place; and one that seems to be of the
// future goes on, and counts as begun when that was first seen only after kNoted of such a clock.
class SessionStore {
 public:
  using Time = std::chrono::system_clock::time_point;

  static constexpr std::size_t kMax = 16;  // then the one unused for longest is over
  static constexpr std::chrono::hours kMaxIdle{30 * 24};
  static constexpr std::chrono::hours kMaxAge{180 * 24};
  // A session's last use is noted so often, which spares the card.
  static constexpr std::chrono::hours kNoted{24};

  // Reads the file, if there is one; what it does not understand is no session. `file`: empty: they
  // end with the process.
  explicit SessionStore(std::filesystem::path file);
  // Writes what waits to be written, if that takes no longer than a second.
  ~SessionStore();
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  // The id of a new session of who knows the password with this hash.
  std::string begin(const std::string& password_hash, Time now);
  // Whether the session goes on, whose use is noted. `password_hash`: that of today; empty: there
  // is no password.
  bool is_open(const std::string& id, const std::string& password_hash, Time now);
  void end(const std::string& id);

  // Other servers of the same host have other names, and browsers send their cookies here, too.
  const std::string& cookie() const { return cookie_; }

 private:
  struct Session {
    std::string hash;  // of the id
    Time begun;
    Time used;
    std::optional<Time> behind{};  // when the clock was first seen to be behind these
  };

  void read();
  void save();
  static void settle(Session& session, Time now);
  std::vector<Session>::iterator find(const std::string& id);

  const std::filesystem::path file_;
  std::string cookie_;
  std::string password_;  // the hash of its hash
  std::vector<Session> sessions_;
  std::unique_ptr<AsyncWorker<std::string>> writer_;  // of the newest text; null: without a file
};

}  // namespace lookout
