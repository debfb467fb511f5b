// A V4L2 camera for the emulator, which knows no V4L2: preloaded into lookout, it gives frames from
// a file, one for each byte that is written into its FIFO. cameras.py builds and feeds it.
//
// LOOKOUT_FED_CAMERA is the path of the FIFO, which lookout opens as a camera. PATH.frames has the
// buffers, the n-th at n * kSlot: they are mapped, and never written, so that a frame costs the
// process what a driver's costs it. The buffers come in turn. Before
// one is taken, a system call that tcg_count.c knows marks its number. PATH.txt describes them:
//
//   FOURCC WIDTH HEIGHT BYTESPERLINE COLORSPACE QUANTIZATION BYTES_OF_EACH_BUFFER...
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { kMark = 20000 };  // as in tcg_count.c
enum { kBuffers = 4, kSlot = 8 << 20, kFps = 2 };  // slow: in the emulator a frame takes seconds

static struct v4l2_pix_format format;
static unsigned sizes[kBuffers];
static int camera = -1, frames = -1;
static unsigned queue[kBuffers], head, queued;  // indices of buffers
static unsigned sequence;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int is_camera(const char *path) {
  const char *own = getenv("LOOKOUT_FED_CAMERA");
  return own != NULL && strcmp(own, path) == 0;
}

static int open_camera(int (*next_open)(const char *, int, ...), const char *path, int flags) {
  char name[4096], fourcc[5];
  snprintf(name, sizeof name, "%s.txt", path);
  FILE *text = fopen(name, "r");
  if (text == NULL) return -1;
  int values = fscanf(text, "%4s %u %u %u %u %u", fourcc, &format.width, &format.height,
                      &format.bytesperline, &format.colorspace, &format.quantization);
  for (int i = 0; i < kBuffers; ++i) values += fscanf(text, "%u", &sizes[i]);
  fclose(text);
  if (values != 6 + kBuffers) abort();
  format.pixelformat = v4l2_fourcc(fourcc[0], fourcc[1], fourcc[2], fourcc[3]);
  format.field = V4L2_FIELD_NONE;
  format.sizeimage = kSlot;
  snprintf(name, sizeof name, "%s.frames", path);
  frames = next_open(name, O_RDWR | O_CLOEXEC);
  return camera = next_open(path, flags);
}

static int describe(struct v4l2_capability *capability) {
  memset(capability, 0, sizeof *capability);
  strcpy((char *)capability->driver, "fed");
  strcpy((char *)capability->card, "Fed camera");
  capability->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  capability->capabilities = capability->device_caps | V4L2_CAP_DEVICE_CAPS;
  return 0;
}

static int enumerate_sizes(struct v4l2_frmsizeenum *size) {
  if (size->index > 0) return EINVAL;
  size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
  size->discrete.width = format.width;
  size->discrete.height = format.height;
  return 0;
}

static int enumerate_rates(struct v4l2_frmivalenum *rate) {
  if (rate->index > 0) return EINVAL;
  rate->type = V4L2_FRMIVAL_TYPE_DISCRETE;
  rate->discrete = (struct v4l2_fract){1, kFps};
  return 0;
}

static int give_rate(struct v4l2_streamparm *parameters) {
  parameters->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
  parameters->parm.capture.timeperframe = (struct v4l2_fract){1, kFps};
  return 0;
}

static int take_back(const struct v4l2_buffer *buffer) {
  if (queued == kBuffers) return EINVAL;
  queue[(head + queued++) % kBuffers] = buffer->index;
  return 0;
}

static int give(struct v4l2_buffer *buffer) {
  char byte;
  if (queued == 0 || read(camera, &byte, 1) != 1) return EAGAIN;
  syscall(kMark, sequence);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  buffer->index = queue[head];
  head = (head + 1) % kBuffers;
  --queued;
  buffer->bytesused = sizes[buffer->index];
  buffer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
  buffer->sequence = sequence++;
  buffer->timestamp = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

// These return 0, or a value for errno.
static int answer_with_buffers(unsigned long request, void *argument) {
  struct v4l2_buffer *buffer = argument;
  switch (request) {
    case VIDIOC_REQBUFS:
      if (((struct v4l2_requestbuffers *)argument)->count > 0) {
        ((struct v4l2_requestbuffers *)argument)->count = kBuffers;
      }
      return 0;
    case VIDIOC_QUERYBUF:
      buffer->length = kSlot;
      buffer->m.offset = buffer->index * kSlot;
      return 0;
    case VIDIOC_QBUF:
      return take_back(buffer);
    case VIDIOC_DQBUF:
      return give(buffer);
    case VIDIOC_STREAMON:
      return 0;
    case VIDIOC_STREAMOFF:
      queued = 0;
      return 0;
    default:
      return ENOTTY;
  }
}

static int answer(unsigned long request, void *argument) {
  switch (request) {
    case VIDIOC_QUERYCAP:
      return describe(argument);
    case VIDIOC_ENUM_FMT:
      ((struct v4l2_fmtdesc *)argument)->pixelformat = format.pixelformat;
      return ((struct v4l2_fmtdesc *)argument)->index > 0 ? EINVAL : 0;
    case VIDIOC_ENUM_FRAMESIZES:
      return enumerate_sizes(argument);
    case VIDIOC_ENUM_FRAMEINTERVALS:
      return enumerate_rates(argument);
    case VIDIOC_S_FMT:
      ((struct v4l2_format *)argument)->fmt.pix = format;
      return 0;
    case VIDIOC_S_PARM:
    case VIDIOC_G_PARM:
      return give_rate(argument);
    default:
      return answer_with_buffers(request, argument);
  }
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  int (*const next_open)(const char *, int, ...) = next("open");
  return is_camera(path) ? open_camera(next_open, path, flags) : next_open(path, flags, mode);
}

int close(int fd) {
  if (fd == camera && fd >= 0) {
    camera = -1;
    close(frames);
  }
  return ((int (*)(int))next("close"))(fd);
}

int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (fd != camera || fd < 0) {
    return ((int (*)(int, unsigned long, ...))next("ioctl"))(fd, request, argument);
  }
  errno = answer(request, argument);
  return errno == 0 ? 0 : -1;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  static void *(*next_mmap)(void *, size_t, int, int, int, off_t);
  if (next_mmap == NULL) next_mmap = next("mmap");
  return next_mmap(address, length, protection, flags, fd >= 0 && fd == camera ? frames : fd,
                   offset);
}
