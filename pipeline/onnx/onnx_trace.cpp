#include "pipeline/onnx/onnx_trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/json_text.h"
#include "pipeline/log.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using std::chrono::microseconds;

fs::path make_folder() {
  std::string name = fs::temp_directory_path() / "lookout-profile-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorKind::kOutput, fmt::format("the trace needs a temporary folder {}: {}", name,
                                                std::strerror(errno)));
  }
  return name;
}

// The times of an event, in the profile's clock.
struct Span {
  microseconds start{};
  microseconds end{};
};

Span span_of(const Json& event) {
  const microseconds start(event.at("ts").get<std::int64_t>());
  return {start, start + microseconds(event.at("dur").get<std::int64_t>())};
}

bool contains(const Span& outer, const Span& inner) {
  return outer.start <= inner.start && inner.end <= outer.end;
}

using Runs = std::map<pid_t, std::vector<std::pair<Span, const ProfiledRun*>>>;

// The n-th run of a thread in the profile is its n-th in `runs`.
Runs match_runs(const Json& events, const std::vector<ProfiledRun>& runs) {
  Runs matched;
  for (const ProfiledRun& run : runs) matched[run.thread].emplace_back(Span(), &run);
  std::map<pid_t, std::size_t> seen;
  for (const Json& event : events) {
    if (event.at("cat") != "Session" || event.at("name") != "model_run") continue;
    const auto thread = event.at("tid").get<pid_t>();
    const std::size_t index = seen[thread]++;
    if (index < matched[thread].size()) matched[thread][index].first = span_of(event);
  }
  return matched;
}

// An event is called "/features/features.3/Conv_kernel_time".
std::string node_name(const Json& event) {
  constexpr std::string_view kEnd = "_kernel_time";
  const std::string name = event.at("name");
  return name.substr(0, name.rfind(kEnd));
}

// ONNX Runtime writes the number as text.
std::uint64_t output_bytes(const Json& event) {
  const std::string size = event.at("args").value("output_size", "0");
  return std::strtoull(size.c_str(), nullptr, 10);
}

}  // namespace

std::vector<Trace::Operator> read_profile(const std::string& json, const std::string& model,
                                          const std::vector<ProfiledRun>& runs) {
  const Json events = parse_json(json);
  if (events.is_discarded()) throw std::runtime_error("it is not JSON");
  const Runs matched = match_runs(events, runs);
  std::vector<Trace::Operator> operators;
  for (const Json& event : events) {
    if (event.at("cat") != "Node") continue;
    const auto thread = matched.find(event.at("tid").get<pid_t>());
    if (thread == matched.end()) continue;
    const Span span = span_of(event);
    for (const auto& [whole, run] : thread->second) {
      if (!run->frame || !contains(whole, span)) continue;
      const auto at = [&, &whole = whole, run = run](microseconds time) {
        return run->start + (time - whole.start);
      };
      operators.push_back({{model, event.at("args").at("op_name"), node_name(event), false},
                           *run->frame,
                           at(span.start),
                           at(span.end),
                           output_bytes(event)});
    }
  }
  return operators;
}

OnnxTrace::OnnxTrace(const ModelArchive& archive, int threads,
                     const std::vector<std::string>& operators, std::string model)
    : model_(std::move(model)),
      folder_(make_folder()),
      session_(archive, threads, operators, folder_ / "profile") {}

OnnxTrace::~OnnxTrace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Ort::Value OnnxTrace::run(const std::vector<float>& values,
                          const std::array<std::int64_t, 4>& shape, const std::string& output,
                          const FrameContext& frame) {
  {
    const MutexLock lock(mutex_);
    std::optional<std::uint64_t> traced;
    if (frame.trace != nullptr) traced = frame.sequence;
    runs_.push_back({traced, ::gettid(), Clock::now()});
    if (traced && !std::exchange(is_added_, true)) {
      frame.trace->add_at_end([this] { return operators(); });
    }
  }
  return session_.run(values, shape, output);
}

// A trace without operators is better than none.
std::vector<Trace::Operator> OnnxTrace::operators() {
  const MutexLock lock(mutex_);
  try {
    std::ifstream file(session_.end_profiling());
    return read_profile({std::istreambuf_iterator<char>(file), {}}, model_, runs_);
  } catch (const std::exception& error) {
    log_warn("trace: the profile of ONNX Runtime cannot be read: {}", error.what());
    return {};
  }
}

}  // namespace lookout
