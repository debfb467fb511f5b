#include "platform/system/sqlite.h"

#include <sqlite3.h>

namespace lookout {
namespace {

// Another process may be reading while the file is opened or its log is written back.
constexpr int kBusyMs = 2000;
constexpr int kPrimaryCode = 0xff;

[[noreturn]] void fail_sqlite(sqlite3* db, int code) {
  throw SqliteError(code, db == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db));
}

std::string uri_of(const std::filesystem::path& file, bool immutable) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    if (c == '%') uri += "%25";
    if (c == '?') uri += "%3f";
    if (c == '#') uri += "%23";
    if (c != '%' && c != '?' && c != '#') uri += c;
  }
  return immutable ? uri + "?immutable=1" : uri;
}

}  // namespace

SqliteError SqliteError::damage(const std::string& text) { return {SQLITE_CORRUPT, text}; }

bool SqliteError::is_damage() const {
  const int primary = code_ & kPrimaryCode;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

bool SqliteError::is_full() const { return (code_ & kPrimaryCode) == SQLITE_FULL; }

SqliteDatabase::SqliteDatabase(const std::filesystem::path& file, Access access) {
  const int flags =
      access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const std::string uri = uri_of(file, access == Access::kReadUnchanged);
  const int code =
      sqlite3_open_v2(uri.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  if (code != SQLITE_OK) {
    const SqliteError error(code, db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_));
    sqlite3_close(db_);
    throw SqliteError(error);
  }
  sqlite3_busy_timeout(db_, kBusyMs);
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close(db_); }

void SqliteDatabase::execute(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_sqlite(db_, code);
}

void SqliteDatabase::keep_log(bool keep) {
  const int code = sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
  if (code != SQLITE_OK) fail_sqlite(db_, code);
}

std::int64_t SqliteDatabase::changed_rows() const { return sqlite3_changes64(db_); }

SqliteStatement::SqliteStatement(SqliteDatabase& database, const std::string& sql)
    : db_(database.handle()) {
  check(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement_, nullptr));
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

void SqliteStatement::check(int code) const {
  if (code != SQLITE_OK) fail_sqlite(db_, code);
}

SqliteStatement& SqliteStatement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::bind(const std::string& value) {
  check(sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::bind_blob(std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

SqliteStatement& SqliteStatement::bind_null() {
  check(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail_sqlite(db_, code);
  return false;
}

void SqliteStatement::run() {
  step();
  bound_ = 0;
  check(sqlite3_reset(statement_));
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string SqliteStatement::text(int column) const {
  const auto* const text =
      sqlite3_column_type(statement_, column) == SQLITE_BLOB
          ? static_cast<const unsigned char*>(sqlite3_column_blob(statement_, column))
          : sqlite3_column_text(statement_, column);
  const int bytes = sqlite3_column_bytes(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes)};
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

SqliteTransaction::SqliteTransaction(SqliteDatabase& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

SqliteTransaction::~SqliteTransaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteTransaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace lookout
