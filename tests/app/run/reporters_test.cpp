#include "app/run/reporters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/model/model_trials.h"
#include "tests/support/model_testing.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

using KeptReporters = std::vector<std::shared_ptr<Reporter>>;

// A run whose watches change.
class WatchReportersTest : public testing::Test {
 protected:
  WatchReportersTest() {
    info_.camera = "front";
    info_.source = "a camera";
    info_.live = true;
    options_.results.format = Format::kJson;
    options_.results.write = Results::kChanges;
  }

  // The reporters of a plan with these watches.
  KeptReporters make(const std::vector<std::string>& names) {
    std::vector<OpenWatch> watches;
    for (const std::string& name : names) {
      OpenWatch watch{{name, options_}, nullptr, 0};
      if (!name.empty()) watch.info = std::make_shared<WatchInfo>(WatchInfo{name, {}});
      watches.push_back(std::move(watch));
    }
    const ReporterParts parts{options_, watches, resolved_, info_, {},      output_, pictures_,
                              stop_,    asked_,  nullptr,   wake_, trials_, nullptr};
    return make_watch_reporters(parts, reporters_);
  }

  // A change of the state of the watch.
  static void report(const KeptReporters& reporters, const std::string& name) {
    Result result;
    if (!name.empty()) result.watch = std::make_shared<WatchInfo>(WatchInfo{name, {}});
    result.model = model_with({});
    result.state_changed = true;
    result.state = {SceneState::Kind::kClass, {7, "open", 0.5F}};
    Frame frame;
    frame.bgr = cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(200));
    for (const auto& reporter : reporters) reporter->report(result, frame);
  }

  // Names of the pictures when all of them are written, up to the date.
  std::vector<std::string> pictures() {
    reporters_.made.clear();
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      const std::string name = entry.path().filename().string();
      names.push_back(name.substr(0, name.find('_')));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TempDir directory_;
  RunOptions options_;
  RunInfo info_;
  ResolvedRun resolved_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> asked_{false};
  WakeEvent wake_;
  ResultOutput output_{true, stop_};
  PictureQueue pictures_;
  ModelTrials trials_{std::filesystem::path()};
  WatchReporters reporters_;
};

TEST_F(WatchReportersTest, AWatchThatStaysKeepsItsReportersWhateverTheOthersDo) {
  options_.events.on_change = {"true"};
  const KeptReporters alone = make({"gate"});
  ASSERT_THAT(alone, SizeIs(2)) << "results and commands";
  const KeptReporters both = make({"lamp", "gate"});
  EXPECT_THAT(both, SizeIs(4));
  for (const auto& reporter : alone) EXPECT_THAT(both, Contains(reporter));
  const KeptReporters again = make({"gate"});
  EXPECT_EQ(again, alone);
}

TEST_F(WatchReportersTest, AnotherCommandMakesAnotherReporterOfCommandsAlone) {
  options_.events.on_change = {"true"};
  const KeptReporters before = make({"gate"});
  options_.events.on_change = {"false"};
  const KeptReporters after = make({"gate"});
  ASSERT_THAT(before, SizeIs(2));
  ASSERT_THAT(after, SizeIs(2));
  EXPECT_EQ(after[0], before[0]);
  EXPECT_NE(after[1], before[1]);
}

TEST_F(WatchReportersTest, PicturesAreCalledByTheirWatch) {
  options_.events.snapshot_on_change = directory_.path();
  report(make({"gate", "lamp"}), "gate");
  EXPECT_THAT(pictures(), ElementsAre("front.gate"));
  report(make({""}), "");
  EXPECT_THAT(pictures(), ElementsAre("front", "front.gate"));
}

TEST_F(WatchReportersTest, PicturesOfAWatchThatIsGoneMakeRoomForThoseThatThereAre) {
  options_.events.snapshot_on_change = directory_.path();
  report(make({"old", "lamp"}), "old");
  EXPECT_THAT(pictures(), ElementsAre("front.old"));
  const auto first = std::filesystem::directory_iterator(directory_.path());
  options_.events.snapshot_limit = 2 * first->file_size();
  report(make({"old", "lamp"}), "lamp");
  EXPECT_THAT(pictures(), ElementsAre("front.lamp", "front.old"));
  report(make({"gate", "lamp"}), "gate");
  EXPECT_THAT(pictures(), ElementsAre("front.gate", "front.lamp"));
}

}  // namespace
}  // namespace lookout
