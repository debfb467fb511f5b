#include "pipeline/onnx/onnx_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/onnx/onnx_classifier.h"
#include "tests/support/libraries/operator_libraries.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;

class OnnxOperatorsTest : public testing::Test {
 protected:
  std::unique_ptr<Classifier> open(const std::vector<std::string>& libraries) {
    OnnxFile file = OnnxFile::sums_of_planes().described();
    file.after = {"CalibratedScores"};
    file.after_domain = "lookout_example";
    file.attributes = {{"temperature", 2.0F}, {"threshold", 1.0F}};
    file.more_scores = 1;
    file.texts.back().second += "unknown\n";
    ClassifierOptions options;
    options.operator_libraries = libraries;
    const ModelArchive archive(directory_.write("model.onnx", file.bytes()));
    return std::move(open_onnx_models(archive, options, 1).front());
  }

  // The sentence that refuses the libraries.
  std::string refusal(const std::vector<std::string>& libraries) {
    try {
      open(libraries);
      return "no refusal";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      return error.what();
    }
  }

  TempDir directory_;
};

TEST_F(OnnxOperatorsTest, AModelRunsWithItsLibrary) {
  const auto classifier = open({operator_library("lookout_example_onnx")});
  const ImageTensor image{2, 2, {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {}};
  std::vector<float> scores;
  classifier->classify(image, {}, scores);
  expect_calibrated({4, 0, 0}, scores);
}

TEST_F(OnnxOperatorsTest, WithoutItTheOperatorIsNamed) {
  EXPECT_THAT(refusal({}), HasSubstr("needs the operator lookout_example::CalibratedScores, which "
                                     "neither ONNX Runtime has nor a library of --operators FILE"));
}

TEST_F(OnnxOperatorsTest, WrongLibrariesAreRefused) {
  EXPECT_THAT(refusal({operator_library("lookout_example_onnx"),
                       operator_library("lookout_example_onnx_again")}),
              HasSubstr("define a domain of operators twice"));
  EXPECT_THAT(refusal({operator_library("wrong_other_onnx")}),
              HasSubstr("compiled for ONNX Runtime 1.9999"));
  EXPECT_THAT(refusal({operator_library("lookout_example_torch")}),
              HasSubstr("is for LibTorch, but ONNX Runtime runs this model"));
  EXPECT_THAT(refusal({operator_library("wrong_crashes")}),
              HasSubstr("exports no RegisterCustomOps"));
}

}  // namespace
}  // namespace lookout
