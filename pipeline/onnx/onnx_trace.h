// The times of the operators of traced frames, by ONNX Runtime's own profile.
//
// A session writes its profile when it ends, and cannot begin another one. Traced frames therefore
// run in a session of their own, and their operators come into the trace at its end.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/classifier.h"
#include "pipeline/frame.h"
#include "pipeline/model/archive.h"
#include "pipeline/mutex.h"
#include "pipeline/onnx/onnx_session.h"
#include "pipeline/profile/trace.h"

namespace lookout {

// A run of a session, and the frame that it was for; nothing: a run to warm up.
struct ProfiledRun {
  std::optional<std::uint64_t> frame;
  pid_t thread = 0;
  Clock::time_point start;
};

// The operators in a profile, an array of events in Chrome's trace-event format. `runs` are all of
// the session, in order. Throws std::exception for anything else.
std::vector<Trace::Operator> read_profile(const std::string& json, const std::string& model,
                                          const std::vector<ProfiledRun>& runs);

// Used by several threads.
class OnnxTrace {
 public:
  // `operators`: libraries that it needs; `model`: its name. Throws as OnnxSession, and
  // Error(kOutput) when there is no room for a temporary file.
  OnnxTrace(const ModelArchive& archive, int threads, const std::vector<std::string>& operators,
            std::string model);
  ~OnnxTrace();
  OnnxTrace(const OnnxTrace&) = delete;
  OnnxTrace& operator=(const OnnxTrace&) = delete;

  // As OnnxSession::run(). `frame`: with a trace; without, the run is not recorded in one.
  Ort::Value run(const std::vector<float>& values, const std::array<std::int64_t, 4>& shape,
                 const std::string& output, const FrameContext& frame);

 private:
  std::vector<Trace::Operator> operators();

  const std::string model_;
  const std::filesystem::path folder_;  // temporary
  OnnxSession session_;
  Mutex mutex_;
  std::vector<ProfiledRun> runs_ GUARDED_BY(mutex_);
  bool is_added_ GUARDED_BY(mutex_) = false;  // to the trace
};

}  // namespace lookout
