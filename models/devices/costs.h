// What calls of operators cost, by the sizes of their tensors.
#pragma once

#include "pipeline/torch/device_plugin.h"

namespace meter {

// Adds a call of `op` with these arguments and results to the costs.
void add_call(const c10::OperatorHandle& op, const std::vector<c10::IValue>& inputs,
              const std::vector<c10::IValue>& outputs);

// As the plug-in's functions.
lookout::DeviceCosts costs();
void reset_costs();

}  // namespace meter
