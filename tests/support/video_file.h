// Makes video files of plain pictures, with FFmpeg's encoders.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <array>
#include <cstdint>
#include <memory>
#include <opencv2/core/types.hpp>
#include <string>

namespace lookout {

using Yuv = std::array<unsigned char, 3>;

struct VideoFormat {
  std::string codec = "ffv1";
  AVPixelFormat pixels = AV_PIX_FMT_YUV420P;
  cv::Size size{64, 48};
  int fps = 30;
  AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
  double audio_seconds = 0;  // of silence in a stream of its own; 0: none
  double rotation = 0;       // degrees clockwise that a player has to turn the picture by
  std::string options{};     // of the container, "movflags=faststart"
  std::string container{};   // FFmpeg's name for it; empty: by the extension
};

// The file is complete when this is destroyed. Throws std::runtime_error on any failure.
class VideoFile {
 public:
  VideoFile(const std::string& path, const VideoFormat& format);
  ~VideoFile();
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;

  // Appends a picture of one color; its upper left quarter is of the color `corner`. It is shown at
  // the time `tick` of fps ticks a second, by default one after the one before.
  void write(const Yuv& color, const Yuv& corner, std::int64_t tick = -1);
  void write(const Yuv& color) { write(color, color); }

 private:
  void open_encoder();
  void open_container(const std::string& path);
  void add_audio();
  void write_audio();
  void encode(const AVFrame* picture);

  VideoFormat format_;
  AVFormatContext* container_ = nullptr;
  AVCodecContext* encoder_ = nullptr;
  AVFrame* picture_ = nullptr;
  AVPacket* packet_ = nullptr;
  std::int64_t tick_ = 0;
};

}  // namespace lookout
