// Sampled operators and traces of a run.
#include "tests/support/program.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "paths.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

TEST(Program, OperatorsAreInTheStatisticsWhenSampled) {
  const std::string source = "test://all?fps=0&frames=100";
  const ProgramResult sampled =
      run_lookout({source, "--format", "json", "--set", "profile.op-sampling=0.2", "--set",
                   "profile.op-by=shape", "--threads", "1"});
  ASSERT_EQ(sampled.status, 0) << sampled.err;
  const Json summary = json_lines(sampled.out).back();
  EXPECT_EQ(summary["op_sampling"], 0.2);
  ASSERT_GT(summary["operators"].size(), 3U);
  double share = 0;
  std::string costly;  // of those that have inputs
  for (const Json& row : summary["operators"]) {
    share += row["share"].get<double>();
    if (costly.empty() && row["shapes"] != "") costly = row["name"];
  }
  EXPECT_NEAR(share, 1, 0.01);
  EXPECT_NE(sampled.err.find("  " + costly + " ["), std::string::npos) << sampled.err;

  const ProgramResult plain = run_lookout({source, "--format", "json"});
  EXPECT_FALSE(json_lines(plain.out).back().contains("operators"));
  EXPECT_EQ(plain.err.find("operators"), std::string::npos) << plain.err;
}

TEST(Program, ASignalAsksForTheOperators) {
  for (const auto& [sampling, answer] : std::map<std::string, std::string>{
           {"1", "of the calls sampled"}, {"0", "operators are not sampled"}}) {
    Program program({"test://all", "--set", "profile.op-sampling=" + sampling});
    ASSERT_TRUE(program.wait_for("test://colorbars: ")) << program.err();
    kill(program.pid(), SIGUSR1);
    EXPECT_TRUE(program.wait_for(answer)) << program.err();
    kill(program.pid(), SIGTERM);
    EXPECT_EQ(program.finish().status, 0);
  }
}

TEST(Program, TheArchivesProducerIsInTheSummaryAndTheDebugLog) {
  const ProgramResult result =
      run_lookout({"test://red?fps=0&frames=3", "--format", "json", "--log-level", "debug"});
  const Json archive = json_lines(result.out).back()["archive"];
  EXPECT_TRUE(archive["producer"].contains("torch")) << archive;
  EXPECT_EQ(archive["kernels"], "XNNPACK");
  EXPECT_NE(result.err.find("archive: {\"name\":\"selftest\",\"producer\":{"), std::string::npos)
      << result.err;
  const std::string usage = ".load is used";  // torch.script.load, or since 2.0 torch.jit.load
  const auto told = result.err.find(usage);
  ASSERT_NE(told, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(usage, told + 1), std::string::npos) << "once";
}

TEST(Program, ATraceIsSoundAndSummarized) {
  const TempDir directory;
  const std::string file = directory / "trace.json";
  const ProgramResult result = run_lookout(
      {"test://all?fps=0&frames=40", "--trace", file, "--set", "profile.trace-frames=25"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("trace: 25 frames in " + file), std::string::npos) << result.err;
  const ProgramResult text = run_lookout({"trace-summary", file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out.rfind("Limited by the ", 0), 0U) << text.out;
  EXPECT_NE(text.out.find("\n25 frames in "), std::string::npos) << text.out;
  const Json summary = Json::parse(run_lookout({"trace-summary", file, "--format", "json"}).out);
  EXPECT_EQ(summary["about"]["model"], "selftest");
  EXPECT_EQ(summary["threads"].size(), 2U);
  EXPECT_GT(summary["operators"].size(), 3U);
  const std::string check =
      std::string(LOOKOUT_TESTS) + "/tools/check_trace.py " + file + " 25 >&2";
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  EXPECT_EQ(std::system(("python3 " + check).c_str()), 0);
}

TEST(Program, ATraceOfACameraBeginsAfterItsWarmUp) {
  const TempDir directory;
  const std::string file = directory / "trace.json";
  Program program({"test://all?fps=200", "--trace", file, "--set", "profile.trace-frames=5"});
  // It is there when its frames are, not only at the end.
  ASSERT_TRUE(program.wait_for("trace: 5 frames in " + file)) << program.err();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
  std::ifstream stream(file);
  const Json trace = Json::parse(stream);
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["args"]["frame"], 10);
  }
}

TEST(Program, ATraceThatCannotBeWrittenIsRefusedAtTheStart) {
  const TempDir directory;
  for (const std::string& file : {directory / "no/such/trace.json", directory.path().string()}) {
    const ProgramResult result = run_lookout({"test://red", "--trace", file});
    expect_failure(result, 74, file + " cannot be written: ");
    EXPECT_EQ(result.out, "");
  }
  expect_failure(run_lookout({"test://red", "--trace", "/dev/null"}), 74, "it is no file");
}

TEST(Program, WhatIsNoTraceHasNoSummary) {
  const TempDir directory;
  expect_failure(run_lookout({"trace-summary", directory / "none.json"}), 66, "none.json");
  expect_failure(run_lookout({"trace-summary", directory.path().string()}), 66, "cannot be read");
  const std::string file = directory.write("bad.json", "{\"a\":1}");
  expect_failure(run_lookout({"trace-summary", file}), 65, file + " is not a trace");
  expect_failure(run_lookout({"trace-summary"}), 64, "FILE");
}

}  // namespace
}  // namespace lookout
