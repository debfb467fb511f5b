// Keeps the embeddings of pictures, so that a training computes none twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <opencv2/core/types.hpp>
#include <optional>
#include <set>
#include <string>

#include "pipeline/training/embeddings.h"
#include "platform/system/sqlite.h"

namespace lookout {

// Of which numbers embeddings are: others have nothing to do with them.
struct EmbeddingSpace {
  std::string base;   // SHA-256 of the base's file
  cv::Rect2d roi;     // of the pictures, as View::roi
  std::string views;  // of each picture, in words of whoever makes them
};

// Of one picture: a row for each of its views, as in a TrainingSet.
struct KeptEmbeddings {
  Embeddings directions;
  Embeddings profiles;  // empty: the base has none
};

inline constexpr const char* kEmbeddingsFile = "embeddings.db";

// A file beside a TeachLibrary that may be deleted at any time, and is when it is damaged: all that
// it holds can be computed again. Floats are kept as they are, so that a training with them gives
// the same bytes as one without. Used by one thread at a time; several processes may have it open.
// Functions throw SqliteError.
class EmbeddingCache {
 public:
  // Of so many spaces the newest are kept: a watch that was moved has another one.
  static constexpr int kMaxSpaces = 16;

  explicit EmbeddingCache(const std::filesystem::path& folder);

  // What follows is about this space.
  void choose(const EmbeddingSpace& space);

  // `number`: of the picture. Nothing: they are not known.
  std::optional<KeptEmbeddings> find(std::int64_t number);
  void keep(std::int64_t number, const KeptEmbeddings& embeddings);
  // Removes those of other pictures, in every space. What has no picture's number stays.
  void keep_only(const std::set<std::int64_t>& numbers);

  // Removes the file: a library that begins anew gives numbers again. Nobody has it open.
  static void remove(const std::filesystem::path& folder);

 private:
  void open();

  const std::filesystem::path file_;
  std::unique_ptr<SqliteDatabase> database_;
  std::int64_t space_ = 0;
};

}  // namespace lookout
