#include "pipeline/archive/onnx_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <stdexcept>
#include <string>

#include "tests/support/onnx_file.h"

namespace lookout {
namespace {

using protozero::pbf_writer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(OnnxGraph, HasTheNodesAndConstantsOfTheFile) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.after = {"LeakyRelu"};
  file.after_domain = "com.acme";
  file.attributes = {{"alpha", 0.5F}};
  const OnnxGraph graph = read_onnx_graph(file.bytes());
  ASSERT_FALSE(graph.nodes.empty());
  EXPECT_EQ(graph.nodes.back().type, "com.acme::LeakyRelu");
  EXPECT_THAT(graph.nodes.back().attributes, ElementsAre(Pair("alpha", "0.5")));
  EXPECT_EQ(graph.nodes.back().inputs.size(), 1U);
  EXPECT_EQ(graph.nodes.back().outputs.size(), 1U);
  ASSERT_FALSE(graph.constants.empty());
  EXPECT_EQ(graph.constants.front().type, "float");
  EXPECT_FALSE(graph.constants.front().dims.empty());
}

// An attribute of a node: `write` adds its value.
template <typename Write>
std::string attribute(const std::string& name, const Write& write) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_string(1, name);
  write(message);
  return bytes;
}

std::string node(const std::string& name, const std::string& type,
                 const std::vector<std::string>& attributes) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_string(1, "x");
  message.add_string(2, "y");
  message.add_string(3, name);
  message.add_string(4, type);
  for (const std::string& one : attributes) message.add_message(5, one);
  return bytes;
}

std::string graph_of(const std::string& one_node, int count = 1) {
  std::string bytes;
  pbf_writer message(bytes);
  for (int i = 0; i < count; ++i) message.add_message(1, one_node);
  message.add_string(2, "g");
  return bytes;
}

std::string model_of(const std::string& graph) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_int64(1, 8);
  message.add_message(7, graph);
  return bytes;
}

TEST(OnnxGraph, ShowsAttributesOfAllForms) {
  const std::string bytes = model_of(graph_of(
      node("n", "Conv",
           {attribute("axis", [](pbf_writer& w) { w.add_int64(3, -1); }),
            attribute("mode", [](pbf_writer& w) { w.add_bytes(4, std::string("lin\x1b[2J", 7)); }),
            attribute("pads",
                      [](pbf_writer& w) {
                        for (int i = 0; i < 40; ++i) w.add_int64(8, i);
                      }),
            attribute("scales",
                      [](pbf_writer& w) {
                        w.add_float(7, 0.5F);
                        w.add_float(7, 2);
                      }),
            attribute("long", [](pbf_writer& w) { w.add_bytes(4, std::string(100'000, 'a')); })})));
  const OnnxGraph graph = read_onnx_graph(bytes);
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.nodes.size(), 1U);
  const auto& attributes = graph.nodes.front().attributes;
  EXPECT_THAT(attributes[0], Pair("axis", "-1"));
  EXPECT_THAT(attributes[1], Pair("mode", std::string("\"lin\x1b[2J\"")));
  EXPECT_THAT(attributes[2].second, HasSubstr("14, 15, ... (40 in all)]"));
  EXPECT_THAT(attributes[3], Pair("scales", "[0.5, 2]"));
  EXPECT_LT(attributes[4].second.size(), 300U) << "the beginning of a long text";
}

TEST(OnnxGraph, NodesOfAGraphInANodeFollowIt) {
  const std::string inner = graph_of(node("inner", "Relu", {}));
  const std::string branch =
      attribute("then_branch", [&](pbf_writer& w) { w.add_message(6, inner); });
  const OnnxGraph graph = read_onnx_graph(model_of(graph_of(node("choose", "If", {branch}))));
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].graph, "");
  EXPECT_THAT(graph.nodes[0].attributes, ElementsAre(Pair("then_branch", "graph")));
  EXPECT_EQ(graph.nodes[1].graph, "choose.then_branch");
  EXPECT_EQ(graph.nodes[1].type, "Relu");
}

TEST(OnnxGraph, HostileFilesAreRefused) {
  const auto expect_refused = [](const std::string& bytes, const std::string& named) {
    try {
      read_onnx_graph(bytes);
      ADD_FAILURE() << "accepted";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(named));
    }
  };
  expect_refused("", "no graph");
  expect_refused("\x08\x08\x3a\x7f", "damaged or cut");
  expect_refused(model_of(graph_of("", 100'001)), "more than 100,000 nodes");
  std::string deep = graph_of("");
  for (int i = 0; i < 200; ++i) {
    const std::string held = attribute("body", [&](pbf_writer& w) { w.add_message(6, deep); });
    deep = graph_of(node("n", "Loop", {held}));
  }
  expect_refused(model_of(deep), "nested too deeply");
  std::string names;
  pbf_writer message(names);
  for (int i = 0; i < 1'000'001; ++i) message.add_string(1, "");
  expect_refused(model_of(graph_of(names)), "more than 1,000,000 names");
}

}  // namespace
}  // namespace lookout
