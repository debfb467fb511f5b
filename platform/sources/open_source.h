// Turns the user's text into a source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/core/source.h"
#include "platform/cameras/source_options.h"

namespace lookout {

// `text`: see source_schemes(); anything else is the path of a character device (a camera), of a
// picture, of a folder of pictures, of a video or of a FIFO. A file on stdin is read as its path
// would be.
// `options` apply to cameras and, unless the text has its own values, to test://. Files have their
// own size.
//
// A lost camera is opened again; see reconnecting_source.h. A missing path in /dev/, or a link to
// one, is a camera that is away.
//
// The first call also silences OpenCV's messages on stderr.
//
// Throws Error(kUsage) for a text that cannot be understood, Error(kNoInput) when there is no such
// thing or it is of the wrong kind, Error(kPermission) when it may not be opened, and the errors of
// the source's constructor.
std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options);

// Throws the errors of open_source() that show at once: a text that cannot be understood, or a path
// or V4L2 camera that is not there. So a run fails before it loads its model.
void require_source(const std::string& text, const SourceOptions& options);

// The same for what takes longer to find out: a folder without pictures, a picture that no decoder
// reads, a CSI camera or `auto` without a camera. No camera of libcamera may be open.
void require_frames(const std::string& text, const SourceOptions& options);

// Whether the source is a pipe, which can be read only once. Neither opens nor reads it. Throws
// Error(kUsage) as open_source() does.
bool is_stream(const std::string& text);

// Whether the source is a camera or a test pattern with a rate. Opens nothing: false for an address
// on the network, which can be either. Throws the errors of open_source() that show at once.
bool has_own_rate(const std::string& text);

// Opens these pictures in this order, as a folder called `name`. Silences OpenCV, too.
std::unique_ptr<Source> open_pictures(const std::string& name, std::vector<std::string> paths);

}  // namespace lookout
