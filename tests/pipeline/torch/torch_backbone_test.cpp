// Networks that cannot be the base of a training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/core/error.h"
#include "pipeline/torch/torch_trainer.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

TEST(TorchBackbone, ANetworkOfTwoPicturesIsRefused) {
  const TempDir directory;
  const std::string path = directory / "base.pt";
  write_archive(path, "return torch.linear(torch.flatten(x + y, 1), torch.ones([3, 192]))",
                small_metadata(), kThreeLabels, "x, y");
  try {
    const auto trainer = open_torch_trainer(ModelArchive(path), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), testing::HasSubstr("one picture"));
  }
}

}  // namespace
}  // namespace lookout
