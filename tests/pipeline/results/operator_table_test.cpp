#include "pipeline/results/operator_table.h"

#include <gtest/gtest.h>
#include <memory>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/results/format.h"
#include "pipeline/results/statistics.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(OperatorTable, IsSortedByAnyColumn) {
  OperatorTable table;
  for (const auto& [name, ms] : {std::pair("a", 1), std::pair("b", 3), std::pair("c", 2)}) {
    OperatorRow row;
    row.name = name;
    row.self = milliseconds(ms);
    row.total = milliseconds(10 - ms);
    row.calls = ms == 2 ? 9 : 0;
    row.bytes = ms;
    table.rows.push_back(row);
  }
  const auto first = [&table](OperatorOrder order) {
    sort_rows(order, table);
    EXPECT_EQ(table.order, order);
    return table.rows.front().name;
  };
  EXPECT_EQ(first(OperatorOrder::kSelf), "b");
  EXPECT_EQ(first(OperatorOrder::kTotal), "a");
  EXPECT_EQ(first(OperatorOrder::kMemory), "b");
  EXPECT_EQ(first(OperatorOrder::kCalls), "c");
}

OperatorTable two_operators() {
  OperatorRow conv;
  conv.model = "net";
  conv.name = "quantized::conv2d";
  conv.sampled = 30;
  conv.calls = 300;
  conv.total = milliseconds(250);
  conv.self = milliseconds(200);
  conv.bytes = 614'400;
  conv.share = 0.8;
  conv.max = microseconds(1250);
  conv.max_frame = 812;
  OperatorRow add = conv;
  add.name = "aten::add";
  add.self = milliseconds(50);
  add.share = 0.2;
  OperatorTable table;
  table.probability = 0.1;
  table.frames = 100;
  table.rows = {conv, add};
  return table;
}

TEST(JsonFormat, OperatorsAreInTheStatisticsAndTheArchiveInTheSummary) {
  ModelInfo model;
  model.name = "net";
  model.archive = R"({"producer":{"torch":"1.13.1"}})";
  JsonFormat format({"front"});
  format.use(std::make_shared<ModelInfo>(model));
  OperatorTable table = two_operators();
  std::string out;
  StatsSnapshot stats;
  format.append(stats, out, &table);
  const Json line = Json::parse(out);
  EXPECT_EQ(line["op_sampling"], 0.1);
  EXPECT_TRUE(line["peak_live_bytes"].is_null());
  ASSERT_EQ(line["operators"].size(), 2U);
  EXPECT_EQ(line["operators"][0], Json::parse(R"({"model":"net","kind":"operator",
      "name":"quantized::conv2d","sampled":30,"calls":300,"total_ms":250.0,"self_ms":200.0,
      "share":0.8,"bytes":614400,"longest_ms":1.25,"longest_seq":812})"));
  EXPECT_FALSE(line.contains("archive"));

  table.group = OperatorGroup::kShape;
  table.peak_live_bytes = 1'505'280;
  table.rows[0].shapes = "[1, 3, 224, 224]";
  stats.final = true;
  out.clear();
  format.append(stats, out, &table);
  EXPECT_EQ(Json::parse(out)["operators"][0]["shapes"], "[1, 3, 224, 224]");
  EXPECT_EQ(Json::parse(out)["peak_live_bytes"], 1'505'280);
  EXPECT_EQ(Json::parse(out)["archive"]["producer"]["torch"], "1.13.1");
  out.clear();
  format.append(stats, out);
  EXPECT_FALSE(Json::parse(out).contains("operators"));
}

TEST(Format, TableOfOperators) {
  OperatorTable table = two_operators();
  table.rows[1].shapes = "[2]";
  const std::vector<std::string> lines = to_text(table, OperatorTimes::kPerFrame, 20);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "operators of 100 frames, 10 % of the calls sampled; of a frame:");
  EXPECT_EQ(lines[1], "  self ms   share  total ms        kB   calls (error)  operator");
  EXPECT_EQ(lines[2], "    2.000  80.0 %     2.500       6.1     3.0 (± 0.5)  quantized::conv2d");
  EXPECT_EQ(lines[3], "    0.500  20.0 %     2.500       6.1     3.0 (± 0.5)  aten::add [2]");
  table.rows.resize(50, table.rows[0]);
  EXPECT_EQ(to_text(table, OperatorTimes::kPerFrame, 20).size(), 23U);
  EXPECT_EQ(to_text(table, OperatorTimes::kPerFrame, 20).back(), "and 30 more");
  EXPECT_EQ(to_text(OperatorTable(), OperatorTimes::kPerFrame, 20).size(), 2U);
}

TEST(Format, CallsThatWereAllMeasuredHaveNoError) {
  OperatorTable table = two_operators();
  table.probability = 1;
  const std::vector<std::string> lines = to_text(table, OperatorTimes::kPerFrame, 20);
  EXPECT_EQ(lines[1], "  self ms   share  total ms        kB   calls  operator");
  EXPECT_EQ(lines[2], "    2.000  80.0 %     2.500       6.1     3.0  quantized::conv2d");
}

TEST(Format, OperatorsOfLayersAndLabels) {
  OperatorTable table = two_operators();
  table.probability = 1;
  table.group = OperatorGroup::kLayer;
  table.peak_live_bytes = 1'505'280;
  table.rows[0].layer = "features.3.conv.0";
  table.rows[1].name = "HEAD";
  table.rows[1].is_label = true;
  const std::vector<std::string> lines = to_text(table, OperatorTimes::kPerFrame, 20);
  EXPECT_EQ(
      lines[0],
      "operators of 100 frames, 100 % of the calls sampled, peak of live tensors 1.5 MB; of a "
      "frame:");
  EXPECT_NE(lines[1].find("  operator and layer"), std::string::npos);
  EXPECT_NE(lines[2].find("  quantized::conv2d features.3.conv.0"), std::string::npos);
  EXPECT_NE(lines[3].find("  label HEAD"), std::string::npos);
}

}  // namespace
}  // namespace lookout
