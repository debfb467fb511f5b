#include "pipeline/model/luma_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/core/hal/intrin.hpp>
#include <string>
#include <utility>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

constexpr int kCell = 8;          // the side of a JPEG's blocks, pixels
constexpr int kBlocksASide = 30;  // of a square region, about
// A column of 7/8 of so many lines fits 16 bits.
constexpr int kMaxSide = 256;
constexpr int kLines = 4;  // that are read of each block of a whole picture
// Fixed point: a mean is a sum times a number with so many bits of fraction.
constexpr unsigned kFraction = 32;
constexpr std::uint64_t kHalf = std::uint64_t{1} << (kFraction - 1);

// How luma is read; kStep: bytes from one pixel to the next.
struct LumaByte {
  static constexpr int kStep = 1;
  static unsigned of(const std::uint8_t* pixel) { return *pixel; }
};

struct LumaOfPair {
  static constexpr int kStep = 2;
  static unsigned of(const std::uint8_t* pixel) { return *pixel; }
};

// Of B, G, R by BT.601, as JFIF has it.
struct LumaOfBgr {
  static constexpr int kStep = 3;
  static unsigned of(const std::uint8_t* pixel) {
    return (29U * pixel[0] + 150U * pixel[1] + 77U * pixel[2] + 128U) >> 8U;
  }
};

// Adds the luma of kCount lines, which lie `step` bytes apart. Vectorised by the compiler.
template <typename Luma, int kCount>
void add_lines(const std::uint8_t* line, std::size_t step, int width,
               std::uint16_t* __restrict columns) {
  for (int x = 0; x < width; ++x) {
    unsigned sum = columns[x];
    for (int i = 0; i < kCount; ++i) sum += Luma::of(line + step * i + x * Luma::kStep);
    columns[x] = static_cast<std::uint16_t>(sum);
  }
}

// Adds up columns to cells, which are kCell columns wide in a whole picture.
void add_columns(const std::uint16_t* columns, std::vector<unsigned>& cells, int width) {
  if (width == kCell) {
    for (unsigned& cell : cells) {
      cell = cv::v_reduce_sum(cv::v_load(columns));
      columns += kCell;
    }
    return;
  }
  for (unsigned& cell : cells) {
    cell = 0;
    for (int x = 0; x < width; ++x) cell += columns[x];
    columns += width;
  }
}

// Writes the means of blocks that are `side` cells wide. kSide: the same, where the compiler is to
// know it, or 0.
template <int kSide>
void add_cells(const unsigned* cells, const int* lefts, std::size_t blocks, int side,
               std::uint64_t scale, std::uint16_t* means) {
  const int count = kSide > 0 ? kSide : side;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::uint64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += cells[lefts[block] + i];
    means[block] = static_cast<std::uint16_t>((sum * scale + kHalf) >> kFraction);
  }
}

void add_cells(const unsigned* cells, const int* lefts, std::size_t blocks, int side,
               std::uint64_t scale, std::uint16_t* means) {
  switch (side) {
    case 1:
      return add_cells<1>(cells, lefts, blocks, side, scale, means);
    case 2:
      return add_cells<2>(cells, lefts, blocks, side, scale, means);
    case 3:
      return add_cells<3>(cells, lefts, blocks, side, scale, means);
    case 4:
      return add_cells<4>(cells, lefts, blocks, side, scale, means);
    default:
      return add_cells<0>(cells, lefts, blocks, side, scale, means);
  }
}

int round_down(int pixels) { return pixels / kCell * kCell; }

// Where blocks start that cover `begin`..`end`. The last may overlap the one before.
std::vector<int> starts_of(int begin, int end, int side) {
  std::vector<int> starts;
  for (int start = begin; start < end; start += side) starts.push_back(std::min(start, end - side));
  return starts;
}

int block_side(const cv::Size& region) {
  constexpr double kRoundUp = 0.25;  // rather too many blocks than too few
  const double side = std::sqrt(static_cast<double>(region.area())) / kBlocksASide;
  const int cells = static_cast<int>(side / kCell + kRoundUp);
  const int most = round_down(std::min({region.width, region.height, kMaxSide}));
  return std::clamp(cells * kCell, std::min(kCell, most), most);
}

// The eighths of `frame` that `picture` is; 0 if it is none.
int eighths_of(const cv::Size& picture, const cv::Size& frame) {
  const auto scaled = [](int side, int eighths) { return (side * eighths + kCell - 1) / kCell; };
  for (int eighths = kCell; eighths > 0; --eighths) {
    if (picture == cv::Size(scaled(frame.width, eighths), scaled(frame.height, eighths))) {
      return eighths;
    }
  }
  return 0;
}

}  // namespace

