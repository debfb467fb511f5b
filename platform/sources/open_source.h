// The one place where the user's text becomes a source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/source.h"
#include "platform/cameras/source_options.h"

namespace lookout {

// `text` is one of
//   test://PATTERN?size=640x480&fps=30&noise=0&hold=30&frames=0   (see test_source.h)
//   v4l2:///dev/video0, or the path of a character device such as /dev/v4l/by-id/...
//   csi://0, csi://NAME: a camera of libcamera's, by its number, model or id
//   file:///..., or the path of a picture, of a folder of pictures or of a video
// `options` apply to cameras, and to test:// where the text says nothing; files have their own
// size.
//
// Cameras are opened again when they are lost; see reconnecting_source.h. A path in /dev/, or a
// link into it, that leads nowhere is that of a camera which is away.
//
// The first call also silences the libraries' own messages on stderr: it changes the environment,
// so it has to come before other threads read that.
//
// Throws Error(kUsage) for a text that cannot be understood, Error(kNoInput) when there is no such
// thing or it is of the wrong kind, Error(kPermission) when it may not be opened, and what the
// source's constructor throws.
std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options);

// These pictures, in this order, as if they lay in a folder of that name; silences as well.
std::unique_ptr<Source> open_pictures(const std::string& name, std::vector<std::string> paths);

}  // namespace lookout
