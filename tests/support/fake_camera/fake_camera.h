// A V4L2 camera for machines without one, for LD_PRELOAD: what a process does with one path goes to
// a camera in this library, all else to the system.
//
// LOOKOUT_FAKE_CAMERA: the path. Something has to be there, a link to /dev/null for instance, else
// the camera is absent. It is to be opened with O_NONBLOCK, and offers kModes, at half the rate
// until it is asked for one.
//
// LOOKOUT_FAKE_FAULT: a file with words, which may change at any time; absent: no fault.
//   lost       every call fails with ENODEV
//   hangs      its driver never answers; stderr has "the camera hangs"
//   busy       another program takes it in the moment when it is opened
//   crowded    the USB bus has no room for its frames: it cannot be started
//   pipeline   it is a node that the media controller sets up
//   unlinked   nothing in its pipeline gives what it takes: it cannot be started
//   stalled    no frames come
//   frozen     every frame is the same to the last byte, without a sensor's noise
//   eio        to take a frame fails with EIO
//   resized    another size is granted than was asked for
//   foreign    H.264 is granted whatever was asked for
//   encoded    it offers H.264 alone
//   thermal    it offers Y16 and Z16 alone
//   unlisted   it does not tell which sizes it has
//   anyrate    it has every rate up to that of its mode, from 1 a second
//   fixedrate  its rate can be asked for but not set
//   padded     lines have some bytes more than their pixels
//   fullrange  luma and chroma are declared as 0..255
//   silentrange  they are 0..255, and that is not declared
//   bt709      raw pictures are of BT.709, and declared as such
//   corrupt    some bytes of every frame are wrong
//   short      every frame ends too early
//   empty      every frame has no bytes
//   error      every frame is an earlier one, with the driver's flag for an error
//   othersize  every JPEG is of another size than was granted
//   gaps       by the driver's count two frames are lost before each
//   unstamped  frames have no time stamps
//   otherclock the driver does not tell which clock its time stamps are of
//   future     the time stamps of frames are 5 s ahead
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#pragma once

#include <linux/videodev2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pipeline/core/mutex.h"
#include "tests/support/fake_camera/fake_camera_picture.h"

namespace lookout {

// The size of the fault "resized", and of JPEGs with the fault "othersize".
inline constexpr std::uint32_t kResizedWidth = 352;
inline constexpr std::uint32_t kResizedHeight = 288;

class FakeCamera {
 public:
  static FakeCamera& instance() {
    static auto* const camera =
        new FakeCamera;  // never deleted: at its end the process closes more
    return *camera;
  }

  bool is_at(const char* path) const { return !path_.empty() && path_ == path; }

  int open(int flags);  // -1 with errno set
  void close(int fd);
  bool has(int fd);
  int ioctl(int fd, unsigned long request, void* argument);
  int memory();  // a descriptor of the buffers, where QUERYBUF says

  // The events that poll() returns at once; 0: poll the descriptor itself.
  short events();

 private:
  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }

  bool fault(const char* word) const;
  [[noreturn]] static void hang();

  // These return 0, or a value for errno.
  int call(int fd, unsigned long request, void* argument) REQUIRES(mutex_);
  int call_with_buffers(unsigned long request, void* argument) REQUIRES(mutex_);
  int query(v4l2_capability& capability) const REQUIRES(mutex_);
  int enumerate(v4l2_fmtdesc& description) const;
  int enumerate(v4l2_frmsizeenum& size) const;
  int enumerate(v4l2_frmivalenum& interval) const;
  int set_format(v4l2_format& format) REQUIRES(mutex_);
  int get_rate(v4l2_streamparm& parameters) const REQUIRES(mutex_);
  int set_rate(v4l2_streamparm& parameters) REQUIRES(mutex_);
  int request_buffers(int fd, v4l2_requestbuffers& request) REQUIRES(mutex_);
  int query_buffer(v4l2_buffer& buffer) const REQUIRES(mutex_);
  int queue(const v4l2_buffer& buffer) REQUIRES(mutex_);
  int dequeue(v4l2_buffer& buffer) REQUIRES(mutex_);
  int stream(bool on) REQUIRES(mutex_);

  v4l2_pix_format grant(const v4l2_pix_format& asked) const REQUIRES(mutex_);
  void take_format(const v4l2_pix_format& format) REQUIRES(mutex_);
  void free_buffers() REQUIRES(mutex_);
  void pace(bool on) REQUIRES(mutex_);
  void fill(v4l2_buffer& buffer) REQUIRES(mutex_);

  const std::string path_ = variable("LOOKOUT_FAKE_CAMERA");
  const std::string fault_file_ = variable("LOOKOUT_FAKE_FAULT");

  Mutex mutex_;
  std::set<int> fds_ GUARDED_BY(mutex_);
  v4l2_pix_format format_ GUARDED_BY(mutex_){};
  std::uint32_t fps_ GUARDED_BY(mutex_) = 0;
  // In format_, with the noise of a sensor: frames show them in turn.
  std::array<Bytes, 2> pictures_ GUARDED_BY(mutex_);
  std::size_t shown_ GUARDED_BY(mutex_) = 0;  // frames, for the turns
  Bytes other_ GUARDED_BY(mutex_);            // in another size
  // The one of fds_ that has the buffers: a timer, which ticks for each frame.
  int owner_ GUARDED_BY(mutex_) = -1;
  int memory_ GUARDED_BY(mutex_) = -1;  // of the buffers
  std::uint8_t* mapped_ GUARDED_BY(mutex_) = nullptr;
  std::size_t mapped_size_ GUARDED_BY(mutex_) = 0;
  std::vector<v4l2_buffer> buffers_ GUARDED_BY(mutex_);
  std::deque<std::uint32_t> queued_ GUARDED_BY(mutex_);
  bool streaming_ GUARDED_BY(mutex_) = false;
  bool ticking_ GUARDED_BY(mutex_) = false;
  std::uint32_t sequence_ GUARDED_BY(mutex_) = 0;
  std::minstd_rand random_ GUARDED_BY(mutex_);  // the default seed: the same damage every time
};

}  // namespace lookout
