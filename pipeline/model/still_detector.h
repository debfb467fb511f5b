// Does a frame show what the last classified one showed?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/core/luma_blocks.h"

namespace lookout {

// Compares blocks of luma with those of the last classified frame, so that a slow change adds up
// until it is seen. A frame is still when no block changed much and few a little, and no row of
// blocks as a whole, beyond what the noise of the camera and the flicker of lamps explain:
//
// - Noise is the median of the blocks' differences from one frame to the next: what moves in less
//   than half of the picture does not count. Of the last second's averages the smallest holds, up
//   to a bound, so that a scene that always moves does not pass for noise.
// - Flicker is how far the brightness of a row swings to and fro within a few frames. (A camera
//   with a rolling shutter shows it as bands.) Again the smallest of the last second's, up to a
//   bound. What rises or falls once is no flicker.
//
// By one thread at a time, in the order of the frames. Allocates only when the grid changes.
class StillDetector {
 public:
  // Whether the frame may have the last classified frame's result. Frames that are not asked about
  // do no harm. Blocks of another grid than those before, or none at all, are never still.
  bool is_still(const LumaBlocks& blocks);

  // The same, but neither noise nor flicker is measured: for a look ahead at a frame.
  bool looks_still(const LumaBlocks& blocks);

  // This frame's result is the last now. The frame may be older than the last one asked about.
  void classified(const LumaBlocks& blocks);

  // Nothing is known of what comes: the camera was away, or its settings changed.
  void forget();

  // The standard deviation of a block's difference from one frame to the next, in levels of 0..255;
  // 0 before the second frame.
  double noise() const { return noise_ / LumaBlocks::kUnit; }

 private:
  // Numbers are in LumaBlocks' units from here on.
  struct Picture {
    LumaBlocks blocks;
    std::vector<float> row_means;

    void set(const LumaBlocks& of);
    bool has_grid_of(const LumaBlocks& other) const;
  };

  static constexpr std::size_t kWindows =
      4;                             // of kWindow frames, of which the smallest value holds
  static constexpr int kWindow = 8;  // frames: 4 windows are a second at 30 fps

  // Of the mean of a row.
  struct Swing {
    float low = 0;
    float high = 0;
    float way = 0;  // how far it went, up and down
    std::array<float, kWindows> windows{};
    float holds = 0;
  };

  void measure_noise(const Picture& now);
  void measure_flicker(const Picture& now);
  void end_window();
  bool is_like_reference(const Picture& now) const;

  Picture now_;
  Picture ahead_;
  Picture before_;
  Picture reference_;
  float noise_ = 0;
  float noise_sum_ = 0;
  std::array<float, kWindows> noises_{};  // averages of windows
  std::vector<Swing> swings_;             // of each row
  int frames_ = 0;                        // in the current window
  std::size_t windows_ = 0;               // that are complete
  std::vector<float> differences_;        // of some blocks
};

}  // namespace lookout
