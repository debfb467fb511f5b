// Several watches of one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "paths.h"
#include "platform/sources/test_pattern.h"
#include "tests/support/heads.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

constexpr int kQuarterWidth = 160;
constexpr int kQuarterHeight = 120;
constexpr std::size_t kFilmFrames = 60;

struct QuarterWatch {
  const char* name;
  cv::Point place;                                     // of its quarter: 0 or 1
  std::vector<std::pair<std::size_t, Pattern>> shows;  // from which frame on
  std::vector<std::string> state;                      // keys with their values
};

// Steady changes, flashes of one to three frames, a quarter that never changes, and one that
// changes all the time.
const std::vector<QuarterWatch>& quarter_watches() {
  static const std::vector<QuarterWatch> watches{
      {"gate",
       {0, 0},
       {{0, Pattern::kCross}, {13, Pattern::kRed}, {14, Pattern::kCross}, {37, Pattern::kCheckers}},
       {"smoothing=300ms"}},
      {"lamp",
       {1, 0},
       {{0, Pattern::kBlack}, {8, Pattern::kWhite}, {11, Pattern::kBlack}, {21, Pattern::kWhite}},
       {"min-duration=400ms"}},
      {"box", {0, 1}, {{0, Pattern::kColorBars}}, {"enter-threshold=0.9", "leave-threshold=0.2"}},
      {"door",
       {1, 1},
       {{0, Pattern::kGreen},
        {10, Pattern::kBlue},
        {20, Pattern::kGreen},
        {29, Pattern::kNoise},
        {31, Pattern::kGreen},
        {50, Pattern::kRamp}},
       {}}};
  return watches;
}

std::string roi_of(const QuarterWatch& watch) {
  return std::to_string(0.5 * watch.place.x) + "," + std::to_string(0.5 * watch.place.y) +
         ",0.5,0.5";
}

// A film of 10 frames a second.
std::string film_of_quarters() {
  std::string film = "YUV4MPEG2 W320 H240 F10:1 C420jpeg\n";
  cv::Mat bgr(2 * kQuarterHeight, 2 * kQuarterWidth, CV_8UC3);
  cv::Mat yuv;
  for (std::size_t frame = 0; frame < kFilmFrames; ++frame) {
    for (const QuarterWatch& watch : quarter_watches()) {
      cv::Mat quarter = bgr(cv::Rect(watch.place.x * kQuarterWidth, watch.place.y * kQuarterHeight,
                                     kQuarterWidth, kQuarterHeight));
      cv::Mat pattern(quarter.size(), CV_8UC3);
      for (const auto& [from, shown] : watch.shows) {
        if (frame == from) draw_pattern(shown, pattern);
        if (frame == from) pattern.copyTo(quarter);
      }
    }
    cv::cvtColor(bgr, yuv, cv::COLOR_BGR2YUV_I420);
    film += "FRAME\n";
    film.append(reinterpret_cast<const char*>(yuv.data), yuv.total());
  }
  return film;
}

// The frame, the state and the one before.
using StateChange = std::tuple<int, std::string, std::string>;

std::vector<StateChange> changes_in(const ProgramResult& ran, const std::string& watch) {
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::vector<StateChange> changes;
  for (const nlohmann::json& line : json_lines(ran.out)) {
    if (line["type"] != "state" || line.value("watch", "") != watch) continue;
    const auto& previous = line["previous"];
    changes.emplace_back(line["seq"], line["state"],
                         previous.is_string() ? previous.get<std::string>() : "");
  }
  return changes;
}

const std::vector<std::string> kChangesAsJson{"--format", "json",  "--threads",
                                              "1",        "--set", "results.write=changes"};

TEST(ProgramWatches, EachHasTheStatesOfARunOfItsOwn) {
  const TempDir directory;
  const std::string film = directory.write("film.y4m", film_of_quarters());
  std::vector<std::string> together{film};
  together.insert(together.end(), kChangesAsJson.begin(), kChangesAsJson.end());
  for (const QuarterWatch& watch : quarter_watches()) {
    const std::string begin = std::string("watch.") + watch.name + ".";
    together.insert(together.end(), {"--set", begin + "roi=" + roi_of(watch)});
    for (const auto& key : watch.state) together.insert(together.end(), {"--set", begin + key});
  }
  const ProgramResult all = run_lookout(together);
  together.insert(together.end(), {"--set", "model.workers=3"});
  const ProgramResult all_with_workers = run_lookout(together);
  std::size_t changes = 0;
  for (const QuarterWatch& watch : quarter_watches()) {
    std::vector<std::string> alone{film, "--roi", roi_of(watch)};
    alone.insert(alone.end(), kChangesAsJson.begin(), kChangesAsJson.end());
    for (const auto& key : watch.state) alone.insert(alone.end(), {"--set", "state." + key});
    const auto expected = changes_in(run_lookout(alone), "");
    EXPECT_EQ(changes_in(all, watch.name), expected) << watch.name;
    EXPECT_EQ(changes_in(all_with_workers, watch.name), expected) << watch.name;
    EXPECT_FALSE(expected.empty()) << watch.name;
    changes += expected.size();
  }
  EXPECT_GE(changes, 9U) << "the film shows something";
}

// ---- What cannot be watched

class RefusedWatches : public testing::Test {
 protected:
  void expect_refused(int status, const std::vector<std::string>& options,
                      const std::string& sentence) const {
    std::vector<std::string> arguments{"test://red?frames=1", "--log-level", "error"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramResult ran = run_lookout(arguments);
    EXPECT_EQ(ran.out, "");
    expect_failure(ran, status, sentence);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }

  std::string config(const std::string& text) const { return directory_.write("c.toml", text); }

  TempDir directory_;
};

TEST_F(RefusedWatches, RegionsHaveAPlaceInThePicture) {
  for (const char* roi : {"[0, 0, 0, 1]", "[0, 0, 1, 0]", "[0.5, 0, 0.6, 1]", "[1.2, 0, 0.1, 1]",
                          "[-0.1, 0, 0.5, 1]", "[0, 0, nan, 1]", "[0, 0, 1]"}) {
    const std::string file = config(std::string("[watch.gate]\nroi = ") + roi + "\n");
    expect_refused(78, {"--config", file}, file + ":2:7: watch.gate.roi: expected");
  }
  expect_refused(64, {"--set", "watch.gate.roi=0,0,0,1"}, "--set watch.gate.roi: expected");
}

TEST_F(RefusedWatches, AHundredAreTooMany) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "[watch.w" + std::to_string(i) + "]\n";
  const std::string file = config(many);
  expect_refused(
      78, {"--config", file},
      file + ":9:1: watch.w8: there may be at most 8 sections [watch.NAME]: leave one out");
}

TEST_F(RefusedWatches, AHeadNeedsItsBase) {
  const std::string head = directory_.write("gate.head", write_head(small_head(4)));
  const std::vector<std::string> gate{"--set", "watch.gate.model=" + head, "--set",
                                      "watch.lamp.roi=0,0,0.5,1"};
  expect_refused(66, gate, "model " + head + ": its base small, the file with the SHA-256 aaaa");
  auto of_another = gate;
  of_another.insert(of_another.end(), {"--set", "model.base=" LOOKOUT_SELFTEST});
  expect_refused(65, of_another, "selftest.pt is not its base small");
  expect_refused(66, {"--set", "watch.gate.model=" + (directory_ / "none.head")},
                 "no such model: " + (directory_ / "none.head"));
}

}  // namespace
}  // namespace lookout
