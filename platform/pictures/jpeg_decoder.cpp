#include "platform/pictures/jpeg_decoder.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs it
#include <cstring>
#include <memory>

#include <jpeglib.h>
// after jpeglib.h, whose types it uses
#include <jerror.h>

#include "platform/pictures/exif.h"
#include "platform/pictures/jpeg_segments.h"

namespace lookout {
namespace {

constexpr int kFewBytes = 16;  // between two markers
constexpr int kCmyk = 4;       // components
constexpr int kColors = 3;     // of a pixel
constexpr unsigned kMaxScale = 8;
constexpr std::int64_t kReducedGain = 4;  // see DecodeLimits::reduce

// What libjpeg's functions that call back know. Has no destructor that a jump would pass over.
struct JpegState {
  jpeg_error_mgr manager;  // first: libjpeg knows only this member
  jpeg_progress_mgr progress;
  std::jmp_buf way_out;
  const DecodeLimits* limits;
  JpegOptions options;
  DecodeProblem problem;
  std::array<char, JMSG_LENGTH_MAX> warning;
  std::array<char, JMSG_LENGTH_MAX> error;
};

JpegState& state_of(j_common_ptr codec) { return *reinterpret_cast<JpegState*>(codec->err); }

[[noreturn]] void leave(j_common_ptr codec, DecodeProblem problem) {
  JpegState& state = state_of(codec);
  state.problem = problem;
  std::longjmp(state.way_out, 1);
}

[[noreturn]] void give_up_jpeg(j_common_ptr codec) {
  JpegState& state = state_of(codec);
  if (state.manager.msg_code == JERR_OUT_OF_MEMORY) leave(codec, DecodeProblem::kNoMemory);
  state.manager.format_message(codec, state.error.data());
  leave(codec, DecodeProblem::kDamaged);
}

bool is_habit_of_cameras(const jpeg_error_mgr& message) {
  switch (message.msg_code) {
    case JWRN_JPEG_EOF:  // when data are missing as well, another warning follows
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
      return true;
    case JWRN_EXTRANEOUS_DATA:
      return message.msg_parm.i[0] <= kFewBytes;
    default:
      return false;
  }
}

void take_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // no warning
  JpegState& state = state_of(codec);
  if (state.options.tolerance == JpegTolerance::kFrame) {
    if (!is_habit_of_cameras(state.manager)) leave(codec, DecodeProblem::kDamaged);
    return;
  }
  if (state.manager.msg_code == JWRN_JPEG_EOF) leave(codec, DecodeProblem::kTruncated);
  if (state.manager.num_warnings++ > 0) return;
  state.manager.format_message(codec, state.warning.data());
}

[[noreturn]] void refuse_scans(j_common_ptr codec) {
  std::strncpy(state_of(codec).error.data(), "it has too many scans", JMSG_LENGTH_MAX - 1);
  leave(codec, DecodeProblem::kDamaged);
}

void poll(j_common_ptr codec) {
  const auto& cancelled = state_of(codec).limits->cancelled;
  if (cancelled && cancelled()) leave(codec, DecodeProblem::kCancelled);
}

// Called for every row of blocks of a scan that is read before the first line is.
void watch_scans(j_common_ptr codec) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(codec);
  const int limit = state_of(codec).limits->scans;
  if (decompress->input_scan_number > limit) refuse_scans(codec);
  poll(codec);
}

int scans_of(std::string_view jpeg) {
  JpegSegments segments(jpeg);
  int scans = 0;
  while (const auto segment = segments.next()) {
    if (segment->marker == JpegSegment::kEnd) break;
    if (segment->marker == JpegSegment::kScan) ++scans;
  }
  return scans;
}

// What libjpeg keeps of a picture that it has to read whole before its first line is known.
std::int64_t coefficient_bytes(jpeg_decompress_struct& codec) {
  if (jpeg_has_multiple_scans(&codec) == FALSE) return 0;
  std::int64_t blocks = 0;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& component = codec.comp_info[i];
    blocks += std::int64_t{component.width_in_blocks} * component.height_in_blocks;
  }
  return blocks * static_cast<std::int64_t>(sizeof(JBLOCK));
}

void set_scale(jpeg_decompress_struct& codec, int eighths) {
  codec.scale_num = static_cast<unsigned>(eighths);
  codec.scale_denom = kMaxScale;
  if (codec.scale_num < kMaxScale) codec.do_fancy_upsampling = FALSE;
}

// Chooses the largest scale with so many pixels. False when there is none.
bool choose_scale(jpeg_decompress_struct& codec, std::int64_t pixels) {
  codec.scale_num = 1;
  for (codec.scale_denom = 1; codec.scale_denom <= kMaxScale; codec.scale_denom *= 2) {
    jpeg_calc_output_dimensions(&codec);
    if (std::int64_t{codec.output_width} * codec.output_height <= pixels) return true;
  }
  return false;
}

