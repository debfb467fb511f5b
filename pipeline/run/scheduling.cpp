#include "pipeline/run/scheduling.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"

namespace lookout {
namespace {

std::string thread_name() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

Error refused(const std::string& what) {
  return {
      ErrorKind::kPermission,
      "no permission for " + what + " of the thread \"" + thread_name() +
          "\": it needs root, a limit that allows it (ulimit -r), or in a service LimitRTPRIO=, "
          "RestrictRealtime=no and SystemCallFilter=@resources (systemctl edit lookout)"};
}

}  // namespace

void schedule_this_thread(const Scheduling& scheduling) {
  if (!scheduling.cpus.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : scheduling.cpus) CPU_SET(cpu, &set);
    const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    const std::string what = fmt::format("processors {}", joined(scheduling.cpus, ","));
    if (error == EINVAL) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} for the thread \"{}\": this machine has none of them", what,
                              thread_name()));
    }
    if (error != 0) throw refused(what);
  }
  if (scheduling.realtime_priority > 0) {
    sched_param parameters{};
    parameters.sched_priority = scheduling.realtime_priority;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) {
      throw refused(fmt::format("real-time priority {}", scheduling.realtime_priority));
    }
  }
}

bool lower_this_thread_priority() {
  // Linux keeps a nice value for each thread, and takes a thread's number for a process's.
  const auto thread = static_cast<id_t>(gettid());
  if (getpriority(PRIO_PROCESS, thread) >= kLowPriority) return true;
  if (setpriority(PRIO_PROCESS, thread, kLowPriority) == 0) return true;
  const std::error_code reason(errno, std::generic_category());
  static std::atomic<bool> logged{false};
  if (!logged.exchange(true)) {
    log_warn(
        "the thread \"{}\" gets no low priority ({}) and may delay frames; in a service, "
        "SystemCallFilter=setpriority allows it (systemctl edit lookout)",
        thread_name(), reason.message());
  }
  return false;
}

}  // namespace lookout
