#include "platform/sources/video_source.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/cpu.h>
#include <libavutil/mem.h>
}

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/thread.h"
#include "platform/pictures/decoded_picture.h"
#include "platform/pictures/exif.h"
#include "platform/sources/container_size.h"
#include "platform/sources/network_url.h"
#include "platform/system/file_bytes.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// FFmpeg's formats that show other files, or text.
constexpr const char* kRefusedFormats = "hls,concat,dash,imf,sdp,rtp,rtsp,image2,tty";
constexpr int kMaxThreads = 16;
constexpr int kMaxErrors = 4096;  // one after the other

// FFmpeg's last sentence about an error on this thread: its status alone says "Invalid data".
thread_local std::string last_sentence;

std::string without_newline(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of('\n') + 1));
}

void log_message(void* context, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  std::array<char, 512> line{};
  va_list again;
  va_copy(again, arguments);
  std::vsnprintf(line.data(), line.size(), format, again);
  va_end(again);
  last_sentence = without_newline(line.data());
  int prefix = 1;
  av_log_format_line2(context, level, format, arguments, line.data(), line.size(), &prefix);
  log_debug("FFmpeg: {}", hide_secrets(without_newline(line.data())));
}

// The end of a sentence about a file that cannot be opened: ": moov atom not found (...)".
std::string reason_for(const std::string& path) {
  if (last_sentence.find("moov atom not found") == std::string::npos) {
    return last_sentence.empty() ? "" : ": " + last_sentence;
  }
  const std::string first_box = FileBytes(path).text(4, 4);
  const bool is_mp4 = first_box == "ftyp" || first_box == "mdat" || first_box == "wide";
  if (!is_mp4) return "";  // its name alone says so
  return fmt::format(": {} (the MP4 was not finished: its index is missing)", last_sentence);
}

int refuse_to_open(AVFormatContext* /*container*/, AVIOContext** /*file*/, const char* /*url*/,
                   int /*flags*/, AVDictionary** /*options*/) {
  return AVERROR(EACCES);
}

std::string message(int error) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error, text.data(), text.size());
  return text.data();
}

