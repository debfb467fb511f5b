// The times of the operators of traced frames, by ONNX Runtime's own profile.
//
// A session writes its profile when it ends, and cannot begin another one. Traced frames therefore
// run in a session of their own, and their operators come into the trace at its end. ONNX Runtime
// keeps the times of all runs until then, so the number of these frames is limited.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/onnx/onnx_profile.h"
#include "pipeline/onnx/onnx_session.h"
#include "pipeline/profile/trace.h"

namespace lookout {

// Used by several threads.
class OnnxTrace {
 public:
  // `operators`: libraries that it needs; `model`: its name; `nodes`: how many its file has. Throws
  // as OnnxSession, and Error(kOutput) when there is no room for a temporary file.
  OnnxTrace(const ModelArchive& archive, int threads, const std::vector<std::string>& operators,
            std::string model, std::uint64_t nodes);
  ~OnnxTrace();
  OnnxTrace(const OnnxTrace&) = delete;
  OnnxTrace& operator=(const OnnxTrace&) = delete;

  // Whether the operators of one more frame can be recorded.
  bool has_room();

  // As OnnxSession::run(). `frame`: with a trace; without, the run is not recorded in one.
  std::vector<Ort::Value> run(const std::vector<float>& values,
                              const std::array<std::int64_t, 4>& shape,
                              const std::vector<const char*>& outputs, const FrameContext& frame);

 private:
  void add_operators(const Trace::AddOperator& add);

  const std::string model_;
  const std::uint64_t max_frames_;
  const std::filesystem::path folder_;  // temporary
  OnnxSession session_;
  Mutex mutex_;
  std::vector<ProfiledRun> runs_ GUARDED_BY(mutex_);
  std::uint64_t frames_ GUARDED_BY(mutex_) = 0;  // of these runs
  bool is_full_ GUARDED_BY(mutex_) = false;      // there was no room for a frame
};

}  // namespace lookout
