// Frames of a video file or stream, decoded by FFmpeg. Part of liblookout-video.so: see
// video_module.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/core/source.h"
#include "platform/sources/network_input.h"
#include "platform/sources/video_module.h"
#include "platform/sources/video_picture.h"

struct AVCodecContext;
struct AVFormatContext;
struct AVFrame;
struct AVIOContext;
struct AVPacket;
struct AVStream;

namespace lookout {

// Every frame, in order, at the reader's speed. `origin` is the path as given, of a stream and on
// the network empty; `media_time` counts from the first frame, and is left out for a live stream
// that has no times, as raw H.264. Frames are upright: the rotation that phones store is applied.
// FFmpeg's messages are logged as debug, and its threads have all signals blocked. Frames of more
// than `max_pixels` are refused before they are decoded.
class VideoSource : public Source {
 public:
  // Throws Error(kNoInput) when the file is not a video that can be decoded here. A list of other
  // files is none, and no file but this one is opened.
  VideoSource(const std::string& path, std::int64_t max_pixels);
  // Reads as much of the stream as it takes to know the video. Throws Error(kNoInput) when it is
  // none that can be decoded without seeking, when it ended before that, and when it was stopped.
  VideoSource(const VideoStream& stream, std::int64_t max_pixels);
  // Connects, live unless the server tells the video's length. Throws the errors of NetworkInput,
  // and Error(kNoInput) when there is no video that can be decoded.
  VideoSource(const NetworkVideo& video, std::int64_t max_pixels);
  ~VideoSource() override;
  VideoSource(const VideoSource&) = delete;
  VideoSource& operator=(const VideoSource&) = delete;

  const SourceInfo& info() const override { return info_; }

  // A file does not wait; a stream waits for its writer however long that takes, unless it is
  // stopped. Throws Error(kNoInput) in place of kEnd when there was no frame, when the file could
  // not be read to its end, when it was cut, when a stream was stopped, or when a connection broke
  // off. Packets that cannot be
  // decoded and frames that are announced but do not come are logged.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  class StreamInput;
  struct Free {
    void operator()(AVIOContext* file) const;
    void operator()(AVFormatContext* container) const;
    void operator()(AVCodecContext* decoder) const;
    void operator()(AVPacket* packet) const;
    void operator()(AVFrame* picture) const;
  };
  template <typename T>
  using Owner = std::unique_ptr<T, Free>;

  void open_file();
  bool is_motion_jpeg() const;
  void open_container(AVIOContext* input, const std::string& url);
  void check(int status) const;
  void find_streams();
  void open_decoder();
  void check_size(int width, int height) const;
  std::string describe() const;
  bool decode();
  void feed();
  void fill(Frame& frame);
  std::chrono::nanoseconds next_time();
  bool has_times() const;
  void check_end() const;
  void check_file_end() const;
  bool counts_pauses() const;
  std::int64_t announced_frames() const;
  void check_video(bool good) const;
  [[noreturn]] void fail(const std::string& what) const;

  const std::string path_;  // empty: a stream, or on the network
  const std::string what_;  // begins a sentence: "video a.mp4"
  const std::int64_t max_pixels_;
  bool live_ = false;
  SourceInfo info_;
  std::unique_ptr<StreamInput> stream_input_;  // outlives the container
  std::unique_ptr<NetworkInput> network_;      // outlives the container
  Owner<AVIOContext> file_;                    // outlives the container
  Owner<AVFormatContext> container_;
  Owner<AVCodecContext> decoder_;
  Owner<AVPacket> packet_;
  Owner<AVFrame> picture_;
  AVStream* stream_ = nullptr;
  bool is_mp4_ = false;
  int orientation_ = 1;  // EXIF's
  VideoPicture converter_;
  std::int64_t frames_ = 0;       // read so far
  std::int64_t start_ = 0;        // time of the first frame in the file, ns
  std::int64_t time_ = 0;         // of the latest frame since the first one, ns
  std::int64_t undecodable_ = 0;  // packets
  int read_error_ = 0;            // FFmpeg's that ended the reading, other than the end of the file
  bool last_packet_cut_ = false;
  Clock::time_point arrived_;  // when the latest packet was read
};

}  // namespace lookout
