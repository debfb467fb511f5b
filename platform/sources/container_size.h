// How long a video file should be, by the sizes that its container announces.
#pragma once

#include <string>

namespace lookout {

// Whether a part of an MP4, QuickTime, Matroska, WebM or AVI file ends beyond the file's end: the
// file was cut. False for other containers, and where the size is not given, as in a live
// recording.
bool is_cut(const std::string& path);

}  // namespace lookout
