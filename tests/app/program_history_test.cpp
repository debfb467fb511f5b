// What a run remembers, and `lookout history`.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/history/history_store.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/time_zone.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ProgramHistoryTest : public testing::Test {
 protected:
  std::vector<std::string> run(const std::string& source) const {
    return {source, "--set", "history.folder=" + folder_};
  }

  Json history(const std::string& show) const {
    const ProgramResult result =
        run_lookout({"history", folder_, "--show", show, "--format", "json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out);
  }

  const TempDir directory_;
  const std::string folder_ = directory_ / "history";
};

TEST_F(ProgramHistoryTest, ARunIsRemembered) {
  const ProgramResult result = run_lookout(run("test://all?fps=0&hold=5&frames=10"));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("history: 3 changes and 2 pictures were written"));
  std::vector<std::string> states;
  const Json changes = history("changes")["changes"];
  for (const Json& change : changes) {
    states.push_back(change["state"].is_null() ? "-" : change["state"]);
  }
  EXPECT_THAT(states, ElementsAre("color bars", "horizontal color bars", "-"));
  EXPECT_EQ(history("state")["changes"][0]["state"], nullptr) << "nobody looks";
  const ProgramResult now = run_lookout({"history", folder_});
  EXPECT_THAT(now.out, StartsWith("not known since 2"));
  const ProgramResult csv =
      run_lookout({"history", folder_, "--show", "changes", "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("Z,,horizontal color bars,color bars,"));
  EXPECT_EQ(history("hours")["hours"].size(), 2);
}

// 25 hours; the one that comes twice is told apart by the zone's name.
TEST_F(ProgramHistoryTest, ADayOnWhichClocksAreSetHasAllItsHours) {
  const ScopedTimeZone berlin;
  {
    HistoryStore store(folder_);
    HistoryChange change;
    change.at = HistoryTime(std::chrono::hours(24 * 20'500));  // 2026-02-16
    change.state = "open";
    change.model = "gate.pt";
    change.number = store.take_number();
    store.add({change});
    store.see(change.at + std::chrono::hours(24 * 300));
  }
  const auto hours = [&](const char* from, const char* to) {
    const ProgramResult result =
        run_lookout({"history", folder_, "--show", "hours", "--from", from, "--to", to});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  const std::string autumn = hours("2026-10-25", "2026-10-26");
  EXPECT_EQ(std::count(autumn.begin(), autumn.end(), '\n'), 25);
  EXPECT_THAT(autumn, HasSubstr("2026-10-25 02:00:00 CEST  open 1 h 0 min, 0 changes\n"
                                "2026-10-25 02:00:00 CET  open 1 h 0 min, 0 changes\n"));
  const std::string spring = hours("2026-03-29", "2026-03-30");
  EXPECT_EQ(std::count(spring.begin(), spring.end(), '\n'), 23);
}

TEST_F(ProgramHistoryTest, AFolderThatCannotBeWrittenStopsNoRun) {
  if (geteuid() != 0) GTEST_SKIP() << "root alone can become another user";
  std::filesystem::create_directory(folder_);
  Program::Options options;
  options.user = 65534;  // nobody
  Program program(run("test://red?fps=0&frames=3"), options);
  const ProgramResult result = program.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("cannot be written: "));
  EXPECT_THAT(result.err, HasSubstr("history: 2 changes were lost"));
}

TEST_F(ProgramHistoryTest, AFolderWithoutItsParentIsRefusedAtTheStart) {
  const ProgramResult result = run_lookout(
      {"test://red?frames=1", "--set", "history.folder=" + (directory_ / "no/history")});
  EXPECT_EQ(result.status, 74);
  EXPECT_THAT(result.err, HasSubstr("history.folder " + (directory_ / "no/history") +
                                    " cannot be used: " + (directory_ / "no") +
                                    " does not exist; make it first"));
}

TEST_F(ProgramHistoryTest, WhatCannotBeShownIsSaid) {
  const ProgramResult none = run_lookout({"history", folder_});
  EXPECT_EQ(none.status, 66);
  EXPECT_THAT(none.err, HasSubstr("history.db is not there: a run remembers its states with "
                                  "history.folder"));
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ + "/history.db") << std::string(5000, 'x');
  const ProgramResult damaged = run_lookout({"history", folder_});
  EXPECT_EQ(damaged.status, 65);
  EXPECT_THAT(damaged.err, HasSubstr("cannot be read: file is not a database"));
  std::filesystem::remove(folder_ + "/history.db");
  ASSERT_EQ(run_lookout(run("test://red?fps=0&frames=1")).status, 0);
  const ProgramResult when = run_lookout({"history", folder_, "--from", "yesterday"});
  EXPECT_EQ(when.status, 64);
  EXPECT_THAT(when.err, HasSubstr("--from yesterday: a time is written 2026-11-21"));
}

// A run that is killed leaves what it had committed; the next one says until when it was known.
TEST_F(ProgramHistoryTest, AKilledRunHasAnEnd) {
  {
    Program program(run("test://red?fps=20"));
    ASSERT_TRUE(program.wait_for("red 100"));
    kill(program.pid(), SIGTERM);
    const ProgramResult ended = program.finish();
    EXPECT_EQ(ended.status, 0);
    if (ended.err.find("the last changes are not written") != std::string::npos) {
      GTEST_SKIP() << "this machine is too busy to write the history within the 2 s of the end";
    }
  }
  const auto before = history("changes")["changes"].size();
  EXPECT_EQ(before, 2);
  Program killed(run("test://red?fps=20"));
  ASSERT_TRUE(killed.wait_for("red 100"));
  kill(killed.pid(), SIGKILL);
  killed.finish();
  ASSERT_EQ(run_lookout(run("test://red?fps=0&frames=1")).status, 0);
  const Json changes = history("changes")["changes"];
  EXPECT_EQ(changes.back()["state"], nullptr);
  EXPECT_GE(changes.size(), before + 2);
}

}  // namespace
}  // namespace lookout
