#include "pipeline/torch/torch_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/torch/torch_classifier.h"
#include "tests/support/libraries/operator_libraries.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::HasSubstr;

const std::string kExample = operator_library("lookout_example_torch");

// The sentence that refuses the libraries.
std::string refusal(const std::vector<std::string>& libraries) {
  try {
    load_torch_operators(libraries);
    return "no refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    return error.what();
  }
}

TEST(TorchOperators, AnArchiveRunsWithItsLibrary) {
  load_torch_operators({kExample});
  const TempDir directory;
  const std::string path = directory / "small.pt";
  write_archive(path, "return lookout_example.calibrated_scores(x.mean([2, 3]), 2.0, 1.0)",
                small_metadata(), "red\ngreen\nblue\nunknown\n", "x", "lookout_example");
  const ModelArchive archive(path);
  EXPECT_EQ(read_contents(archive).custom_operators,
            OperatorNames{"lookout_example::calibrated_scores"});

  ClassifierOptions options;
  options.operator_libraries = {kExample, kExample};
  const auto classifier = open_torch_model(archive, options);
  ImageTensor image = blank_image(classifier->spec().input);
  for (std::size_t i = 0; i < image.values.size(); i += 3) image.values[i] = 1;  // red
  std::vector<float> scores;
  classifier->classify(image, {}, scores);
  expect_calibrated({1, image.values[1], image.values[2]}, scores);
}

TEST(TorchOperators, WrongLibrariesAreRefused) {
  load_torch_operators({kExample});
  EXPECT_THAT(refusal({operator_library("lookout_example_torch_again")}),
              HasSubstr("does not register its operators: Only a single TORCH_LIBRARY can be used "
                        "to register the namespace lookout_example"));
  EXPECT_THAT(refusal({operator_library("wrong_undefined")}), HasSubstr("undefined symbol: "));
  EXPECT_THAT(refusal({operator_library("wrong_other_torch")}),
              HasSubstr("compiled for LibTorch 0.4.1"));
  EXPECT_THAT(refusal({operator_library("wrong_other_onnx")}), HasSubstr("is for ONNX Runtime"));
  const std::string crashes = operator_library("wrong_crashes");
  EXPECT_THAT(refusal({crashes}), HasSubstr(crashes + " crashes while it is loaded ("));
}

TEST(TorchOperators, TheMissingOneIsFoundInTheMessage) {
  EXPECT_EQ(missing_operator("\nUnknown builtin op: acme::scores.\nCould not find any similar ops"),
            "acme::scores");
  EXPECT_EQ(missing_operator("Unknown type name '__torch__.torch.classes.acme.Tracker':\n"),
            "acme::Tracker");
  EXPECT_EQ(missing_operator("PytorchStreamReader failed reading zip archive"), "");
}

}  // namespace
}  // namespace lookout
