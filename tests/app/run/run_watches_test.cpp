#include "app/run/run_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "paths.h"
#include "pipeline/core/error.h"
#include "tests/support/fakes.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using ::testing::SizeIs;

// Any model; `loads` are counted.
std::function<LoadedModel(const ModelOptions&)> loading(int& loads) {
  return [&loads](const ModelOptions& /*model*/) {
    ++loads;
    LoadedModel loaded;
    loaded.classifiers.push_back(std::make_unique<FakeClassifier>());
    return loaded;
  };
}

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

TEST(RunWatches, OneFileIsLoadedOnceHoweverItIsNamed) {
  const TempDir directory;
  directory.write("a.pt", "a model");
  RunOptions options;
  for (const std::string name : {"/a.pt", "/./a.pt", ""}) {
    WatchOptions& watch = options.watches.emplace_back();
    watch.name = "watch-" + std::to_string(options.watches.size());
    watch.model = directory.path().string() + name;
  }
  options.watches[2].model =
      directory.path().string() + "/../" + directory.path().filename().string() + "/a.pt";
  int loads = 0;
  const OpenWatches watches = open_watches(options, loading(loads));
  EXPECT_EQ(loads, 1);
  EXPECT_THAT(watches.models, SizeIs(1));
}

TEST(RunWatches, WhatIsSaidOfAModelHoldsHoweverAWatchNamesIt) {
  RunOptions options;
  options.model.file = "models/a.pt";
  options.model.labels = "labels.txt";
  WatchOptions& watch = options.watches.emplace_back();
  watch.name = "gate";
  watch.model = "./models/a.pt";
  EXPECT_EQ(watches_of(options).front().options.model.labels, "labels.txt");
  watch.model = "models/b.pt";
  EXPECT_EQ(watches_of(options).front().options.model.labels, "");
}

TEST(RunWatches, AModelThatIsNotAcceptedAnyMoreIsRefusedThoughItsFileIsAsItWas) {
  RunOptions options;
  options.model.file = LOOKOUT_SELFTEST;
  int loads = 0;
  const auto load = loading(loads);
  const OpenWatches before = open_watches(options, load);
  options.model.sha256 = {read_archive(options.model).sha256()};
  const OpenWatches accepted = open_watches(options, load, before.models);
  EXPECT_EQ(loads, 1) << "the same is used";
  options.model.sha256 = {std::string(64, '0')};
  EXPECT_THROW(open_watches(options, load, accepted.models), Error);
}

TEST(RunWatches, AModelWhoseDescriptionChangedIsLoadedAgain) {
  const TempDir directory;
  RunOptions options;
  options.model.file = directory / "model.pt";
  std::filesystem::copy_file(LOOKOUT_SELFTEST, options.model.file);
  int loads = 0;
  const auto load = loading(loads);
  const OpenWatches before = open_watches(options, load);
  const OpenWatches same = open_watches(options, load, before.models);
  EXPECT_EQ(loads, 1);
  directory.write("model.metadata.json", "{}");
  open_watches(options, load, same.models);
  EXPECT_EQ(loads, 2);
}

}  // namespace
}  // namespace lookout
