// The operator for LibTorch: lookout_example::calibrated_scores.
#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/version.h>

#include "calibrated_scores.h"

namespace {

// [rows, classes] -> [rows, classes + 1]
at::Tensor calibrated_scores(const at::Tensor& logits, double temperature, double threshold) {
  TORCH_CHECK(logits.dim() == 2 && logits.size(1) > 0 && logits.scalar_type() == at::kFloat,
              "calibrated_scores takes rows of floats");
  TORCH_CHECK(temperature > 0, "calibrated_scores takes a temperature above 0");
  const at::Tensor rows = logits.contiguous();
  const std::int64_t classes = rows.size(1);
  at::Tensor scores = at::empty({rows.size(0), classes + 1}, rows.options());
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    lookout_example::calibrated_scores(rows.data_ptr<float>() + row * classes, classes, temperature,
                                       threshold, scores.data_ptr<float>() + row * (classes + 1));
  }
  return scores;
}

}  // namespace

TORCH_LIBRARY(lookout_example, library) {
  library.def("calibrated_scores(Tensor logits, float temperature, float threshold) -> Tensor");
  library.impl("calibrated_scores", c10::DispatchKey::CPU, TORCH_FN(calibrated_scores));
}

// lookout refuses the library when it uses another LibTorch.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" const char lookout_operators_abi[] = "LibTorch " TORCH_VERSION;
