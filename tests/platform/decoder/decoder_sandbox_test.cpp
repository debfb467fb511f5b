#include "platform/decoder/decoder_sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "tests/support/refused_call.h"
namespace lookout {
namespace {

constexpr int kAllowedCall = 0;
constexpr std::int64_t kMemory = 64 << 20;
constexpr std::int64_t kFile = 1 << 20;

// What deploy/lookout.service does to seccomp(2).
void refuse_seccomp() { refuse_call(SYS_seccomp); }

// Does `deed` in a sandbox. Returns the errno that it left, or minus the signal that ended it.
int in_sandbox(
    const std::function<long()>& deed, const std::function<void()>& before = [] {},
    Sandbox sandbox = Sandbox::kPictures) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_DFL);  // the starter may ignore it
    before();
    if (enter_sandbox(kMemory, kFile, sandbox) != 0) _exit(255);
    errno = 0;
    _exit(deed() < 0 ? errno : kAllowedCall);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(DecoderSandbox, LeavesMemoryAndDescriptorsThatAreOpen) {
  const int fd = memfd_create("test", 0);
  EXPECT_EQ(in_sandbox([fd] { return write(fd, "abc", 3); }), kAllowedCall);
  EXPECT_EQ(in_sandbox([] {
              const std::string text(1 << 20, 'x');
              return text.back() == 'x' ? 0 : -1;
            }),
            kAllowedCall);
  close(fd);
}

TEST(DecoderSandbox, WhatLibrariesTryFails) {
  EXPECT_EQ(in_sandbox([] { return open("/dev/null", O_RDONLY); }), EACCES);
  EXPECT_EQ(in_sandbox([] { return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY); }),
            EACCES);
  EXPECT_EQ(in_sandbox([] { return access("/", F_OK); }), EACCES);
}

TEST(DecoderSandbox, AnyOtherCallEndsTheProcess) {
  const int expected = kStrictSandbox ? -SIGSYS : EACCES;
  EXPECT_EQ(in_sandbox([] { return socket(AF_INET, SOCK_STREAM, 0); }), expected);
  EXPECT_EQ(in_sandbox([] { return syscall(SYS_execve, "/bin/true", nullptr, nullptr); }),
            expected);
  EXPECT_EQ(in_sandbox([] { return kill(getppid(), 0); }), expected);
  EXPECT_EQ(in_sandbox([] { return ptrace(PTRACE_ATTACH, 1, nullptr, nullptr); }), expected);
  EXPECT_EQ(in_sandbox([] { return memfd_create("test", 0); }), expected);
  EXPECT_EQ(in_sandbox([] { return syscall(SYS_unshare, 0); }), expected);
}

TEST(DecoderSandbox, HoldsInsideTheServicesFilter) {
  EXPECT_EQ(in_sandbox([] { return 0; }, refuse_seccomp), kAllowedCall);
  EXPECT_EQ(in_sandbox([] { return open("/dev/null", O_RDONLY); }, refuse_seccomp), EACCES);
  EXPECT_EQ(in_sandbox([] { return socket(AF_INET, SOCK_STREAM, 0); }, refuse_seccomp),
            kStrictSandbox ? -SIGSYS : EACCES);
}

TEST(DecoderSandbox, MemoryCannotBeExecuted) {
  const auto map = [](int protection) {
    return mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1L
                                                                                             : 0L;
  };
  EXPECT_EQ(in_sandbox([map] { return map(PROT_READ | PROT_WRITE); }), kAllowedCall);
  EXPECT_EQ(in_sandbox([map] { return map(PROT_READ | PROT_EXEC); }),
            kStrictSandbox ? -SIGSYS : EACCES);
}

TEST(DecoderSandbox, MemoryAndFilesAreLimited) {
  const auto map = [](std::size_t size) {
    return mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1L
                                                                                            : 0L;
  };
  EXPECT_EQ(in_sandbox([map] { return map(kMemory / 2); }), kAllowedCall);
  if (kStrictSandbox) {
    EXPECT_EQ(in_sandbox([map] { return map(2 * kMemory); }), ENOMEM);
  }
  const int fd = memfd_create("test", 0);
  lseek(fd, kFile, SEEK_SET);
  EXPECT_EQ(in_sandbox([fd] { return write(fd, "abc", 3); }), -SIGXFSZ);
  close(fd);
}

int in_streams_sandbox(const std::function<long()>& deed) {
  return in_sandbox(deed, refuse_seccomp, Sandbox::kStreams);
}

TEST(DecoderSandbox, OfStreamsMakesNoSocketAndConnectsNone) {
  EXPECT_EQ(in_streams_sandbox([] { return socket(AF_INET, SOCK_STREAM, 0); }), EACCES);
  EXPECT_EQ(in_streams_sandbox([] { return socket(AF_UNIX, SOCK_STREAM, 0); }), EACCES);
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(9);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* address = reinterpret_cast<const sockaddr*>(&place);
  EXPECT_EQ(in_streams_sandbox([=] { return connect(tcp, address, sizeof place); }), EACCES);
  EXPECT_EQ(in_streams_sandbox([=] { return bind(tcp, address, sizeof place); }), EACCES);
  EXPECT_EQ(in_streams_sandbox([=] { return listen(tcp, 1); }), EACCES);
  for (const int fd : {tcp, udp}) {
    EXPECT_EQ(in_streams_sandbox([=] {
                return sendto(fd, "a", 1, MSG_FASTOPEN | MSG_NOSIGNAL, address, sizeof place);
              }),
              EACCES);
    EXPECT_EQ(in_streams_sandbox([=] {
                msghdr message{};
                message.msg_name = const_cast<sockaddr*>(address);
                message.msg_namelen = sizeof place;
                return sendmsg(fd, &message, MSG_NOSIGNAL);
              }),
              EACCES);
    EXPECT_EQ(
        in_streams_sandbox([=] { return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, "", 0); }),
        EACCES);
  }
  close(tcp);
  close(udp);
}

TEST(DecoderSandbox, OfStreamsHasThreadsButNoProcessesAndNoFiles) {
  EXPECT_EQ(in_streams_sandbox([] {
              std::thread([] {}).join();
              return 0;
            }),
            kAllowedCall);
  EXPECT_EQ(in_streams_sandbox([] { return static_cast<long>(fork()); }), EACCES);
  EXPECT_EQ(in_streams_sandbox([] { return syscall(SYS_execve, "/bin/true", nullptr, nullptr); }),
            EACCES);
  EXPECT_EQ(in_streams_sandbox([] { return open("/dev/null", O_RDONLY); }), EACCES);
  EXPECT_EQ(in_streams_sandbox([] { return kill(getppid(), 0); }), EACCES);
  EXPECT_EQ(in_streams_sandbox([] { return fcntl(0, F_SETOWN, getppid()); }), EACCES);
}

}  // namespace
}  // namespace lookout