LumaGrid::LumaGrid(const View& view, const InputSpec& spec, std::vector<cv::Rect2d> ignored)
    : view_(view), spec_(spec), ignored_(std::move(ignored)) {}

void LumaGrid::plan(const cv::Size& frame) {
  planned_ = frame;
  rows_.clear();
  lefts_.clear();
  const cv::Rect region = classified_region(spec_, view_, frame);
  const cv::Point first(round_down(region.x), round_down(region.y));
  const cv::Point last(std::min(round_down(region.br().x + kCell - 1), round_down(frame.width)),
                       std::min(round_down(region.br().y + kCell - 1), round_down(frame.height)));
  const cv::Rect area(first, last);
  if (last.x - first.x < kCell || last.y - first.y < kCell) return;

  std::vector<cv::Rect> ignored;
  InputSpec whole = spec_;
  whole.resize = ResizeMode::kStretch;
  for (const cv::Rect2d& part : ignored_) {
    View view = view_;
    view.roi = part;
    ignored.push_back(classified_region(whole, view, frame));
  }
  side_ = block_side(area.size());
  left_ = area.x;
  width_ = area.width;
  columns_.resize(static_cast<std::size_t>(width_));
  cells_.resize(columns_.size() / kCell);
  for (const int top : starts_of(first.y, last.y, side_)) {
    Row row{top, lefts_.size(), 0};
    for (const int left : starts_of(first.x, last.x, side_)) {
      const cv::Rect block(left, top, side_, side_);
      const auto covers = [&](const cv::Rect& part) { return !(part & block).empty(); };
      if (std::none_of(ignored.begin(), ignored.end(), covers))
        lefts_.push_back((left - left_) / kCell);
    }
    row.end = lefts_.size();
    if (row.end > row.begin) rows_.push_back(row);
  }
}

// `pixels`: the picture's first.
template <typename Luma>
void LumaGrid::measure_as(const std::uint8_t* pixels, std::size_t stride, int eighths,
                          LumaBlocks& blocks) {
  blocks.means.resize(lefts_.size());
  blocks.row_ends.resize(rows_.size());
  if (rows_.empty()) return;
  const bool whole = eighths == kCell;
  const int side = side_ * eighths / kCell;
  const int width = width_ * eighths / kCell;
  const int lines = whole ? kLines : side;
  const std::size_t step = whole ? stride * static_cast<std::size_t>(side / kLines) : stride;
  const auto pixels_read = static_cast<unsigned>(side * lines);
  const std::uint64_t scale = (std::uint64_t{LumaBlocks::kUnit} << kFraction) / pixels_read;
  std::uint16_t* columns = columns_.data();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const int top = row.top * eighths / kCell + (whole ? side / kLines / 2 : 0);
    const std::uint8_t* line = pixels + static_cast<std::size_t>(top) * stride +
                               static_cast<std::size_t>(left_ * eighths / kCell) * Luma::kStep;
    std::fill_n(columns, width, std::uint16_t{0});
    int read = 0;
    for (; read + kLines <= lines; read += kLines, line += step * kLines) {
      add_lines<Luma, kLines>(line, step, width, columns);
    }
    for (; read < lines; ++read, line += step) add_lines<Luma, 1>(line, step, width, columns);
    add_columns(columns, cells_, eighths);
    add_cells(cells_.data(), lefts_.data() + row.begin, row.end - row.begin, side_ / kCell, scale,
              blocks.means.data() + row.begin);
    blocks.row_ends[i] = row.end;
  }
}

void LumaGrid::measure(const RawPicture& picture, LumaBlocks& blocks) {
  const cv::Size frame(picture.width, picture.height);
  if (frame != planned_) plan(frame);
  const SampleLine samples = sample_line(picture, 0);
  if (samples.luma_step == LumaByte::kStep) {
    measure_as<LumaByte>(samples.luma, picture.stride, kCell, blocks);
  } else {
    measure_as<LumaOfPair>(samples.luma, picture.stride, kCell, blocks);
  }
}

void LumaGrid::measure(const cv::Mat& picture, const cv::Size& frame, LumaBlocks& blocks) {
  const int eighths = eighths_of(picture.size(), frame);
  if (eighths == 0 || (picture.type() != CV_8UC3 && picture.type() != CV_8UC1)) {
    throw Error(ErrorKind::kInternal, "blocks of luma were to be measured in a picture of " +
                                          std::to_string(picture.cols) + "x" +
                                          std::to_string(picture.rows) + ", " +
                                          cv::typeToString(picture.type()));
  }
  if (frame != planned_) plan(frame);
  if (picture.type() == CV_8UC3) {
    measure_as<LumaOfBgr>(picture.data, picture.step, eighths, blocks);
  } else {
    measure_as<LumaByte>(picture.data, picture.step, eighths, blocks);
  }
}

}  // namespace lookout
