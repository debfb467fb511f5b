#include "platform/decoder/decoder_sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

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

// Besides those of kAllowed, for streams: their sockets, and threads.
constexpr const char* kStreamsAllowed[] = {
    "clock_nanosleep",
    "dup",
    "dup3",
    "getpeername",
    "getsockname",
    "getsockopt",
    "lseek",
    "nanosleep",
    "poll",
    "ppoll",
    "read",
    "recvmsg",
    "rseq",
    "sched_getaffinity",
    "set_robust_list",
    "shutdown",
};
constexpr int kStreamsFcntl[] = {F_GETFD, F_SETFD, F_GETFL, F_SETFL};
constexpr int kStreamsOptions[] = {SO_BROADCAST, SO_RCVBUF, SO_REUSEADDR, SO_SNDBUF};
constexpr rlim_t kStreamsDescriptors = 64;

// Besides those: UBSan tries memory with a pipe.
constexpr const char* kSanitizers[] = {"pipe", "pipe2", "read", "sigaltstack"};

void limit(__rlimit_resource what, rlim_t value) {
  const rlimit both{value, value};
  static_cast<void>(setrlimit(what, &both));
}

// The bytes of address space that are in use.
std::int64_t mapped_bytes() {
  std::array<char, 32> text{};
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const auto count = read(fd, text.data(), text.size() - 1);
  close(fd);
  return count <= 0 ? 0 : std::strtoll(text.data(), nullptr, 10) * sysconf(_SC_PAGESIZE);
}

void add(scmp_filter_ctx filter, std::uint32_t action, const char* call) {
  // A processor may lack the call: aarch64 has no open().
  const int number = seccomp_syscall_resolve_name(call);
  if (number >= 0) static_cast<void>(seccomp_rule_add(filter, action, number, 0));
}

// The service's own filter refuses seccomp(2). prctl(2) remains, which can end the thread alone and
// knows no other threads: there are none with the OpenCV of the package.
scmp_filter_ctx new_filter(Sandbox sandbox) {
  if (!kStrictSandbox || sandbox == Sandbox::kStreams) return seccomp_init(SCMP_ACT_ERRNO(EACCES));
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  return filter != nullptr ? filter : seccomp_init(SCMP_ACT_KILL_THREAD);
}

template <typename... Conditions>
void allow_if(scmp_filter_ctx filter, const char* call, Conditions... conditions) {
  const scmp_arg_cmp all[] = {conditions...};
  static_cast<void>(seccomp_rule_add_array(
      filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(call), sizeof...(conditions), all));
}

scmp_arg_cmp equals(unsigned int argument, scmp_datum_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}

// The filter of streams. glibc calls clone() where clone3() is not there.
void allow_streams(scmp_filter_ctx filter) {
  for (const char* call : kAllowed) {
    if (std::strcmp(call, "sendto") != 0) add(filter, SCMP_ACT_ALLOW, call);
  }
  for (const char* call : kStreamsAllowed) add(filter, SCMP_ACT_ALLOW, call);
  allow_if(filter, "sendto", equals(4, 0));  // no address
  for (const int command : kStreamsFcntl) {
    allow_if(filter, "fcntl", equals(1, static_cast<scmp_datum_t>(command)));
  }
  for (const int option : kStreamsOptions) {
    allow_if(filter, "setsockopt", equals(1, SOL_SOCKET),
             equals(2, static_cast<scmp_datum_t>(option)));
  }
  allow_if(filter, "clone", scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD});
  add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
}

// Those of pictures, and of sanitizers.
void allow_pictures(scmp_filter_ctx filter) {
  for (const char* call : kAllowed) add(filter, SCMP_ACT_ALLOW, call);
  if (!kStrictSandbox) return;
  for (const char* call : kRefused) add(filter, SCMP_ACT_ERRNO(EACCES), call);
}

// Returns 0 or an errno.
int filter_system_calls(Sandbox sandbox) {
  const scmp_filter_ctx filter = new_filter(sandbox);
  if (filter == nullptr) return ENOMEM;
  // A library may have threads; that of TSan needs more.
  if (kStrictSandbox) static_cast<void>(seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1));
  sandbox == Sandbox::kStreams ? allow_streams(filter) : allow_pictures(filter);
  for (const char* call : kMapping) {  // the third argument is the protection
    allow_if(filter, call, scmp_arg_cmp{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0});
  }
  if (!kStrictSandbox) {
    for (const char* call : kSanitizers) add(filter, SCMP_ACT_ALLOW, call);
  }
  const int error = -seccomp_load(filter);
  seccomp_release(filter);
  return error;
}

}  // namespace

int enter_sandbox(std::int64_t memory, std::int64_t file, Sandbox sandbox) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);  // RLIMIT_CORE does not hold where a program takes the dumps
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (kStrictSandbox) {
    limit(RLIMIT_AS, static_cast<rlim_t>(mapped_bytes() + memory));
    // Those that are open stay.
    limit(RLIMIT_NOFILE, sandbox == Sandbox::kStreams ? kStreamsDescriptors : 0);
  }
  limit(RLIMIT_FSIZE, static_cast<rlim_t>(file));
  limit(RLIMIT_CORE, 0);
  return filter_system_calls(sandbox);
}

}  // namespace lookout
