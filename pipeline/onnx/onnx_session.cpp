#include "pipeline/onnx/onnx_session.h"

#include <onnxruntime_session_options_config_keys.h>

#include <charconv>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "pipeline/archive/engine_facts.h"
#include "pipeline/archive/operator_library.h"
#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/thread.h"
#include "pipeline/onnx/onnx_numbers.h"
#include "pipeline/onnx/onnx_operators.h"

namespace lookout {
namespace {

// In later headers kOrtSessionOptionsX64QuantPrecision. Without it, sums of bytes saturate on x86
// processors that have no VNNI, and scores are wrong.
constexpr const char* kX64QuantPrecision = "session.x64quantprecision";

// In later headers kOrtSessionOptionsConfigIntraOpSpinDurationUs.
constexpr const char* kSpinDuration = "session.intra_op.spin_duration_us";

// Everything that ends a run is thrown, too.
void log_message(void* /*unused*/, OrtLoggingLevel /*level*/, const char* /*category*/,
                 const char* /*id*/, const char* where, const char* message) {
  log_debug("ONNX Runtime: {} ({})", message, where);
}

// Memory grows by what is asked for, not by powers of two.
Ort::Env make_environment() {
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "lookout", log_message, nullptr);
  constexpr int kDefault = -1;
  constexpr int kSameAsRequested = 1;  // arena_extend_strategy
  const Ort::ArenaCfg arena(0, kSameAsRequested, kDefault, kDefault);
  env.CreateAndRegisterAllocator(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault),
                                 arena);
  return env;
}

// One for the process, as ONNX Runtime asks for.
Ort::Env& environment() {
  static Ort::Env env = make_environment();
  return env;
}

// Libraries before 1.27 ignore the key.
bool knows_spin_duration() {
  constexpr int kFirstMinor = 27;  // of 1.27
  const std::string_view version = OrtGetApiBase()->GetVersionString();
  if (version.substr(0, 2) != "1.") return true;
  int minor = 0;
  std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor >= kFirstMinor;
}

// Threads of a pool stop to spin when a run ends.
void set_spin(OnnxThreads threads, Ort::SessionOptions& options) {
  const bool spins = threads.count > 1 && threads.spin > kNoSpin && knows_spin_duration();
  options.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, spins ? "1" : "0");
  if (!spins) return;
  options.AddConfigEntry(kSpinDuration, std::to_string(threads.spin.count()).c_str());
  options.AddConfigEntry(kOrtSessionOptionsConfigForceSpinningStop, "1");
}

