#include "platform/cameras/jpeg_thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/thread.h"

namespace lookout {
namespace {

constexpr std::chrono::hours kUntilClosed{1};  // close() ends the wait

int open_event() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    throw Error(ErrorKind::kInternal, "an eventfd for the thread \"jpeg\" cannot be made: " +
                                          std::generic_category().message(errno));
  }
  return fd;
}

// A thread inherits the priority of the one that starts it.
void schedule_as_usual() {
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
}

// Moves `average` towards `value`; the first one is taken as it is.
void average_in(double value, double& average) {
  average += average == 0 ? value : DecodeLoad::kWeight * (value - average);
}

}  // namespace

void DecodeLoad::add(Clock::duration decoding, Clock::time_point captured) {
  using Seconds = std::chrono::duration<double>;
  if (last_) average_in(Seconds(captured - *last_).count(), period_);
  last_ = captured;
  average_in(Seconds(decoding).count(), decoding_);
  const double period = granted_ > 0 ? granted_ : period_;
  if (period <= 0) return;
  apart_ = decoding_ > period * (apart_ ? kReturn : kLeave);
}

void decode(JpegReader& reader, const JpegNow& now, JpegJob& job) {
  job.error = nullptr;
  const auto start = now();
  try {
    job.size = reader.read(job.picture, job.captured);
  } catch (...) {
    job.error = std::current_exception();
  }
  job.decoding = now() - start;
}

JpegThread::JpegThread(JpegReader& reader, JpegNow now)
    : reader_(reader), now_(std::move(now)), done_fd_(open_event()) {
  try {
    thread_ = start_thread("jpeg", [this] {
      schedule_as_usual();
      decode_all();
    });
  } catch (...) {
    ::close(done_fd_);
    throw;
  }
}

JpegThread::~JpegThread() {
  waiting_.close();
  thread_.join();
  ::close(done_fd_);
}

void JpegThread::put(JpegJob& job) {
  ++put_;
  waiting_.put_newest(job);
}

bool JpegThread::take(JpegJob& job) {
  std::uint64_t count = 0;
  if (::read(done_fd_, &count, sizeof count) < 0) return false;
  if (done_.take(job, std::chrono::milliseconds(0)) != TakeStatus::kTaken) return false;
  ++taken_;
  return true;
}

void JpegThread::decode_all() {
  JpegJob job;
  for (;;) {
    const TakeStatus status = waiting_.take(job, kUntilClosed);
    if (status == TakeStatus::kClosed) return;
    if (status == TakeStatus::kTimeout) continue;
    decode(reader_, now_, job);
    done_.put_newest(job);
    constexpr std::uint64_t kOne = 1;
    // Fails when the count is full, and it is readable then.
    static_cast<void>(::write(done_fd_, &kOne, sizeof kOne));
  }
}

}  // namespace lookout
