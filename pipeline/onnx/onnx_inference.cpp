#include "pipeline/onnx/onnx_inference.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/model/start_log.h"
#include "pipeline/model/thread_trials.h"

namespace lookout {
namespace {

std::uint64_t count_of_nodes(const OnnxContents& contents) {
  std::uint64_t nodes = 0;
  for (const auto& [type, count] : contents.operators) nodes += static_cast<std::uint64_t>(count);
  return nodes;
}

}  // namespace

OnnxInference::OnnxInference(const ModelArchive& archive, ModelSpec spec)
    : archive_(archive.path()),
      spec_(std::move(spec)),
      facts_(onnx_facts(read_contents(archive))) {}

void OnnxInference::load(const ModelArchive& archive, const ClassifierOptions& options) {
  const bool choose = options.threads == ClassifierOptions::kAutoThreads;
  threads_ = std::max(1, choose ? options.processors : options.threads);
  session_ =
      std::make_shared<OnnxSession>(archive, OnnxThreads{threads_}, options.operator_libraries);
}

void OnnxInference::start(const ModelArchive& archive, const ClassifierOptions& options,
                          Gives gives, const RunNetwork& run) {
  StartLog log(spec_.name, "is being loaded");
  const auto begin = Clock::now();
  load(archive, options);
  const Clock::duration load_time = Clock::now() - begin;
  log.begin("is run for the first times");
  const WarmUp start = gives == Gives::kEmbeddings ? warm_up_embedding(run, spec_.input)
                                                   : warm_up(archive_, run, spec_, facts_);
  log.begin("is run to choose the number of threads");
  if (options.threads == ClassifierOptions::kAutoThreads) {
    choose_threads(archive, options, run, start.left, load_time);
  }
  log.begin("is being prepared for the trace");
  if (options.trace) prepare_trace(archive, options);
  malloc_trim(0);  // frees the memory of loading
}

std::vector<Ort::Value> OnnxInference::run(const ImageTensor& image, const FrameContext& frame,
                                           const std::vector<const char*>& outputs) {
  const auto shape = shape_of(image, spec_.input.layout);
  const bool traced = frame.trace != nullptr && trace_ && trace_->has_room();
  return naming_assumed_size(spec_, [&] {
    return traced ? trace_->run(image.values, shape, outputs, frame)
                  : session_->run(image.values, shape, outputs);
  });
}

void OnnxInference::choose_threads(const ModelArchive& archive, const ClassifierOptions& options,
                                   const RunNetwork& run, Clock::duration limit,
                                   Clock::duration load_time) {
  const ImageTensor image = blank_image(spec_.input);
  std::vector<float> numbers;
  std::shared_ptr<OnnxSession> best = session_;
  OnnxThreads best_threads{threads_};
  OnnxThreads tried = best_threads;
  ThreadTrials trials;
  trials.run = [&] { run(image, numbers); };
  trials.load = [&](int threads, std::chrono::microseconds spin) {
    session_.reset();
    tried = {threads, spin};
    session_ = std::make_shared<OnnxSession>(archive, tried, options.operator_libraries);
  };
  trials.keep = [&] {
    best = session_;
    best_threads = tried;
  };
  try_threads(trials, threads_, limit, load_time);
  session_ = best;
  threads_ = best_threads.count;
  if (threads_ > 1) {
    log_debug("ONNX Runtime: {} threads, which spin for {} us", threads_,
              best_threads.spin.count());
  }
}

std::vector<const char*> OnnxInference::all_outputs() const {
  std::vector<const char*> names;
  for (const std::string& name : session_->outputs()) names.push_back(name.c_str());
  return names;
}

// Its session is another one: it is run until it is warm, too.
void OnnxInference::prepare_trace(const ModelArchive& archive, const ClassifierOptions& options) {
  trace_ = std::make_unique<OnnxTrace>(archive, threads_, options.operator_libraries, spec_.name,
                                       count_of_nodes(*read_contents(archive).onnx));
  const ImageTensor image = blank_image(spec_.input);
  for (int run = 0; run < 2; ++run) {
    trace_->run(image.values, shape_of(image, spec_.input.layout), all_outputs(), {});
  }
}

}  // namespace lookout
