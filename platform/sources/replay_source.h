// Frames that were read beforehand, as fast as they are taken or at a rate: the cost of reading is
// no part of a measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/core/source.h"
#include "platform/sources/pacer.h"

namespace lookout {

struct RecordLimits {
  std::size_t frames = 64;
  std::size_t bytes = 128 << 20;  // of pixels; one frame is kept whatever its size
};

// Reads frames of `source`, which is not live, until it ends or a limit is reached. Unreadable
// frames are skipped. Throws the errors of the source, and Error(kNoInput) when there is no frame
// at all.
std::vector<Frame> record_frames(Source& source, const RecordLimits& limits);

std::size_t pixel_bytes(const std::vector<Frame>& frames);

// Live when it has a rate; begins again after the last frame, without an end. The pixels are copied
// into the reader's frame, as a camera's are.
class ReplaySource : public Source {
 public:
  // `frames`: at least one, with pixels and origin. `of`: the source that they were read from.
  // `fps`: frames a second, each captured when it is due; 0: as fast as they are taken.
  ReplaySource(std::vector<Frame> frames, const SourceInfo& of, double fps = 0);

  const SourceInfo& info() const override { return info_; }
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  std::vector<Frame> frames_;
  SourceInfo info_;
  Pacer pacer_;
  std::size_t next_ = 0;
};

}  // namespace lookout