// Starts the threads of sessions. A thread inherits the priority of the one that starts it, and
// may not raise it again. A model that replaces another one is loaded by a thread of low priority,
// but frames wait for the threads of its session: they are started by a thread of its own, which
// was started with the first session.
class ThreadStarter {
 public:
  ThreadStarter() : thread_(start_thread("onnx-start", [this] { start_all(); })) {}
  ~ThreadStarter() {
    {
      const MutexLock lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ThreadStarter(const ThreadStarter&) = delete;
  ThreadStarter& operator=(const ThreadStarter&) = delete;

  // Returns null when the system allows no further thread.
  std::thread* start(OrtThreadWorkerFn work, void* parameter) {
    const MutexLock starting(starting_);
    const MutexLock lock(mutex_);
    work_ = work;
    parameter_ = parameter;
    changed_.notify_all();
    while (work_ != nullptr) changed_.wait(mutex_);
    return std::exchange(started_, nullptr);
  }

 private:
  void start_all() {
    const MutexLock lock(mutex_);
    while (!ends_) {
      if (work_ != nullptr) {
        try {
          started_ = new std::thread(
              start_thread("onnx", [work = work_, parameter = parameter_] { work(parameter); }));
        } catch (const Error&) {
        }
        work_ = nullptr;
        changed_.notify_all();
      }
      changed_.wait(mutex_);
    }
  }

  Mutex starting_;  // held during start()
  Mutex mutex_;
  ConditionVariable changed_;
  OrtThreadWorkerFn work_ GUARDED_BY(mutex_) = nullptr;
  void* parameter_ GUARDED_BY(mutex_) = nullptr;
  std::thread* started_ GUARDED_BY(mutex_) = nullptr;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

OrtCustomThreadHandle start_for_session(void* /*unused*/, OrtThreadWorkerFn work, void* parameter) {
  static ThreadStarter starter;
  return reinterpret_cast<OrtCustomThreadHandle>(starter.start(work, parameter));
}

void join_for_session(OrtCustomThreadHandle handle) {
  auto* thread = reinterpret_cast<std::thread*>(const_cast<OrtCustomHandleType*>(handle));
  thread->join();
  delete thread;
}

Ort::SessionOptions session_options(OnnxThreads threads, const std::string& profile) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(threads.count);
  options.SetCustomCreateThreadFn(start_for_session);
  options.SetCustomJoinThreadFn(join_for_session);
  options.SetInterOpNumThreads(1);
  set_spin(threads, options);
  options.AddConfigEntry(kOrtSessionOptionsConfigAllowInterOpSpinning, "0");
  options.AddConfigEntry(kX64QuantPrecision, "1");
  options.AddConfigEntry(kOrtSessionOptionsConfigUseEnvAllocators, "1");
  if (!profile.empty()) options.EnableProfiling(profile.c_str());
  return options;
}

}  // namespace

ModelFacts onnx_facts(const ArchiveContents& contents) {
  ModelFacts facts;
  facts.library = to_text(Engine::kOnnxRuntime);
  facts.version = OrtGetApiBase()->GetVersionString();
  facts.engine = "CPU";
  facts.kernels = "MLAS";
  facts.activations = contents.onnx->activations;
  facts.parameters = contents.onnx->parameters;
  return facts;
}

std::array<std::int64_t, 4> shape_of(const ImageTensor& image, TensorLayout layout) {
  if (layout == TensorLayout::kPlanar) return {1, 3, image.height, image.width};
  return {1, image.height, image.width, 3};
}

OnnxSession::OnnxSession(const ModelArchive& archive, OnnxThreads threads,
                         const std::vector<std::string>& operators, const std::string& profile)
    : OnnxSession(archive.path(), archive.bytes(), threads, operators, profile) {}

OnnxSession::OnnxSession(std::filesystem::path archive, std::string_view bytes, OnnxThreads threads,
                         const std::vector<std::string>& operators, const std::string& profile)
    : archive_(std::move(archive)) {
  Ort::SessionOptions options = session_options(threads, profile);
  register_onnx_operators(operators, options);
  try {
    session_ = Ort::Session(environment(), bytes.data(), bytes.size(), options);
    const Ort::AllocatorWithDefaultOptions allocator;
    input_ = session_.GetInputNameAllocated(0, allocator).get();
    input_type_ = session_.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetElementType();
    for (std::size_t i = 0; i < session_.GetOutputCount(); ++i) {
      outputs_.emplace_back(session_.GetOutputNameAllocated(i, allocator).get());
    }
  } catch (const Ort::Exception& error) {
    if (defines_domain_twice(error.what())) refuse_domain(operators);
    const std::string missing = missing_onnx_operator(error.what());
    if (!missing.empty()) refuse_missing_operator(archive_, missing, Engine::kOnnxRuntime);
    refuse_model(archive_, "ONNX Runtime cannot load it (" + first_line(error.what()) + ")");
  }
}

Ort::Value OnnxSession::run(const std::vector<float>& values,
                            const std::array<std::int64_t, 4>& shape, const std::string& output) {
  return std::move(run(values, shape, std::vector{output.c_str()}).front());
}

std::vector<Ort::Value> OnnxSession::run(const std::vector<float>& values,
                                         const std::array<std::int64_t, 4>& shape,
                                         const std::vector<const char*>& outputs) {
  static const Ort::MemoryInfo memory =
      Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  const bool converted = input_type_ != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  const std::vector<std::uint8_t> elements =
      converted ? elements_of(values, input_type_) : std::vector<std::uint8_t>();
  // The interface takes no pointer to const, though inputs are not written.
  void* data = converted ? const_cast<std::uint8_t*>(elements.data())
                         : static_cast<void*>(const_cast<float*>(values.data()));
  const std::size_t bytes = converted ? elements.size() : values.size() * sizeof(float);
  try {
    const Ort::Value input =
        Ort::Value::CreateTensor(memory, data, bytes, shape.data(), shape.size(), input_type_);
    const char* input_name = input_.c_str();
    return session_.Run(Ort::RunOptions{nullptr}, &input_name, &input, 1, outputs.data(),
                        outputs.size());
  } catch (const Ort::Exception& error) {
    refuse_model(archive_, "fails: " + first_line(error.what()));
  }
}

std::string OnnxSession::end_profiling() {
  const Ort::AllocatorWithDefaultOptions allocator;
  return session_.EndProfilingAllocated(allocator).get();
}

}  // namespace lookout
