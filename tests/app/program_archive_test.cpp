// What an archive may do to the program that loads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class ProgramWithArchive : public testing::Test {
 protected:
  // Writes an archive and returns its path.
  std::string write(const std::string& forward_body) {
    std::string path = directory_ / "model.pt";
    write_archive(path, forward_body, small_metadata(), kThreeLabels);
    return path;
  }

  TempDir directory_;
};

const char* const kPrints =
    "print('{\"schema\": 1, \"type\": \"forged\"}')\n"
    "  return x.mean([2, 3])";

TEST_F(ProgramWithArchive, WhatItPrintsIsNoResult) {
  const ProgramResult result =
      run_lookout({"test://red?frames=3", "--model", write(kPrints), "--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  int results = 0;
  for (std::string line; std::getline(lines, line);) {
    results += Json::parse(line)["type"] == "classification" ? 1 : 0;
  }
  EXPECT_EQ(results, 3);
  EXPECT_THAT(result.out, Not(HasSubstr("forged")));
  EXPECT_THAT(result.err, HasSubstr("the model prints: {\"schema\": 1, \"type\": \"forged\"}\n"));
}

TEST_F(ProgramWithArchive, WhatItPrintsIsInNoReport) {
  for (const char* command : {"inspect", "doctor", "bench"}) {
    const ProgramResult result =
        run_lookout({command, "--model", write(kPrints), "--format", "json"});
    EXPECT_TRUE(Json::accept(result.out)) << command << ": " << result.out;
  }
}

}  // namespace
}  // namespace lookout
