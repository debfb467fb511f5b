// A disk that fails, as a worn-out SD card does.
#pragma once

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <thread>

namespace lookout {

// Runs `work` in a thread for which no folder and no file can be made: EIO. Throws what it throws.
// Returns false where the kernel has no filters; then it was not run.
template <typename Work>
bool on_a_failing_disk(Work work) {
  bool has_filters = false;
  std::exception_ptr error;
  std::thread([&] {
    constexpr unsigned kFlags = offsetof(seccomp_data, args[2]);  // the low half, of openat()
    constexpr unsigned kFail = SECCOMP_RET_ERRNO | EIO;
    std::array<sock_filter, 8> filter{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 5, 0),
#ifdef SYS_mkdir
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 4, 0),
#else
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 4, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, kFail),
    }};
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    has_filters = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (!has_filters) return;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return has_filters;
}

}  // namespace lookout
