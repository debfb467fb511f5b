// lookout run: builds the pipeline that the options describe, and runs it.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "app/options/options.h"
#include "pipeline/torch/torch_classifier.h"

namespace lookout {

// Ends with the source, the timeout, or when `stop` becomes true. When `operators_asked` becomes
// true, the table of the operators goes to the log. Throws Error; kNoInput, too, at the end of a
// source of which nothing could be read.
void run(const RunOptions& options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked);

// What runs, measurements and evaluations begin with: a copy of the model for each worker, of which
// the log tells. `keep_threads`: compute with as many threads as the options say, whatever else the
// machine does; `operators` sees what the models run, and outlives them...
std::vector<std::unique_ptr<TorchClassifier>> load_models(const RunOptions& options,
                                                          bool keep_threads,
                                                          OperatorProfile* operators = nullptr);
// ... as run_pipeline() wants them...
std::vector<Classifier*> pointers(const std::vector<std::unique_ptr<TorchClassifier>>& models);
// ... and how the source is opened for it, or would be.
SourceOptions source_options(const RunOptions& options, const InputSpec& input);

}  // namespace lookout
