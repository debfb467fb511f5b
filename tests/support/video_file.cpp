#include "tests/support/video_file.h"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

#include <cstring>
#include <stdexcept>

namespace lookout {
namespace {

constexpr int kSampleRate = 8000;

int check(int status, const char* action) {
  if (status < 0) throw std::runtime_error(std::string(action) + " failed");
  return status;
}

void set_rotation(AVStream& stream, double degrees) {
  constexpr std::size_t kSize = 9 * sizeof(std::int32_t);
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  AVCodecParameters& parameters = *stream.codecpar;
  AVPacketSideData* data =
      av_packet_side_data_new(&parameters.coded_side_data, &parameters.nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX, kSize, 0);
  auto* matrix = reinterpret_cast<std::int32_t*>(data->data);
#else
  auto* matrix = reinterpret_cast<std::int32_t*>(
      av_stream_new_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, kSize));
#endif
  av_display_rotation_set(matrix, degrees);
}

// Samples of 8 bits, or of more in two bytes.
void fill_plane(AVFrame& picture, int plane, const cv::Size& size, int value, int depth) {
  const int sample = depth > 8 ? 2 : 1;
  const int scaled = value << (depth - 8);
  for (int y = 0; y < size.height; ++y) {
    auto* line = picture.data[plane] + static_cast<std::ptrdiff_t>(y) * picture.linesize[plane];
    for (int x = 0; x < size.width; ++x) std::memcpy(line + x * sample, &scaled, sample);
  }
}

void fill(AVFrame& picture, const cv::Size& size, const Yuv& color) {
  const AVPixFmtDescriptor& format =
      *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  for (int plane = 0; plane < format.nb_components; ++plane) {
    const bool chroma = plane > 0;
    const cv::Size part(size.width >> (chroma ? format.log2_chroma_w : 0),
                        size.height >> (chroma ? format.log2_chroma_h : 0));
    fill_plane(picture, plane, part, color.at(plane), format.comp[plane].depth);
  }
}

}  // namespace

VideoFile::VideoFile(const std::string& path, const VideoFormat& format) : format_(format) {
  av_log_set_level(AV_LOG_QUIET);
  open_encoder();
  open_container(path);
  packet_ = av_packet_alloc();
  picture_ = av_frame_alloc();
  picture_->format = format_.pixels;
  picture_->width = format_.size.width;
  picture_->height = format_.size.height;
  picture_->colorspace = format_.matrix;
  picture_->color_range = format_.range;
  check(av_frame_get_buffer(picture_, 0), "av_frame_get_buffer");
}

void VideoFile::open_encoder() {
  const AVCodec* codec = avcodec_find_encoder_by_name(format_.codec.c_str());
  if (codec == nullptr) throw std::runtime_error("no encoder " + format_.codec);
  encoder_ = avcodec_alloc_context3(codec);
  encoder_->width = format_.size.width;
  encoder_->height = format_.size.height;
  encoder_->pix_fmt = format_.pixels;
  encoder_->time_base = {1, format_.fps};
  encoder_->framerate = {format_.fps, 1};
  encoder_->colorspace = format_.matrix;
  encoder_->color_range = format_.range;
  encoder_->thread_count = 1;
  encoder_->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
  const bool repeats_headers = format_.container == "mpegts" || format_.container == "h264";
  if (!repeats_headers) encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  check(avcodec_open2(encoder_, codec, nullptr), "avcodec_open2");
}

void VideoFile::open_container(const std::string& path) {
  const char* format = format_.container.empty() ? nullptr : format_.container.c_str();
  check(avformat_alloc_output_context2(&container_, nullptr, format, path.c_str()), "the format");
  AVStream* stream = avformat_new_stream(container_, nullptr);
  stream->time_base = encoder_->time_base;
  stream->avg_frame_rate = encoder_->framerate;
  check(avcodec_parameters_from_context(stream->codecpar, encoder_), "the parameters");
  if (format_.rotation != 0) set_rotation(*stream, format_.rotation);
  if (format_.audio_seconds > 0) add_audio();
  check(avio_open(&container_->pb, path.c_str(), AVIO_FLAG_WRITE), "avio_open");
  AVDictionary* options = nullptr;
  av_dict_parse_string(&options, format_.options.c_str(), "=", ":", 0);
  check(avformat_write_header(container_, &options), "avformat_write_header");
  av_dict_free(&options);
}

void VideoFile::add_audio() {
  AVCodecParameters& audio = *avformat_new_stream(container_, nullptr)->codecpar;
  audio.codec_type = AVMEDIA_TYPE_AUDIO;
  audio.codec_id = AV_CODEC_ID_PCM_S16LE;
  audio.format = AV_SAMPLE_FMT_S16;
  audio.sample_rate = kSampleRate;
  audio.bits_per_coded_sample = 16;
  audio.block_align = 2;
  av_channel_layout_default(&audio.ch_layout, 1);
}

// A packet a second.
void VideoFile::write_audio() {
  const AVRational seconds{1, 1};
  for (int i = 0; i < format_.audio_seconds; ++i) {
    if (av_new_packet(packet_, 2 * kSampleRate) < 0) return;
    std::memset(packet_->data, 0, static_cast<std::size_t>(packet_->size));
    packet_->stream_index = 1;
    packet_->pts = packet_->dts = i;
    packet_->duration = 1;
    av_packet_rescale_ts(packet_, seconds, container_->streams[1]->time_base);
    av_interleaved_write_frame(container_, packet_);
  }
}

VideoFile::~VideoFile() {
  encode(nullptr);
  if (format_.audio_seconds > 0) write_audio();
  av_write_trailer(container_);
  avio_closep(&container_->pb);
  avformat_free_context(container_);
  avcodec_free_context(&encoder_);
  av_frame_free(&picture_);
  av_packet_free(&packet_);
}

void VideoFile::write(const Yuv& color, const Yuv& corner, std::int64_t tick) {
  check(av_frame_make_writable(picture_), "av_frame_make_writable");
  fill(*picture_, format_.size, color);
  fill(*picture_, format_.size / 2, corner);
  if (tick >= 0) tick_ = tick;
  picture_->pts = tick_++;
  encode(picture_);
}

void VideoFile::encode(const AVFrame* picture) {
  avcodec_send_frame(encoder_, picture);
  while (avcodec_receive_packet(encoder_, packet_) >= 0) {
    AVStream& stream = *container_->streams[0];
    packet_->stream_index = 0;
    packet_->duration = 1;
    av_packet_rescale_ts(packet_, encoder_->time_base, stream.time_base);
    av_interleaved_write_frame(container_, packet_);
  }
}

}  // namespace lookout
