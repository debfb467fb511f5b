#include "platform/teach/embedding_cache.h"

#include <gmock/gmock.h>

#include <fstream>

#include "platform/teach/teach_preview.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

const EmbeddingSpace kSpace{std::string(64, 'a'), {0, 0, 0.5, 1}, "usual"};

KeptEmbeddings some(float first) {
  KeptEmbeddings embeddings;
  for (int view = 0; view < 4; ++view) {
    embeddings.directions.add({first, 1.0F / 3, static_cast<float>(view)});
    embeddings.profiles.add({1, first});
  }
  return embeddings;
}

TEST(EmbeddingCache, KeepsEveryBit) {
  const TempDir directory;
  {
    EmbeddingCache cache(directory.path());
    cache.choose(kSpace);
    cache.keep(7, some(0.1F));
    cache.keep(8, {some(0.1F).directions, {}});
  }
  EmbeddingCache cache(directory.path());
  cache.choose(kSpace);
  EXPECT_EQ(cache.find(7)->directions.values(), some(0.1F).directions.values());
  EXPECT_EQ(cache.find(7)->directions.width(), 3);
  EXPECT_EQ(cache.find(7)->profiles.values(), some(0.1F).profiles.values());
  EXPECT_EQ(cache.find(8)->profiles.size(), 0);
  EXPECT_FALSE(cache.find(9));
}

TEST(EmbeddingCache, AnotherRegionBaseOrViewHasItsOwn) {
  const TempDir directory;
  EmbeddingCache cache(directory.path());
  cache.choose(kSpace);
  cache.keep(7, some(0.1F));
  EmbeddingSpace other = kSpace;
  other.roi.x = 0.000001;
  cache.choose(other);
  EXPECT_FALSE(cache.find(7));
  other = kSpace;
  other.base[0] = 'b';
  cache.choose(other);
  EXPECT_FALSE(cache.find(7));
  other = kSpace;
  other.views = "mirrored";
  cache.choose(other);
  EXPECT_FALSE(cache.find(7));
  cache.choose(kSpace);
  EXPECT_TRUE(cache.find(7));
  cache.keep_only({8});
  EXPECT_FALSE(cache.find(7));
}

TEST(EmbeddingCache, ForgetsTheOldestSpaces) {
  const TempDir directory;
  EmbeddingCache cache(directory.path());
  EmbeddingSpace space = kSpace;
  for (int i = 0; i <= EmbeddingCache::kMaxSpaces; ++i) {
    space.views = std::to_string(i);
    cache.choose(space);
    cache.keep(1, some(0.5F));
  }
  space.views = "1";
  cache.choose(space);
  EXPECT_TRUE(cache.find(1));
  space.views = "0";
  cache.choose(space);
  EXPECT_FALSE(cache.find(1));
}

TEST(EmbeddingCache, ADamagedFileIsMadeAnew) {
  const TempDir directory;
  std::ofstream(directory / kEmbeddingsFile) << std::string(9000, 'x');
  EmbeddingCache cache(directory.path());
  cache.choose(kSpace);
  EXPECT_FALSE(cache.find(1));
  cache.keep(1, some(0.5F));
  EXPECT_TRUE(cache.find(1));
}

// Directions in a plane.
class TeachPreviewTest : public testing::Test {
 protected:
  void add(const std::string& label, float x, float y) {
    Embeddings row;
    row.add({x, y});
    preview_.add(label, row[0], 2);
  }
  std::optional<Preview> of(float x, float y) const {
    Embeddings row;
    row.add({x, y});
    return preview_.of(row[0]);
  }

  TeachPreview preview_;
};

TEST_F(TeachPreviewTest, BeginsWithTheFifthPictureOfTheSecondClass) {
  for (int i = 0; i < 8; ++i) add("open", 1, 0.1F);
  for (int i = 0; i < 4; ++i) add("closed", 0.1F, 1);
  EXPECT_FALSE(of(1, 0));
  add("closed", 0.1F, 1);
  EXPECT_EQ(of(1, 0)->label, "open");
  EXPECT_EQ(of(0, 1)->label, "closed");
  EXPECT_GT(of(0, 1)->lead, 0.5F);
  EXPECT_NEAR(of(1, 1)->lead, 0, 1e-5);
}

// Half of a class's pictures are of the night, and look like nothing of the day.
TEST_F(TeachPreviewTest, TheNearestPicturesOfAClassCount) {
  for (int i = 0; i < 5; ++i) {
    add("open", 1, 0);
    add("open", -1, 0.2F);
    add("closed", 0.6F, 1);
  }
  EXPECT_EQ(of(1, 0)->label, "open");
  EXPECT_EQ(of(-1, 0)->label, "open");
  EXPECT_EQ(of(0.4F, 1)->label, "closed");
}

}  // namespace
}  // namespace lookout