// By the size that libjpeg decodes. False when the picture is too large.
bool fits(jpeg_decompress_struct& codec, const DecodeLimits& limits) {
  const PictureSize size{codec.image_width, codec.image_height};
  if (!limits.reduce) return is_within(size, limits);
  const std::int64_t kept = coefficient_bytes(codec);
  const std::int64_t pixels = std::min(kReducedPixels, (kReducedBytes - kept) / kColors);
  return is_within(size, limits, kept > 0 ? 1 : kReducedGain) &&
         choose_scale(codec, std::min(limits.pixels, pixels));
}

// As OpenCV does it, which looks at no color profile.
void convert_cmyk(const JSAMPLE* cmyk, int width, unsigned char* bgr) {
  constexpr int kMax = 255;
  for (int x = 0; x < width; ++x, cmyk += kCmyk, bgr += kColors) {
    const int black = cmyk[3];
    for (int i = 0; i < kColors; ++i) {
      bgr[2 - i] = static_cast<unsigned char>(black - ((kMax - cmyk[i]) * black >> 8));
    }
  }
}

void read_lines(jpeg_decompress_struct& codec, cv::Mat& bgr) {
  auto* common = reinterpret_cast<j_common_ptr>(&codec);
  const bool is_cmyk = codec.out_color_space == JCS_CMYK;
  JSAMPARRAY cmyk = nullptr;
  if (is_cmyk) {
    cmyk = codec.mem->alloc_sarray(common, JPOOL_IMAGE, codec.output_width * kCmyk, 1);
  }
  while (codec.output_scanline < codec.output_height) {
    poll(common);
    JSAMPROW row = bgr.ptr(static_cast<int>(codec.output_scanline));
    jpeg_read_scanlines(&codec, is_cmyk ? cmyk : &row, 1);
    if (is_cmyk) convert_cmyk(*cmyk, bgr.cols, row);
  }
  jpeg_finish_decompress(&codec);
}

// Header, pixels and orientation. What it returns becomes the problem; jumps to the others.
DecodeProblem read_picture(jpeg_decompress_struct& codec, std::string_view jpeg, cv::Mat& bgr) {
  auto* common = reinterpret_cast<j_common_ptr>(&codec);
  const JpegState& state = state_of(common);
  jpeg_read_header(&codec, TRUE);
  if (jpeg_has_multiple_scans(&codec) != FALSE && scans_of(jpeg) > state.limits->scans) {
    refuse_scans(common);
  }
  set_scale(codec, state.options.eighths);
  if (!fits(codec, *state.limits)) return DecodeProblem::kTooManyPixels;
  codec.out_color_space = codec.num_components == kCmyk ? JCS_CMYK : JCS_EXT_BGR;
  if (state.options.gray) codec.out_color_space = JCS_GRAYSCALE;
  jpeg_start_decompress(&codec);
  bgr.create(static_cast<int>(codec.output_height), static_cast<int>(codec.output_width),
             state.options.gray ? CV_8UC1 : CV_8UC3);
  read_lines(codec, bgr);
  if (state.options.tolerance == JpegTolerance::kFile)
    turn_upright(exif_orientation(exif_of_jpeg(jpeg)), bgr);
  return DecodeProblem::kNone;
}

DecodeProblem run_libjpeg(JpegState& state, std::string_view jpeg, jpeg_decompress_struct& codec,
                          cv::Mat& bgr) {
  if (setjmp(state.way_out) != 0) return state.problem;
  jpeg_create_decompress(&codec);
  codec.progress = &state.progress;
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(jpeg.data()),
               static_cast<unsigned long>(jpeg.size()));
  return read_picture(codec, jpeg, bgr);
}

}  // namespace

void decode_jpeg(std::string_view jpeg, const DecodeLimits& limits, const JpegOptions& options,
                 DecodedPicture& picture) {
  picture.problem = DecodeProblem::kNone;
  if (jpeg.empty()) {  // libjpeg would treat it as an error of the caller
    picture.fail(DecodeProblem::kTruncated, message_of(DecodeProblem::kTruncated));
    return;
  }
  JpegState state{};
  state.limits = &limits;
  state.options = options;
  jpeg_decompress_struct codec{};
  codec.err = jpeg_std_error(&state.manager);
  state.manager.error_exit = give_up_jpeg;
  state.manager.emit_message = take_message;
  state.progress.progress_monitor = watch_scans;
  // Frees what libjpeg has, also when memory for the pixels cannot be had.
  const std::unique_ptr<jpeg_decompress_struct, void (*)(jpeg_decompress_struct*)> owner(
      &codec, jpeg_destroy_decompress);
  const DecodeProblem problem = run_libjpeg(state, jpeg, codec, picture.bgr);
  picture.warning = state.warning.data();
  picture.further_warnings = state.manager.num_warnings > 1 ? state.manager.num_warnings - 1 : 0;
  switch (problem) {
    case DecodeProblem::kNone:
      break;
    case DecodeProblem::kTooManyPixels: {
      const PictureSize size{codec.image_width, codec.image_height};
      picture.fail(problem, is_within(size, limits)
                                ? "is too large for a JPEG with several scans: send it as a "
                                  "baseline JPEG, or smaller"
                                : too_large(size, limits));
      break;
    }
    case DecodeProblem::kDamaged:
      picture.fail(problem, damaged(state.error.data()));
      break;
    default:
      picture.fail(problem, message_of(problem));
      break;
  }
}

}  // namespace lookout
