/* The interface between lookout and its module for libcamera, in C: every release of libcamera has
 * another ABI, so there is a module for each, built beforehand or on the machine itself, and the
 * program loads one. This file and libcamera_module.cpp need nothing of lookout.
 *
 * Functions that can fail return 0 or a negative errno. Texts are UTF-8 and live as long as what
 * they were asked of. All functions of one manager are called by one thread. */
#ifndef LOOKOUT_LIBCAMERA_MODULE_H
#define LOOKOUT_LIBCAMERA_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every change of this file. */
#define LOOKOUT_LIBCAMERA_INTERFACE 4

/* Planes of a picture, at most. */
#define LOOKOUT_LIBCAMERA_PLANES 3

struct LookoutManager;
struct LookoutCamera;

/* What a sensor delivers to the image processor. */
struct LookoutSensorMode {
  int32_t width;  /* pixels */
  int32_t height; /* pixels */
  int32_t bits;   /* of a pixel; 0: unknown */
};

struct LookoutStreamRequest {
  uint32_t fourcc; /* DRM's: 'RG24' is B G R in memory */
  int32_t width;   /* pixels */
  int32_t height;
  uint32_t buffers;
  struct LookoutSensorMode sensor_mode; /* width 0: libcamera chooses */
};

#define LOOKOUT_RANGE_UNDECLARED 0
#define LOOKOUT_RANGE_LIMITED 1 /* 16..235 and 16..240 */
#define LOOKOUT_RANGE_FULL 2    /* 0..255 */

/* As granted. */
struct LookoutStream {
  int32_t width; /* pixels */
  int32_t height;
  uint32_t frame_size;       /* bytes of a buffer, at least */
  uint32_t stride;           /* bytes from a line to the next, of the first plane */
  int32_t is_bt709;          /* else BT.601 */
  int32_t range;             /* LOOKOUT_RANGE_... of luma and chroma */
  double min_frame_duration; /* us; 0: unknown */
  double max_frame_duration; /* us */
  double field_width;  /* 0..1 of the sensor's active width that the picture can show; 0: unknown */
  double field_height; /* of its active height */
};

/* A control of libcamera, called as there: AfMode, ExposureTime. */
struct LookoutControlRange {
  double min;
  double max;
};

struct LookoutSetting {
  const char* name;
  const double* values;
  size_t count; /* 1, or the length of a control that is an array */
};

struct LookoutStart {
  /* Descriptors of DMA buffers, each of LookoutStream.frame_size bytes, for a format of one plane.
   * They may be closed after start_camera(). None: the camera's driver allocates. */
  const int* memory;
  size_t memory_count;
  const struct LookoutSetting* settings;
  size_t setting_count;
};

/* libcamera's status of a frame, which may have others. */
#define LOOKOUT_FRAME_SUCCESS 0
#define LOOKOUT_FRAME_ERROR 1
#define LOOKOUT_FRAME_CANCELLED 2
#define LOOKOUT_FRAME_STARTUP 3 /* exposure and white balance have not settled */

/* A part of the memory of a descriptor, which stays open as long as the camera. */
struct LookoutPlane {
  int fd;
  size_t offset; /* bytes */
  size_t size;   /* bytes */
};

/* Belongs to the caller until it is given back. */
struct LookoutFrame {
  struct LookoutPlane planes[LOOKOUT_LIBCAMERA_PLANES];
  size_t plane_count;
  int64_t time; /* ns, of the sensor; its clock depends on the driver */
  int32_t status;
  void* handle;
};

struct LookoutLibcamera {
  int32_t interface;            /* LOOKOUT_LIBCAMERA_INTERFACE; stays the first member */
  const char* (*version)(void); /* of the libcamera that was loaded: "v0.7.1" */

  /* What libcamera logs goes to `write` from now on, which any thread may call, and no longer to
   * stderr: whole lines of its own form, without colors. */
  void (*log_to)(void (*write)(const char* text, size_t size));

  /* A process can have one manager at a time. It lists the cameras that are there when it starts.
   * Threads start here and in start_camera(), with the caller's signal mask. */
  int (*start)(struct LookoutManager** manager);
  void (*stop)(struct LookoutManager* manager); /* after all its cameras were closed */
  size_t (*camera_count)(const struct LookoutManager* manager);
  const char* (*camera_id)(const struct LookoutManager* manager, size_t index);
  const char* (*camera_model)(const struct LookoutManager* manager, size_t index); /* may be "" */

  int (*open)(struct LookoutManager* manager, size_t index, struct LookoutCamera** camera);
  void (*close)(struct LookoutCamera* camera); /* undoes all of the following, too */

  /* The modes of the sensor and its active pixels (0: unknown). Writes at most `max_count` of them
   * and returns their number. None where libcamera has no choice among them. */
  size_t (*sensor_modes)(struct LookoutCamera* camera, struct LookoutSensorMode* modes,
                         size_t max_count, struct LookoutSensorMode* active);

  /* -EINVAL: not with this format or sensor mode. May be called again until the camera is started.
   */
  int (*configure)(struct LookoutCamera* camera, const struct LookoutStreamRequest* request,
                   struct LookoutStream* granted);

  /* -ENOENT: the camera has no such control. */
  int (*control)(struct LookoutCamera* camera, const char* name, struct LookoutControlRange* range);

  /* -ENOENT: it has no such control. -ENOTSUP: a setting is of another type. */
  int (*start_camera)(struct LookoutCamera* camera, const struct LookoutStart* start);

  /* Waits for a frame. -EAGAIN: none came in time. -ENODEV: the camera was disconnected.
   * -ECANCELED: libcamera gave a request back without a picture, as after the sensor's time-out. */
  int (*next_frame)(struct LookoutCamera* camera, int32_t timeout_ms, struct LookoutFrame* frame);
  void (*give_back)(struct LookoutCamera* camera, const struct LookoutFrame* frame);
};

/* The module's only symbol. */
const struct LookoutLibcamera* lookout_libcamera(void);

#ifdef __cplusplus
}
#endif

#endif
