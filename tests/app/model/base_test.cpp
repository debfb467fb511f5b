#include "app/model/base.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "pipeline/run/open_model.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

TEST(Base, ThereIsNoneUnlessItsPackageIsInstalled) {
  const TempDir folder;
  EXPECT_EQ(installed_base(folder.path()), std::nullopt);
  EXPECT_EQ(installed_base(folder.path() / "missing"), std::nullopt);
  folder.write("selftest.pt", "");
  EXPECT_EQ(installed_base(folder.path()), std::nullopt);
}

TEST(Base, OneIsTakenThatAnInstalledEngineRuns) {
  const TempDir folder;
  for (const char* name : {"base.onnx", "base.pt"}) folder.write(name, "");
  const auto base = installed_base(folder.path());
  ASSERT_TRUE(base);
  for (const EngineRow& row : kEngines) {
    if (base->extension() != row.suffix) continue;
    EXPECT_TRUE(is_installed(row.engine));
  }
  std::filesystem::remove(folder.path() / "base.pt");
  if (!is_installed(Engine::kOnnxRuntime)) GTEST_SKIP() << "ONNX Runtime is not installed";
  EXPECT_EQ(installed_base(folder.path()), base_file(Engine::kOnnxRuntime, folder.path()));
}

}  // namespace
}  // namespace lookout
