// The pictures of the fake camera: color bars.
#pragma once

#include <linux/videodev2.h>

#include <cstdint>
#include <vector>

namespace lookout {

using Bytes = std::vector<std::uint8_t>;

// In the format's size, as YUYV (by its color space of BT.601 or BT.709) or as JPEG. Pixels differ
// from the bars by one level at most: `noise` is a seed.
Bytes draw_bars(const v4l2_pix_format& format, bool full_range, unsigned noise);

}  // namespace lookout
