// Measures the blocks of luma of the classified region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <vector>

#include "pipeline/core/input_spec.h"
#include "pipeline/core/luma_blocks.h"
#include "pipeline/core/raw_picture.h"
#include "pipeline/model/preprocessor.h"

namespace lookout {

// Where the blocks of the classified region lie: about 30 x 30 of them, whose sides are a multiple
// of 8 pixels and start at one, so that a JPEG that is decoded at a fraction has whole blocks. Up
// to 7 pixels at the right and the lower border of a frame belong to no block.
//
// Not thread-safe: one object a thread. Allocates only when the size of the frames changes.
class LumaGrid {
 public:
  // `ignored`: rectangles as fractions 0..1 of the turned and mirrored picture, as View::roi. A
  // block that one of them touches is left out.
  LumaGrid(const View& view, const InputSpec& spec, std::vector<cv::Rect2d> ignored);

  // Of a picture whose pixels share U and V: its luma as it lies in memory, in some lines of each
  // block. No blocks: the region is smaller than 8 x 8 pixels, or ignored.
  void measure(const RawPicture& picture, LumaBlocks& blocks);

  // Of pixels, CV_8UC3 (B G R, luma as of a JPEG) or CV_8UC1 (luma). `frame`: the size of the whole
  // frame. `picture` has that size, or an eighth to seven of it, rounded up, as libjpeg scales.
  // Fractions of a frame give the same blocks, whichever they are; the whole, in which some lines
  // are read, does not give those of a fraction.
  void measure(const cv::Mat& picture, const cv::Size& frame, LumaBlocks& blocks);

 private:
  struct Row {
    int top = 0;            // pixels of the frame
    std::size_t begin = 0;  // its blocks in lefts_
    std::size_t end = 0;
  };

  void plan(const cv::Size& frame);
  template <typename Luma>
  void measure_as(const std::uint8_t* pixels, std::size_t stride, int eighths, LumaBlocks& blocks);

  View view_;
  InputSpec spec_;
  std::vector<cv::Rect2d> ignored_;

  // The plan for frames of size planned_.
  cv::Size planned_;
  int side_ = 0;                        // of a block, pixels of the frame
  int left_ = 0;                        // of all blocks
  int width_ = 0;                       // of all blocks
  std::vector<Row> rows_;               // those with blocks
  std::vector<int> lefts_;              // where each block starts, cells from left_
  std::vector<std::uint16_t> columns_;  // sums of the lines of a row of blocks
  std::vector<unsigned> cells_;         // the same of 8 columns
};

}  // namespace lookout
