#include "platform/sources/video_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/videoio/registry.hpp>

#include "pipeline/error.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// Containers that only know their duration are off by a few frames, and at a variable rate by many:
// they announce as many as a constant rate makes.
constexpr double kCompleteShare = 0.9;

std::string describe(const std::string& path, const cv::VideoCapture& capture) {
  std::string text =
      fmt::format("video {}, {:.0f}x{:.0f}", path, capture.get(cv::CAP_PROP_FRAME_WIDTH),
                  capture.get(cv::CAP_PROP_FRAME_HEIGHT));
  const double fps = capture.get(cv::CAP_PROP_FPS);
  if (std::isfinite(fps) && fps > 0) text += fmt::format(", {:.4g} fps", fps);
  return text;
}

// FFmpeg first. Not OpenCV's own readers: one takes names with digits for a series of pictures, the
// other writes to stderr. Absolute, for "12:30.avi" is not a protocol.
bool open_video(const std::string& path, cv::VideoCapture& capture) {
  const std::string name = fs::absolute(path).string();
  for (const auto backend : {cv::CAP_FFMPEG, cv::CAP_GSTREAMER}) {
    try {
      if (capture.open(name, backend)) return true;
    } catch (const cv::Exception&) {  // the next one may do
    }
  }
  return false;
}

bool read_frame(cv::VideoCapture& capture, cv::Mat& bgr) {
  try {
    return capture.read(bgr) && bgr.type() == CV_8UC3;
  } catch (const cv::Exception&) {
    return false;
  }
}

}  // namespace

VideoSource::VideoSource(const std::string& path) : path_(path) {
  if (!open_video(path, capture_)) {
    // The package has OpenCV but not FFmpeg, whose hundred libraries are for videos alone.
    const bool ffmpeg = cv::videoio_registry::hasBackend(cv::CAP_FFMPEG);
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is neither a picture nor a video that can be decoded{}", path,
                            ffmpeg ? "" : "; for videos, install FFmpeg (apt install ffmpeg)"));
  }
  info_.name = fs::path(path).stem().string();
  info_.description = describe(path, capture_);
  announced_ = capture_.get(cv::CAP_PROP_FRAME_COUNT);
  fps_ = capture_.get(cv::CAP_PROP_FPS);
}

ReadStatus VideoSource::read(Frame& frame, std::chrono::milliseconds /*timeout*/) {
  frame.captured = Clock::now();
  if (!read_frame(capture_, frame.bgr)) {
    check_complete();
    return ReadStatus::kEnd;
  }
  frame.capture_duration = Clock::now() - frame.captured;
  frame.origin = path_;
  ++frames_;
  // The last frames, which the decoder had kept, have no time.
  position_ms_ = std::max(position_ms_, capture_.get(cv::CAP_PROP_POS_MSEC));
  return ReadStatus::kFrame;
}

void VideoSource::check_complete() const {
  if (frames_ == 0) {
    throw Error(ErrorKind::kNoInput, fmt::format("video {} has no frame that can be read", path_));
  }
  const double constant_rate_frames = position_ms_ / 1000 * fps_;
  if (std::max(static_cast<double>(frames_), constant_rate_frames) < kCompleteShare * announced_) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("video {} ends after {} of {:.0f} frames: the file is truncated", path_,
                            frames_, announced_));
  }
}

}  // namespace lookout
