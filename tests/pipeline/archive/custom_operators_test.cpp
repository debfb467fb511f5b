#include "pipeline/archive/custom_operators.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <stdexcept>
#include <string>

#include "pipeline/archive/onnx_contents.h"
#include "tests/support/onnx_file.h"

namespace lookout {
namespace {

using protozero::pbf_writer;

OperatorNames in_code(std::initializer_list<std::string_view> pieces) {
  OperatorNames names;
  TorchCodeScanner scanner(names);
  for (const std::string_view piece : pieces) scanner.take(piece);
  scanner.finish();
  return names;
}

TEST(TorchCodeScanner, NamesOperatorsThatAreNotLibTorchs) {
  EXPECT_EQ(in_code({"_0 = torch.mean(ops.acme.scores(x, 2.), [2, 3])\n"
                     "_1 = ops.quantized.add(_0, ops.prepacked.linear_clamp_run(_0), 1., 0)\n"
                     "return ops.torchvision.nms(_1, _1, 0.5)"}),
            (OperatorNames{"acme::scores", "torchvision::nms"}));
  EXPECT_EQ(in_code({"return ops.acme.scores"}), OperatorNames{"acme::scores"});
}

TEST(TorchCodeScanner, NamesClasses) {
  EXPECT_EQ(in_code({"  _packed : __torch__.torch.classes.quantized.Conv2dPackedParamsBase\n"
                     "  tracker : __torch__.torch.classes.acme.Tracker\n"}),
            OperatorNames{"acme::Tracker"});
}

TEST(TorchCodeScanner, TextsCommentsAndMembersAreNone) {
  EXPECT_EQ(in_code({"print(\"it\\'s \\\" ops.fake.one(1)\") # don't ops.fake.two()\n"
                     "x = (self.ops).fake.three + self.ops.fake.four(ops)\n"
                     "my_ops.fake.five('ops.fake.six(1)')"}),
            OperatorNames());
}

TEST(TorchCodeScanner, PiecesEndAnywhere) {
  EXPECT_EQ(in_code({"o", "ps.ac", "", "me.", "scores(\"", "\\", "\" ops.fake.one(\"", ")"}),
            OperatorNames{"acme::scores"});
}

TEST(OnnxCustomOperators, AreThoseOfForeignDomains) {
  OnnxFile file = OnnxFile::sums_of_planes();
  EXPECT_EQ(read_onnx(file.bytes()).custom_operators, OperatorNames());
  file.after = {"Scores", "Sort"};
  file.after_domain = "acme";
  EXPECT_EQ(read_onnx(file.bytes()).custom_operators,
            (OperatorNames{"acme::Scores", "acme::Sort"}));
  for (const char* own : {"com.microsoft", "ai.onnx", "ai.onnx.ml"}) {
    file.after_domain = own;
    EXPECT_EQ(read_onnx(file.bytes()).custom_operators, OperatorNames()) << own;
  }
}

void add_node(pbf_writer& parent, int field, const std::string& domain, const std::string& type,
              const std::string& branch = {}) {
  pbf_writer node(parent, static_cast<protozero::pbf_tag_type>(field));
  node.add_string(4, type);
  node.add_string(7, domain);
  if (branch.empty()) return;
  pbf_writer attribute(node, 5);
  attribute.add_message(6, branch);
}

void add_opset(pbf_writer& model) { pbf_writer(model, 8).add_int64(2, 13); }

TEST(OnnxCustomOperators, FunctionsOfTheModelAreNotButWhatTheyUseIs) {
  std::string bytes;
  pbf_writer model(bytes);
  add_opset(model);
  {
    pbf_writer graph(model, 7);
    add_node(graph, 1, "own", "Function");
  }
  {
    pbf_writer function(model, 25);
    function.add_string(1, "Function");
    add_node(function, 7, "acme", "Scores");
    function.add_string(10, "own");
  }
  EXPECT_EQ(read_onnx(bytes).custom_operators, OperatorNames{"acme::Scores"});
}

TEST(OnnxCustomOperators, BranchesAreSearchedButNotWithoutEnd) {
  const auto nested = [](int depth) {
    std::string graph;
    pbf_writer inner(graph);
    add_node(inner, 1, "acme", "Scores");
    for (int i = 0; i < depth; ++i) {
      std::string outer;
      pbf_writer writer(outer);
      add_node(writer, 1, "", "If", graph);
      graph = outer;
    }
    std::string model;
    pbf_writer writer(model);
    add_opset(writer);
    writer.add_message(7, graph);
    return model;
  };
  EXPECT_EQ(read_onnx(nested(2)).custom_operators, OperatorNames{"acme::Scores"});
  EXPECT_THROW(read_onnx(nested(200)), std::runtime_error);
}

}  // namespace
}  // namespace lookout
