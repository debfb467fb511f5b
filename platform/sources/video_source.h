// Frames of a video file, decoded by FFmpeg. Part of liblookout-video.so: see video_loader.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/source.h"
#include "platform/sources/video_picture.h"

struct AVCodecContext;
struct AVFormatContext;
struct AVFrame;
struct AVIOContext;
struct AVPacket;
struct AVStream;

namespace lookout {

// Not live: every frame, in order, at the reader's speed. `origin` is the path as given;
// `media_time` counts from the first frame. Frames are
// upright: the rotation that phones store is applied. FFmpeg's messages are logged as debug, and
// its threads have all signals blocked.
class VideoSource : public Source {
 public:
  // Throws Error(kNoInput) when the file is not a video that can be decoded here. A list of other
  // files is none, and no file but this one is opened.
  explicit VideoSource(const std::string& path);
  ~VideoSource() override;
  VideoSource(const VideoSource&) = delete;
  VideoSource& operator=(const VideoSource&) = delete;

  const SourceInfo& info() const override { return info_; }

  // Does not wait. Throws Error(kNoInput) in place of kEnd when there was no frame, when the file
  // could not be read to its end, or when it was cut. Packets that cannot be decoded and frames
  // that are announced but do not come are logged.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  struct Free {
    void operator()(AVIOContext* file) const;
    void operator()(AVFormatContext* container) const;
    void operator()(AVCodecContext* decoder) const;
    void operator()(AVPacket* packet) const;
    void operator()(AVFrame* picture) const;
  };
  template <typename T>
  using Owner = std::unique_ptr<T, Free>;

  void open_container();
  void open_decoder();
  std::string describe() const;
  bool decode();
  void feed();
  void fill(Frame& frame);
  std::chrono::nanoseconds next_time();
  void check_end() const;
  std::int64_t announced_frames() const;
  void check_video(bool good) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  SourceInfo info_;
  Owner<AVIOContext> file_;  // outlives the container
  Owner<AVFormatContext> container_;
  Owner<AVCodecContext> decoder_;
  Owner<AVPacket> packet_;
  Owner<AVFrame> picture_;
  AVStream* stream_ = nullptr;
  int orientation_ = 1;  // EXIF's
  VideoPicture converter_;
  std::int64_t frames_ = 0;       // read so far
  std::int64_t start_ = 0;        // time of the first frame in the file, ns
  std::int64_t time_ = 0;         // of the latest frame since the first one, ns
  std::int64_t undecodable_ = 0;  // packets
  int read_error_ = 0;            // FFmpeg's that ended the reading, other than the end of the file
  bool last_packet_cut_ = false;
};

}  // namespace lookout
