#include "platform/decoder/decoder_sandbox.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace lookout {
namespace {

// Memory, but none that can be executed.
constexpr const char* kMapping[] = {"mmap", "mprotect"};

// The decoder's own, and those of malloc, of exceptions and of abort() in glibc 2.36 and 2.41.
constexpr const char* kAllowed[] = {
    "brk",      "clock_gettime",   "close",        "exit",           "exit_group",   "futex",
    "getpid",   "getrandom",       "gettid",       "madvise",        "mremap",       "munmap",
    "recvfrom", "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_yield",
    "sendto",   "tgkill",          "write",
};

// What libraries try and do without: files, the machine's facts, threads.
constexpr const char* kRefused[] = {
    "access",
    "clone",
    "clone3",
    "faccessat",
    "faccessat2",
    "fstat",
    "getcwd",
    "getrusage",
    "ioctl",
    "newfstatat",
    "open",
    "openat",
    "prctl",
    "prlimit64",
    "readlink",
    "readlinkat",
    "sched_getaffinity",
    "setpriority",
    "sigaltstack",
    "stat",
    "statx",
    "sysinfo",
    "uname",
};

// Besides those: UBSan tries memory with a pipe.
constexpr const char* kSanitizers[] = {"pipe", "pipe2", "read", "sigaltstack"};

void limit(__rlimit_resource what, rlim_t value) {
  const rlimit both{value, value};
  static_cast<void>(setrlimit(what, &both));
}

// The bytes of address space that are in use.
std::int64_t mapped_bytes() {
  std::int64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

void add(scmp_filter_ctx filter, std::uint32_t action, const char* call) {
  // A processor may lack the call: aarch64 has no open().
  const int number = seccomp_syscall_resolve_name(call);
  if (number >= 0) static_cast<void>(seccomp_rule_add(filter, action, number, 0));
}

// The service's own filter refuses seccomp(2). prctl(2) remains, which can end the thread alone and
// knows no other threads: there are none with the OpenCV of the package.
scmp_filter_ctx new_filter() {
  if (!kStrictSandbox) return seccomp_init(SCMP_ACT_ERRNO(EACCES));
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  return filter != nullptr ? filter : seccomp_init(SCMP_ACT_KILL_THREAD);
}

// Returns 0 or an errno.
int filter_system_calls() {
  const scmp_filter_ctx filter = new_filter();
  if (filter == nullptr) return ENOMEM;
  // A library may have threads; that of TSan needs more.
  if (kStrictSandbox) static_cast<void>(seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1));
  for (const char* call : kAllowed) add(filter, SCMP_ACT_ALLOW, call);
  const scmp_arg_cmp not_executable{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};  // the third argument
  for (const char* call : kMapping) {
    static_cast<void>(seccomp_rule_add_array(
        filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(call), 1, &not_executable));
  }
  if (kStrictSandbox) {
    for (const char* call : kRefused) add(filter, SCMP_ACT_ERRNO(EACCES), call);
  } else {
    for (const char* call : kSanitizers) add(filter, SCMP_ACT_ALLOW, call);
  }
  const int error = -seccomp_load(filter);
  seccomp_release(filter);
  return error;
}

}  // namespace

int enter_sandbox(std::int64_t memory, std::int64_t file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);  // RLIMIT_CORE does not hold where a program takes the dumps
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (kStrictSandbox) {
    limit(RLIMIT_AS, static_cast<rlim_t>(mapped_bytes() + memory));
    limit(RLIMIT_NOFILE, 0);  // those that are open stay
  }
  limit(RLIMIT_FSIZE, static_cast<rlim_t>(file));
  limit(RLIMIT_CORE, 0);
  return filter_system_calls();
}

}  // namespace lookout
