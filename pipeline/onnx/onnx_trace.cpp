#include "pipeline/onnx/onnx_trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// ONNX Runtime keeps 1.4 kB for each call of an operator until the profile ends: 45 MB. It makes
// fewer operators of a file's nodes, for what it can it does in one.
constexpr std::uint64_t kMaxCalls = 32'000;

fs::path make_folder() {
  std::string name = fs::temp_directory_path() / "lookout-profile-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorKind::kOutput, fmt::format("the trace needs a temporary folder {}: {}", name,
                                                std::strerror(errno)));
  }
  return name;
}

}  // namespace

OnnxTrace::OnnxTrace(const ModelArchive& archive, int threads,
                     const std::vector<std::string>& operators, std::string model,
                     std::uint64_t nodes)
    : model_(std::move(model)),
      max_frames_(std::max<std::uint64_t>(1, kMaxCalls / std::max<std::uint64_t>(1, nodes))),
      folder_(make_folder()),
      session_(archive, OnnxThreads{threads}, operators, folder_ / "profile") {}

OnnxTrace::~OnnxTrace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool OnnxTrace::has_room() {
  const MutexLock lock(mutex_);
  is_full_ = is_full_ || frames_ >= max_frames_;
  return !is_full_;
}

std::vector<Ort::Value> OnnxTrace::run(const std::vector<float>& values,
                                       const std::array<std::int64_t, 4>& shape,
                                       const std::vector<const char*>& outputs,
                                       const FrameContext& frame) {
  {
    const MutexLock lock(mutex_);
    std::optional<std::uint64_t> traced;
    if (frame.trace != nullptr) traced = frame.sequence;
    runs_.push_back({traced, ::gettid(), Clock::now()});
    if (traced && frames_++ == 0) {
      frame.trace->add_at_end([this](const auto& add) { add_operators(add); });
    }
  }
  return session_.run(values, shape, outputs);
}

// A trace without operators is better than none.
void OnnxTrace::add_operators(const Trace::AddOperator& add) {
  const MutexLock lock(mutex_);
  try {
    std::ifstream profile(session_.end_profiling());
    read_profile(profile, model_, runs_, add);
    if (!is_full_) return;
    log_info(
        "trace: it has the operators of the first {} frames, since ONNX Runtime keeps their "
        "times in memory",
        frames_);
  } catch (const std::exception& error) {
    log_warn("trace: the profile of ONNX Runtime cannot be read: {}", error.what());
  }
}

}  // namespace lookout