const std::int32_t* display_matrix(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVCodecParameters& parameters = *stream.codecpar;
  const AVPacketSideData* data = av_packet_side_data_get(
      parameters.coded_side_data, parameters.nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return data == nullptr ? nullptr : reinterpret_cast<const std::int32_t*>(data->data);
#else
  return reinterpret_cast<const std::int32_t*>(
      av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
#endif
}

constexpr int kBufferSize = 64 * 1024;
constexpr int kWaitMs = 20;

bool is_temporary(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

// Reads a pipe for FFmpeg: `fd`, which has to be open while this lives, in order and without
// seeking. All reads fail with AVERROR_EXIT within 20 ms once `stop` is true, also while nothing
// comes.
class VideoSource::StreamInput {
 public:
  StreamInput(int fd, const std::atomic<bool>& stop)
      : fd_(fd),
        stop_(stop),
        context_(avio_alloc_context(static_cast<unsigned char*>(av_malloc(kBufferSize)),
                                    kBufferSize, 0, this, &StreamInput::read, nullptr, nullptr)) {}
  ~StreamInput() {
    av_freep(&context_->buffer);
    avio_context_free(&context_);
  }
  StreamInput(const StreamInput&) = delete;
  StreamInput& operator=(const StreamInput&) = delete;

  AVIOContext* context() const { return context_; }
  // Whether the writer closed its end.
  bool at_end() const { return at_end_; }
  // Read so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  static int read(void* self, std::uint8_t* buffer, int size) {
    return static_cast<StreamInput*>(self)->read(buffer, size);
  }

  int read(std::uint8_t* buffer, int size) {
    while (!stop_) {
      pollfd waiting{fd_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, kWaitMs);
      if (ready == 0 || (ready < 0 && is_temporary(errno))) continue;
      const ssize_t count = ready < 0 ? -1 : ::read(fd_, buffer, static_cast<std::size_t>(size));
      if (count > 0) {
        bytes_ += static_cast<std::uint64_t>(count);
        return static_cast<int>(count);
      }
      if (count == 0) {
        at_end_ = true;
        return AVERROR_EOF;
      }
      if (!is_temporary(errno)) return AVERROR(errno);
    }
    return AVERROR_EXIT;
  }

  const int fd_;
  const std::atomic<bool>& stop_;
  bool at_end_ = false;
  std::uint64_t bytes_ = 0;
  AVIOContext* context_;
};

void VideoSource::Free::operator()(AVIOContext* file) const { avio_closep(&file); }
void VideoSource::Free::operator()(AVFormatContext* c) const { avformat_close_input(&c); }
void VideoSource::Free::operator()(AVCodecContext* decoder) const {
  avcodec_free_context(&decoder);
}
void VideoSource::Free::operator()(AVPacket* packet) const { av_packet_free(&packet); }
void VideoSource::Free::operator()(AVFrame* picture) const { av_frame_free(&picture); }

VideoSource::VideoSource(const std::string& path, std::int64_t max_pixels)
    : path_(path),
      what_("video " + path),
      max_pixels_(max_pixels),
      packet_(av_packet_alloc()),
      picture_(av_frame_alloc()) {
  av_log_set_callback(log_message);
  const SignalsBlocked blocked;
  open_file();
  open_decoder();
  info_.name = fs::path(path).stem().string();
  info_.description = describe();
}

VideoSource::VideoSource(const VideoStream& stream, std::int64_t max_pixels)
    : what_(stream.name),
      max_pixels_(max_pixels),
      live_(stream.live),
      stream_input_(std::make_unique<StreamInput>(stream.fd, *stream.stop)),
      packet_(av_packet_alloc()),
      picture_(av_frame_alloc()) {
  av_log_set_callback(log_message);
  const SignalsBlocked blocked;
  open_container(stream_input_->context(), "");
  open_decoder();
  info_.name = stream.name;
  info_.description = describe();
}

VideoSource::VideoSource(const NetworkVideo& video, std::int64_t max_pixels)
    : what_(video.shown),
      max_pixels_(max_pixels),
      network_(std::make_unique<NetworkInput>(video)),
      packet_(av_packet_alloc()),
      picture_(av_frame_alloc()) {
  av_log_set_callback(log_message);
  avformat_network_init();
  const SignalsBlocked blocked;
  if (!network_->is_rtsp()) file_.reset(network_->open_http());
  live_ = file_ == nullptr || avio_size(file_.get()) < 0;
  open_container(file_.get(), video.url);
  open_decoder();
  info_.name = video.shown;
  info_.description = describe();
  info_.live = live_;
}

VideoSource::~VideoSource() = default;

void VideoSource::check_video(bool good) const {
  if (good) return;
  if (network_) fail("is no video that can be decoded");
  if (!stream_input_) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is neither a picture nor a video that can be decoded{}", path_,
                            reason_for(path_)));
  }
  if (stream_input_->bytes() == 0) fail("ended before anything came");
  if (is_mp4_) {
    fail("is an MP4 with its index at the end; pipe Matroska (-f matroska), or a fragmented MP4");
  }
  fail("is no video that can be decoded; Y4M, MJPEG, H.264, MPEG-TS and Matroska can be");
}

// The reason for a status of FFmpeg's while a container is opened.
void VideoSource::check(int status) const {
  if (status < 0 && network_ && status != AVERROR_INVALIDDATA) throw network_->error(status);
  check_video(status >= 0);
}

void VideoSource::fail(const std::string& what) const {
  throw Error(ErrorKind::kNoInput, fmt::format("{} {}", what_, what));
}

void VideoSource::check_size(int width, int height) const {
  if (std::int64_t{width} * height <= max_pixels_) return;
  fail(too_large({width, height}, DecodeLimits{max_pixels_}));
}

void VideoSource::open_file() {
  // With the protocol's name, for "12:30.avi" has a colon.
  const std::string url = "file:" + fs::absolute(path_).string();
  last_sentence.clear();
  AVIOContext* file = nullptr;
  check_video(avio_open(&file, url.c_str(), AVIO_FLAG_READ) >= 0);
  file_.reset(file);
  open_container(file, url);
}

// Whether it begins as a JPEG. A name such as x.jpg makes FFmpeg look for a picture.
bool VideoSource::is_motion_jpeg() const {
  return !path_.empty() && FileBytes(path_).text(0, 3) == "\xff\xd8\xff";
}

// RTSP has no `input`.
void VideoSource::open_container(AVIOContext* input, const std::string& url) {
  const AVInputFormat* format = nullptr;
  if (input == nullptr) {
    format = av_find_input_format("rtsp");
  } else if (is_motion_jpeg()) {
    format = av_find_input_format("mjpeg");
  } else {
    check(av_probe_input_buffer2(input, &format, url.c_str(), nullptr, 0, 0));
  }
  if (format == nullptr) fail("is of a format that this FFmpeg does not have");
  check_video(input == nullptr || av_match_name(format->name, kRefusedFormats) == 0);
  is_mp4_ = av_match_name("mp4", format->name) != 0;

  AVFormatContext* container = avformat_alloc_context();
  container->pb = input;
  container->io_open = refuse_to_open;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);
  if (network_) container->interrupt_callback = network_->interrupt();
  if (network_ && input == nullptr) network_->set_rtsp(&options);
  const int status = avformat_open_input(&container, url.c_str(), format, &options);
  av_dict_free(&options);
  check(status);
  container_.reset(container);
  find_streams();
}

