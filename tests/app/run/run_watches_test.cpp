#include "app/run/run_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "paths.h"
#include "pipeline/core/error.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using ::testing::SizeIs;

TEST(RunWatches, HeadsOfOneBaseAreKnownToShareItAndEachHasItsWorkers) {
  RunOptions options;
  options.model.workers = 3;
  for (const std::string name : {"gate", "lamp", "box"}) {
    WatchOptions& watch = options.watches.emplace_back();
    watch.name = name;
    watch.model = name + ".head";
  }
  options.watches[2].model = "box.pt";
  const auto base = std::make_shared<int>(0);
  const auto load = [&base](const ModelOptions& model) {
    LoadedModel loaded;
    for (int i = 0; i < model.workers; ++i) {
      loaded.classifiers.push_back(std::make_unique<FakeClassifier>());
    }
    if (model.file != "box.pt") loaded.base = base;
    return loaded;
  };
  const Plan plan = make_plan(options, open_watches(options, load), /*live=*/true);
  ASSERT_THAT(plan.regions, SizeIs(3));
  for (const PipelineRegion& region : plan.regions) EXPECT_THAT(region.classifiers, SizeIs(3));
  EXPECT_EQ(plan.regions[0].base, base);
  EXPECT_EQ(plan.regions[1].base, base);
  EXPECT_EQ(plan.regions[2].base, nullptr);
}

TEST(RunWatches, AModelThatIsNotAcceptedAnyMoreIsRefusedThoughItsFileIsAsItWas) {
  RunOptions options;
  options.model.file = LOOKOUT_SELFTEST;
  int loads = 0;
  const auto load = [&loads](const ModelOptions& /*model*/) {
    ++loads;
    LoadedModel loaded;
    loaded.classifiers.push_back(std::make_unique<FakeClassifier>());
    return loaded;
  };
  const OpenWatches before = open_watches(options, load);
  options.model.sha256 = {read_archive(options.model).sha256()};
  const OpenWatches accepted = open_watches(options, load, before.models);
  EXPECT_EQ(loads, 1) << "the same is used";
  options.model.sha256 = {std::string(64, '0')};
  EXPECT_THROW(open_watches(options, load, accepted.models), Error);
}

}  // namespace
}  // namespace lookout
