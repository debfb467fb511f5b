#include "app/inspect/try_source.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/source.h"
#include "pipeline/core/thread.h"
#include "platform/sources/open_source.h"
#include "platform/sources/source_uri.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kMaxTime{10};
constexpr std::chrono::milliseconds kMaxWait{100};

void read_first(Source& source, const std::string& text) {
  Frame frame;
  int skipped = 0;
  const auto end = Clock::now() + kMaxTime;
  while (Clock::now() < end) {
    const ReadStatus status = source.read(frame, kMaxWait);
    if (status == ReadStatus::kFrame) return;
    if (status == ReadStatus::kSkipped) ++skipped;
    if (status != ReadStatus::kEnd) continue;
    if (skipped == 0) throw Error(ErrorKind::kNoInput, text + ": there is no frame in it");
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: none of the {} pictures can be read", text, skipped));
  }
}

}  // namespace

std::string try_source(const std::string& text, const SourceOptions& options) {
  const auto source = open_source(text, options);
  const std::string description = source->info().description;
  if (is_stream(text)) return description + ", which doctor does not read";
  if (!source->info().live) read_first(*source, shown_source(text));
  return description;
}

std::string try_scheduling(const Scheduling& scheduling) {
  std::exception_ptr error;
  start_thread("capture", [&] {
    try {
      schedule_this_thread(scheduling);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  std::vector<std::string> granted;
  if (scheduling.realtime_priority > 0) {
    granted.push_back(fmt::format("real-time priority {}", scheduling.realtime_priority));
  }
  if (!scheduling.cpus.empty()) {
    granted.push_back(fmt::format("processors {}", joined(scheduling.cpus, ",")));
  }
  return joined(granted, ", ");
}

}  // namespace lookout