// Decodes the first frames where the container does not tell their size.
void VideoSource::find_streams() {
  std::vector<AVDictionary*> options(container_->nb_streams);
  for (unsigned int i = 0; i < container_->nb_streams; ++i) {
    const AVCodecParameters& codec = *container_->streams[i]->codecpar;
    check_size(codec.width, codec.height);
    av_dict_set_int(&options[i], "max_pixels", max_pixels_, 0);
  }
  const int status = avformat_find_stream_info(container_.get(), options.data());
  for (AVDictionary*& each : options) av_dict_free(&each);
  check(status);
}

void VideoSource::open_decoder() {
  const int number = av_find_best_stream(container_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  check_video(number >= 0);
  for (unsigned int i = 0; i < container_->nb_streams; ++i) {
    if (static_cast<int>(i) != number) container_->streams[i]->discard = AVDISCARD_ALL;
  }
  stream_ = container_->streams[number];

  const AVCodec* codec = avcodec_find_decoder(stream_->codecpar->codec_id);
  check_video(codec != nullptr);
  decoder_.reset(avcodec_alloc_context3(codec));
  check_video(avcodec_parameters_to_context(decoder_.get(), stream_->codecpar) >= 0);
  decoder_->pkt_timebase = stream_->time_base;
  check_size(decoder_->width, decoder_->height);
  decoder_->max_pixels = max_pixels_;
  decoder_->thread_count = std::min(av_cpu_count(), kMaxThreads);
  // Threads that share out frames hold back one each. Those of Theora also give some frames away
  // before their chroma is complete: seen with FFmpeg 5.1 and 7.1.
  const bool is_theora = codec->id == AV_CODEC_ID_THEORA || codec->id == AV_CODEC_ID_VP3;
  if (live_ || is_theora) decoder_->thread_type = FF_THREAD_SLICE;
  check_video(avcodec_open2(decoder_.get(), codec, nullptr) >= 0);

  if (const std::int32_t* matrix = display_matrix(*stream_)) orientation_ = orientation_of(matrix);
}

std::string VideoSource::describe() const {
  constexpr int kLastUnturned = 4;
  int width = decoder_->width;
  int height = decoder_->height;
  if (orientation_ > kLastUnturned) std::swap(width, height);
  std::string text = fmt::format("{}, {}x{}", what_, width, height);
  const double fps = av_q2d(av_guess_frame_rate(container_.get(), stream_, nullptr));
  const bool is_known = has_times() || !network_;
  if (is_known && std::isfinite(fps) && fps > 0) {
    text += fmt::format(", {:.4g} fps{}", fps, has_times() ? "" : " assumed");
  }
  return text;
}

ReadStatus VideoSource::read(Frame& frame, std::chrono::milliseconds /*timeout*/) {
  frame.captured = Clock::now();
  if (!decode()) {
    check_end();
    return ReadStatus::kEnd;
  }
  if (path_.empty()) frame.captured = std::max(frame.captured, arrived_);
  fill(frame);
  frame.capture_duration = Clock::now() - frame.captured;
  ++frames_;
  return ReadStatus::kFrame;
}

// False at the end.
bool VideoSource::decode() {
  for (int errors = 0; errors < kMaxErrors;) {
    const int status = avcodec_receive_frame(decoder_.get(), picture_.get());
    if (status == AVERROR(EAGAIN)) {
      feed();
    } else if (status >= 0) {
      return true;
    } else if (status == AVERROR_EOF) {
      return false;
    } else {
      ++errors;
      ++undecodable_;
      if (errors == kMaxErrors) read_error_ = status;
    }
  }
  return false;
}

// Gives the decoder the next packet or, at the end, asks it for the frames that it holds back.
void VideoSource::feed() {
  int status = 0;
  if (network_) network_->expect_data();
  do {
    av_packet_unref(packet_.get());
    status = av_read_frame(container_.get(), packet_.get());
  } while (status == AVERROR(EAGAIN) || (status >= 0 && packet_->stream_index != stream_->index));
  arrived_ = Clock::now();
  if (status < 0) {
    if (status != AVERROR_EOF) read_error_ = status;
    avcodec_send_packet(decoder_.get(), nullptr);
    return;
  }
  last_packet_cut_ = (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
  if (avcodec_send_packet(decoder_.get(), packet_.get()) < 0) ++undecodable_;
}

void VideoSource::fill(Frame& frame) {
  try {
    converter_.convert(*picture_, frame.bgr);
  } catch (const Error& error) {
    fail(fmt::format("cannot be shown: {}", error.what()));
  }
  turn_upright(orientation_, frame.bgr);
  frame.origin = path_;
  const auto time = next_time();
  frame.media_time = live_ && !has_times() ? std::nullopt : std::optional(time);
}

bool VideoSource::has_times() const {
  return (container_->iformat->flags & AVFMT_NOTIMESTAMPS) == 0;
}

// A frame without a time, or with one that goes back, follows the frame before at the frame rate.
std::chrono::nanoseconds VideoSource::next_time() {
  constexpr AVRational kNanoseconds{1, 1'000'000'000};
  const std::int64_t timestamp = picture_->best_effort_timestamp;
  const bool is_known = timestamp != AV_NOPTS_VALUE;
  const std::int64_t time =
      is_known ? av_rescale_q(timestamp, stream_->time_base, kNanoseconds) : 0;
  if (frames_ == 0) {
    start_ = time;
  } else if (is_known && time - start_ >= time_) {
    time_ = time - start_;
  } else {
    const AVRational rate = av_guess_frame_rate(container_.get(), stream_, nullptr);
    if (rate.num > 0) time_ += av_rescale_q(1, av_inv_q(rate), kNanoseconds);
  }
  return std::chrono::nanoseconds(time_);
}

// In MP4, the samples that an edit shows: it may leave some out. 0: not announced.
std::int64_t VideoSource::announced_frames() const {
  if (!is_mp4_) return stream_->nb_frames;
  std::int64_t frames = 0;
  for (int i = 0; i < avformat_index_get_entries_count(stream_); ++i) {
    if ((avformat_index_get_entry(stream_, i)->flags & AVINDEX_DISCARD_FRAME) == 0) ++frames;
  }
  return frames;
}

void VideoSource::check_end() const {
  if (network_ && read_error_ != 0) throw network_->error(read_error_);
  if (frames_ == 0 && path_.empty()) check_video(false);
  if (frames_ == 0) fail("has no frame that can be read");
  if (undecodable_ > 0) log_warn("{}: {} packets could not be decoded", what_, undecodable_);
  if (!path_.empty()) {
    check_file_end();
  } else if (!network_ && read_error_ != 0 && !stream_input_->at_end()) {
    fail(fmt::format("ends after {} frames: {}", frames_, message(read_error_)));
  }
}

void VideoSource::check_file_end() const {
  const std::int64_t announced = announced_frames();
  const std::string ends = announced > frames_
                               ? fmt::format("ends after {} of {} frames", frames_, announced)
                               : fmt::format("ends after {} frames", frames_);
  // Fragments of an MP4 announce their frames one after the other, so that the last are not known.
  const bool is_complete = announced > 0 && frames_ >= announced && announced <= stream_->nb_frames;
  if (!is_complete && (last_packet_cut_ || is_cut(path_))) fail(ends + ": the file is truncated");
  if (read_error_ != 0) fail(fmt::format("{}: {}", ends, message(read_error_)));
  if (announced > frames_ && !counts_pauses()) log_warn("{} {}", what_, ends);
}

// Whether the announced frames may include some that only make the one before last: AVI has empty
// packets for them, which its index leaves out.
bool VideoSource::counts_pauses() const {
  return av_match_name("avi", container_->iformat->name) != 0 &&
         avformat_index_get_entries_count(stream_) <= frames_;
}

namespace {

std::unique_ptr<Source> open(const std::string& path, std::int64_t max_pixels) {
  return std::make_unique<VideoSource>(path, max_pixels);
}

std::unique_ptr<Source> open_stream(const VideoStream& stream, std::int64_t max_pixels) {
  return std::make_unique<VideoSource>(stream, max_pixels);
}

std::unique_ptr<Source> open_network(const NetworkVideo& video, std::int64_t max_pixels) {
  return std::make_unique<VideoSource>(video, max_pixels);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::VideoModule* lookout_video() {
  static const lookout::VideoModule module{{lookout::kVideoInterface, LOOKOUT_VERSION},
                                           lookout::open,
                                           lookout::open_stream,
                                           lookout::open_network};
  return &module;
}
