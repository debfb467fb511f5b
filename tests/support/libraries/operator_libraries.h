// Libraries of operators that the build makes for tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "paths.h"

namespace lookout {

// "lookout_example_torch", "lookout_example_onnx": the example of models/operators. "..._again":
// the same in another file. "wrong_...": of wrong_operators.cpp.
inline std::string operator_library(const std::string& name) {
  return std::string(LOOKOUT_OPERATORS) + "/lib" + name + ".so";
}

// Whether the scores are those of the example, with a temperature of 2 and a threshold of 1.
inline void expect_calibrated(const std::array<double, 3>& logits,
                              const std::vector<float>& scores) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit / 2.0);
  const double unknown = 1 / (1 + std::exp(2 * std::log(sum) - 1.0));
  ASSERT_EQ(scores.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(scores[i], std::exp(logits[i] / 2.0) / sum * (1 - unknown), 1e-6) << i;
  }
  EXPECT_NEAR(scores[3], unknown, 1e-6);
}

}  // namespace lookout
