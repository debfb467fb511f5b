#include "pipeline/profile/trace.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "pipeline/core/error.h"
#include "pipeline/core/thread.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxEvents = 500'000;  // 28 MB: thousands of frames of a small network
// Reading the machine's state takes several files, one of which asks the firmware.
constexpr std::chrono::milliseconds kSampleInterval{100};

std::int64_t ns(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

std::string thread_name(pid_t id) {
  if (id == getpid()) return "main";
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

}  // namespace

Trace::Trace(TraceOptions options, Save save)
    : options_(std::move(options)), save_(std::move(save)) {}

Trace::~Trace() {
  try {
    finish();
  } catch (const std::exception&) {
    // Callers who want the exception call finish().
  }
}

std::uint32_t Trace::this_thread() {
  static thread_local const pid_t id = gettid();
  auto& threads = recording_.threads;
  const auto known = std::find_if(threads.begin(), threads.end(),
                                  [](const TraceRecording::Thread& t) { return t.id == id; });
  const auto index = static_cast<std::uint32_t>(known - threads.begin());
  if (known == threads.end()) threads.push_back({id, thread_name(id)});
  return index;
}

bool Trace::has_room() const { return recording_.events.size() < kMaxEvents; }

void Trace::record(Stage stage, std::uint64_t frame, const StageMark& start, const StageMark& end) {
  record(stage, frame, start.time, end.time, use_between(start, end));
}

void Trace::record(Stage stage, std::uint64_t frame, Clock::time_point start, Clock::time_point end,
                   const StageUse& use) {
  if (!traces(frame)) return;
  {
    const MutexLock lock(mutex_);
    if (ended_) return;
    if (has_room()) {
      recording_.events.push_back(
          {frame, ns(start.time_since_epoch()), ns(std::max(end, start) - start), this_thread(),
           static_cast<std::uint32_t>(stage), use.cpu ? ns(*use.cpu) : -1, ns(use.writer), 0});
    }
    if (stage == Stage::kReport && has_room()) recording_.reported.push_back(frame);
    if (has_room() && recording_.reported.size() < options_.frames) return;
    ended_ = true;
  }
  // The recording is complete. Destructors of TraceSpan come here, so nothing may be thrown.
  try {
    saver_ = start_thread("trace", [this] {
      saving_();
      complete_.events = {};
    });
  } catch (const Error&) {
    // Without a thread, finish() saves.
  }
}

void Trace::sample_if_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_sample_) return;
  next_sample_ = now + kSampleInterval;
  const MachineSample machine = options_.sample();
  const MutexLock lock(mutex_);
  if (!ended_) recording_.samples.push_back({ns(now.time_since_epoch()), machine});
}

void Trace::record_operator(const Operator& call) {
  const MutexLock lock(mutex_);
  if (!ended_) add(call, this_thread());
}

void Trace::add(const Operator& call, std::uint32_t thread) {
  if (!has_room()) return;
  auto& operators = recording_.operators;
  const auto [entry, is_new] =
      operator_indices_.try_emplace(call.what, static_cast<std::uint32_t>(operators.size()));
  if (is_new) operators.push_back(call.what);
  recording_.events.push_back({call.frame, ns(call.start.time_since_epoch()),
                               ns(std::max(call.end, call.start) - call.start), thread,
                               kStages + entry->second, -1, 0, call.bytes});
}

void Trace::add_at_end(std::function<void(const AddOperator&)> read) {
  const MutexLock lock(mutex_);
  late_.push_back(std::move(read));
}

void Trace::add_late_operators() {
  std::vector<std::function<void(const AddOperator&)>> late;
  std::map<std::uint64_t, std::uint32_t> threads;
  {
    const MutexLock lock(mutex_);
    late.swap(late_);
    if (!late.empty()) threads = inference_threads(recording_.events);
  }
  for (const auto& read : late) {
    read([this, &threads](const Operator& call) {
      const auto thread = threads.find(call.frame);
      if (thread == threads.end()) return;
      const MutexLock lock(mutex_);
      add(call, thread->second);
    });
  }
}

void Trace::save() {
  add_late_operators();
  {
    const MutexLock lock(mutex_);
    complete_ = std::move(recording_);
  }
  std::sort(complete_.reported.begin(), complete_.reported.end());
  save_(*this);
}

void Trace::finish() {
  if (!saved_.valid()) return;
  ended_ = true;
  if (saver_.joinable()) {
    saver_.join();
  } else {
    saving_();
  }
  saved_.get();
}

void Trace::write_json(const std::function<void(std::string_view)>& out) const {
  write_trace(complete_, options_.about, out);
}

}  // namespace lookout
