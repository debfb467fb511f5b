// SQLite behind owners of its handles: a database, a statement, a transaction.
//
// All are used by one thread at a time. What SQLite refuses is thrown as SqliteError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace lookout {

class SqliteError : public std::runtime_error {
 public:
  // `code`: SQLite's, as SQLITE_FULL.
  SqliteError(int code, const std::string& text) : std::runtime_error(text), code_(code) {}

  // That of damage which SQLite itself does not see.
  static SqliteError damage(const std::string& text);

  // The file is damaged, or SQLite did not write it.
  bool is_damage() const;

  // There is no room on the disk.
  bool is_full() const;

 private:
  int code_;
};

class SqliteDatabase {
 public:
  enum class Access {
    kRead,
    kReadUnchanged,  // nobody writes the file meanwhile
    kWrite,          // and makes a file that is not there
  };

  SqliteDatabase(const std::filesystem::path& file, Access access);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // Runs statements that have neither values nor results.
  void execute(const char* sql);

  // Whether the last user to close a database leaves its log as it is, beside it. Otherwise what
  // the log holds is written back, and it is removed.
  void keep_log(bool keep);

  // Of the last statement that changed rows.
  std::int64_t changed_rows() const;

  sqlite3* handle() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

// Values are bound in the order of their places in the text. Columns count from 0.
class SqliteStatement {
 public:
  SqliteStatement(SqliteDatabase& database, const std::string& sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& bind(std::int64_t value);
  SqliteStatement& bind(const std::string& value);
  SqliteStatement& bind_blob(std::string_view bytes);
  SqliteStatement& bind_null();

  // Goes to the next row; false when there is none.
  bool step();
  // step() of a statement without rows, which can then be bound and run again.
  void run();

  std::int64_t integer(int column) const;
  std::string text(int column) const;  // of a blob: its bytes
  bool is_null(int column) const;

 private:
  void check(int code) const;

  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;  // values
};

// Rolled back unless it is committed.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteDatabase& database);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  void commit();

 private:
  SqliteDatabase& database_;
  bool open_ = true;
};

}  // namespace lookout
