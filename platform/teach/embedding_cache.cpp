#include "platform/teach/embedding_cache.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace lookout {
namespace {

// `bytes`: three numbers of 32 bits (views, width of a direction and of a profile), the directions
// and the profiles, in the order of bytes that the machine has.
constexpr const char* kCreateCache = R"(
CREATE TABLE space(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE embedding(space INTEGER NOT NULL, picture INTEGER NOT NULL, bytes BLOB NOT NULL,
  PRIMARY KEY(space, picture)) STRICT;
PRAGMA user_version = 1;
)";

using Shape = std::array<std::uint32_t, 3>;

std::string bytes_of(const KeptEmbeddings& embeddings) {
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  const Shape shape{number(embeddings.directions.size()), number(embeddings.directions.width()),
                    number(embeddings.profiles.width())};
  std::string bytes(reinterpret_cast<const char*>(shape.data()), sizeof(Shape));
  for (const Embeddings* rows : {&embeddings.directions, &embeddings.profiles}) {
    const std::vector<float>& values = rows->values();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return bytes;
}

Embeddings rows_of(std::string_view bytes, std::size_t rows, std::size_t width) {
  Embeddings embeddings;
  std::vector<float> row(width);
  for (std::size_t i = 0; width > 0 && i < rows; ++i) {
    std::memcpy(row.data(), bytes.data() + i * width * sizeof(float), width * sizeof(float));
    embeddings.add_row(row.data(), width);
  }
  return embeddings;
}

// Nothing when the sizes do not fit.
std::optional<KeptEmbeddings> embeddings_of(std::string_view bytes) {
  Shape shape{};
  if (bytes.size() < sizeof(Shape)) return std::nullopt;
  std::memcpy(shape.data(), bytes.data(), sizeof(Shape));
  bytes.remove_prefix(sizeof(Shape));
  const auto [views, width, profile] = shape;
  const std::uint64_t directions = std::uint64_t{views} * width * sizeof(float);
  const std::uint64_t profiles = std::uint64_t{views} * profile * sizeof(float);
  if (bytes.size() != directions + profiles) return std::nullopt;
  return KeptEmbeddings{rows_of(bytes, views, width),
                        rows_of(bytes.substr(directions), views, profile)};
}

}  // namespace

EmbeddingCache::EmbeddingCache(const std::filesystem::path& folder)
    : file_(folder / kEmbeddingsFile) {
  try {
    open();
  } catch (const SqliteError& error) {
    if (!error.is_damage()) throw;
    database_.reset();
    remove(folder);
    open();
  }
}

void EmbeddingCache::remove(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm"}) {
    std::filesystem::remove((folder / kEmbeddingsFile).string() + part, ignored);
  }
}

void EmbeddingCache::open() {
  database_ = std::make_unique<SqliteDatabase>(file_, SqliteDatabase::Access::kWrite);
  SqliteStatement(*database_, "PRAGMA journal_mode = WAL").step();
  database_->execute("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
  SqliteTransaction transaction(*database_);
  bool is_new = false;
  {
    SqliteStatement version(*database_, "PRAGMA user_version");
    is_new = version.step() && version.integer(0) == 0;
  }
  if (is_new) database_->execute(kCreateCache);
  transaction.commit();
}

void EmbeddingCache::choose(const EmbeddingSpace& space) {
  const cv::Rect2d& roi = space.roi;
  const std::string text = fmt::format("{} {:.6f},{:.6f},{:.6f},{:.6f} {}", space.base, roi.x,
                                       roi.y, roi.width, roi.height, space.views);
  SqliteTransaction transaction(*database_);
  SqliteStatement(*database_, "INSERT OR IGNORE INTO space(text) VALUES(?)").bind(text).run();
  {
    SqliteStatement id(*database_, "SELECT id FROM space WHERE text = ?");
    id.bind(text).step();
    space_ = id.integer(0);
  }
  const std::string old =
      fmt::format("SELECT id FROM space WHERE id <> {} ORDER BY id DESC LIMIT -1 OFFSET {}", space_,
                  kMaxSpaces - 1);
  database_->execute(("DELETE FROM embedding WHERE space IN (" + old + ")").c_str());
  database_->execute(("DELETE FROM space WHERE id IN (" + old + ")").c_str());
  transaction.commit();
}

std::optional<KeptEmbeddings> EmbeddingCache::find(std::int64_t number) {
  SqliteStatement row(*database_, "SELECT bytes FROM embedding WHERE space = ? AND picture = ?");
  if (!row.bind(space_).bind(number).step()) return std::nullopt;
  return embeddings_of(row.text(0));
}

void EmbeddingCache::keep(std::int64_t number, const KeptEmbeddings& embeddings) {
  SqliteStatement(*database_, "INSERT OR REPLACE INTO embedding VALUES(?, ?, ?)")
      .bind(space_)
      .bind(number)
      .bind_blob(bytes_of(embeddings))
      .run();
}

void EmbeddingCache::keep_only(const std::set<std::int64_t>& numbers) {
  std::vector<std::int64_t> gone;
  {
    SqliteStatement known(*database_, "SELECT DISTINCT picture FROM embedding WHERE picture > 0");
    while (known.step()) {
      if (numbers.count(known.integer(0)) == 0) gone.push_back(known.integer(0));
    }
  }
  SqliteTransaction transaction(*database_);
  SqliteStatement removal(*database_, "DELETE FROM embedding WHERE picture = ?");
  for (const std::int64_t number : gone) removal.bind(number).run();
  transaction.commit();
}

}  // namespace lookout
