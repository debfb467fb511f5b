#include "platform/sources/replay_source.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

std::size_t bytes_of(const cv::Mat& picture) { return picture.total() * picture.elemSize(); }

std::size_t bytes_of(const Frame& frame) {
  return bytes_of(frame.bgr) + bytes_of(frame.picture.reduced) + frame.picture.bytes.size();
}

}  // namespace

std::vector<Frame> record_frames(Source& source, const RecordLimits& limits) {
  std::vector<Frame> frames;
  std::size_t bytes = 0;
  for (Frame frame; frames.size() < limits.frames;) {
    const ReadStatus status = source.read(frame, std::chrono::milliseconds(100));
    if (status == ReadStatus::kEnd) break;
    if (status != ReadStatus::kFrame) continue;
    bytes += bytes_of(frame);
    if (bytes > limits.bytes && !frames.empty()) break;
    frames.push_back(frame);
    frames.back().bgr = frame.bgr.clone();
    frames.back().picture.reduced = frame.picture.reduced.clone();
  }
  if (frames.empty()) {
    throw Error(ErrorKind::kNoInput, fmt::format("{}: there is no frame in it that can be read",
                                                 source.info().description));
  }
  return frames;
}

std::size_t pixel_bytes(const std::vector<Frame>& frames) {
  std::size_t bytes = 0;
  for (const Frame& frame : frames) bytes += bytes_of(frame);
  return bytes;
}

ReplaySource::ReplaySource(std::vector<Frame> frames, const SourceInfo& of, double fps)
    : frames_(std::move(frames)), info_(of), pacer_(fps) {
  info_.live = fps > 0;
  info_.fps = fps;
  info_.description = fmt::format(
      "{} frame{} of {}, read beforehand and replayed {}", frames_.size(),
      frames_.size() == 1 ? "" : "s", of.description,
      fps > 0 ? fmt::format("{} times a second", fps) : std::string("as fast as they are taken"));
}

ReadStatus ReplaySource::read(Frame& frame, std::chrono::milliseconds timeout) {
  if (!pacer_.wait(timeout)) return ReadStatus::kTimeout;
  const Frame& recorded = frames_[next_];
  next_ = (next_ + 1) % frames_.size();
  const auto start = Clock::now();
  frame.captured = pacer_.take();
  recorded.bgr.copyTo(frame.bgr);
  cv::Mat reduced = frame.picture.reduced;  // for its memory
  recorded.picture.reduced.copyTo(reduced);
  frame.picture = recorded.picture;
  frame.picture.reduced = reduced;
  frame.origin = recorded.origin;
  frame.capture_duration = Clock::now() - start;
  return ReadStatus::kFrame;
}

}  // namespace lookout
