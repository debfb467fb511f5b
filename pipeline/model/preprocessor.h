// Turns a camera's frame into the model's input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <optional>
#include <vector>

#include "pipeline/core/input_spec.h"
#include "pipeline/core/raw_picture.h"
#include "pipeline/model/taps.h"
#include "pipeline/model/yuv_scaler.h"

namespace lookout {

// The part of the picture that is classified: the picture is turned, then mirrored, then cut.
struct View {
  int rotation = 0;  // degrees clockwise: 0, 90, 180, 270
  bool hflip = false;
  bool vflip = false;
  // x, y, width, height as fractions 0..1 of the turned and mirrored picture.
  cv::Rect2d roi{0, 0, 1, 1};
};

// No useful frame is wider or higher, in pixels. Its square fits an int.
inline constexpr int kMaxFrameSide = 16384;

// The smallest frame, in pixels, of which `view` leaves as many pixels as the model uses; at most
// kMaxFrameSide in each direction, however small the region of interest is.
cv::Size useful_size(const InputSpec& spec, const View& view);

// The same of a frame that is reduced before it is scaled to the model's input: `view` leaves at
// least 240 lines and columns of it. With fewer the answers change, measured with a model of
// 224x224.
cv::Size reducible_size(const InputSpec& spec, const View& view);

// The rectangle of a frame, before it is turned, that is classified.
cv::Rect classified_region(const InputSpec& spec, const View& view, const cv::Size& frame);

// One pass over the frame: turn, mirror, cut, scale, reorder channels, normalise, quantize if the
// model takes bytes, and flip if it takes flipped images. Scaling down averages over the area (a
// triangle filter as wide as the reduction, separable: Pillow's "bilinear"), scaling up
// interpolates linearly. Scaled values are rounded to a byte before they are normalised, as they
// are when a picture is scaled in a file. A YUV picture is scaled before it is converted to RGB,
// which costs a third of the other order, or less: see YuvScaler.
//
// Not thread-safe: one object a thread. Allocates only when the size of the frames changes.
class Preprocessor {
 public:
  Preprocessor(const InputSpec& spec, const View& view);

  // `bgr`: CV_8UC3, any size. `out` is resized to the spec's size and overwritten: its bytes if the
  // spec has a quantization, else its values.
  // Throws Error(kInternal) for an empty picture or another type.
  void run(const cv::Mat& bgr, ImageTensor& out);

  // The same for a camera's picture whose pixels share U and V.
  // Throws Error(kInternal) for an empty picture or another format.
  void run(const RawPicture& picture, ImageTensor& out);

 private:
  // The model's value for a byte of the picture, for B, G, R.
  template <typename Value>
  using Table = std::array<std::array<Value, 256>, 3>;

  static constexpr int kRowsAtOnce = 4;

  // In values, of B, G, R: where a pixel's channels lie in the output, seen from its first.
  using Channels = std::array<std::ptrdiff_t, 3>;

  void plan(const cv::Size& frame);
  void plan_output(const cv::Size& scaled, const cv::Size& output);
  // Picture: cv::Mat or RawPicture.
  template <typename Picture>
  void write(const Picture& picture, ImageTensor& out);
  // Value: float or std::uint8_t. `out`: where the first pixel goes.
  template <typename Value>
  void write_rows_of(const cv::Mat& bgr, const Table<Value>& table, Value* out);
  template <typename Value>
  void write_rows_of(const RawPicture& picture, const Table<Value>& table, Value* out);
  void fetch_rows(const cv::Mat& bgr, int y) const;
  void blend_rows(const cv::Mat& bgr, const Taps::Span& span, std::int16_t* row) const;
  template <typename Value>
  void write_rows(int rows, const Table<Value>& table, Value* out) const;
  template <typename Value>
  void write_unscaled_row(const std::uint8_t* bgr, const Table<Value>& table, Value* out) const;
  template <typename Value>
  static void write_pixel(const Table<Value>& table, const Channels& channels, std::size_t b,
                          std::size_t g, std::size_t r, Value* out);

  InputSpec spec_;
  View view_;
  Table<float> values_{};
  Table<std::uint8_t> bytes_{};  // if the spec has a quantization

  // The plan for frames of size planned_. "Source axes" are those of the frame before it is turned.
  cv::Size planned_;
  cv::Rect crop_;                     // in the frame
  cv::Size scaled_;                   // the crop's size after scaling, source axes
  Taps horizontal_;                   // relative to crop_.x
  Taps vertical_;                     // absolute rows
  std::ptrdiff_t origin_ = 0;         // in values: where source pixel (0, 0) lands in the output
  std::ptrdiff_t column_stride_ = 0;  // in values: one source column to the right
  std::ptrdiff_t row_stride_ = 0;     // in values: one source row down
  Channels channels_{};
  bool padded_ = false;
  bool unscaled_ = false;
  // Rows of the crop, blended over the frame's rows, one for each of kRowsAtOnce rows of output.
  // After each lies a value that is read and not used.
  std::vector<std::int16_t> blended_;
  int blended_stride_ = 0;  // values from one to the next
  YuvScaler yuv_scaler_;
  std::optional<RawFormat> yuv_format_;  // that it is planned for
};

}  // namespace lookout
