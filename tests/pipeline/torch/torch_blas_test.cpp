#include "pipeline/torch/torch_blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paths.h"
#include "pipeline/torch/torch_classifier.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

// Where Debian 12 and 13 have them.
TEST(Blas, TheReferenceOneIsInAFolderOfItsOwn) {
  for (const char* reference : {"/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0",
                                "/usr/lib/aarch64-linux-gnu/blas/libblas.so.3.12.1"}) {
    EXPECT_TRUE(is_reference_blas(reference)) << reference;
    EXPECT_THAT(blas_advice(reference),
                testing::AllOf(testing::HasSubstr(reference), testing::HasSubstr("libopenblas0")));
  }
  for (const char* fast : {"/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3",
                           "/usr/lib/aarch64-linux-gnu/openblas-pthread/libopenblasp-r0.3.29.so",
                           "/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3",
                           "/usr/lib/x86_64-linux-gnu/atlas/libblas.so.3.10.3",
                           "/usr/lib/lookout/libopenblasp-r0-1d5b0d3d.3.29.so",
                           "/opt/libtorch/lib/libtorch_cpu.so", ""}) {
    EXPECT_FALSE(is_reference_blas(fast)) << fast;
    EXPECT_EQ(blas_advice(fast), "") << fast;
  }
}

// Which one it is depends on the machine; tests/app/program_inspect_test.cpp chooses.
TEST(Blas, IsAMatterOfModelsOfFloats) {
  const TempDir directory;
  const std::string floats = directory / "floats.pt";
  write_archive(floats, kMeanOfChannels, small_metadata(), kThreeLabels);
  EXPECT_EQ(open_torch_model(ModelArchive(floats), {})->facts().advice,
            blas_advice(blas_library()));
  const std::string quantized = std::string(LOOKOUT_MODELS) + "/selftest.pt";
  EXPECT_EQ(open_torch_model(ModelArchive(quantized), {})->facts().advice, "");
}

}  // namespace
}  // namespace lookout
