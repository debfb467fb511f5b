#include "platform/sources/open_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/cameras/camera_nodes.h"
#include "platform/cameras/libcamera_loader.h"
#include "platform/cameras/libcamera_name.h"
#include "platform/cameras/reconnecting_source.h"
#include "platform/cameras/v4l2_device.h"
#include "platform/cameras/v4l2_source.h"
#include "platform/pictures/motion_jpeg.h"
#include "platform/pictures/picture_format.h"
#include "platform/sources/auto_camera.h"
#include "platform/sources/network_source.h"
#include "platform/sources/network_url.h"
#include "platform/sources/no_source.h"
#include "platform/sources/picture_folder.h"
#include "platform/sources/picture_source.h"
#include "platform/sources/source_uri.h"
#include "platform/sources/stream_source.h"
#include "platform/sources/test_source.h"
#include "platform/sources/video_module.h"
#include "platform/system/file_bytes.h"
#include "platform/system/input_file.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStdinPath = "/dev/stdin";

// For `0` and `video0`, as other programs call cameras.
std::string meant_camera(const std::string& path) {
  constexpr std::string_view kName = "video";
  const bool named = path.rfind(kName, 0) == 0;
  const std::string number = named ? path.substr(kName.size()) : path;
  if (!parse_number<unsigned>(number)) return "";
  return fmt::format("; did you mean /dev/video{}?", number);
}

Error cannot_reach(const std::string& path, int error) {
  if (error == EACCES) {
    return {ErrorKind::kPermission, fmt::format("no permission to read {}", path)};
  }
  if (error == ENOENT || error == ENOTDIR) {
    return {ErrorKind::kNoInput,
            fmt::format("no such device, file or folder: {}{}", path, meant_camera(path))};
  }
  return cannot_read(path, {error, std::generic_category()});
}

void check_readable(const std::string& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) throw cannot_reach(path, errno);
}

ReconnectOptions reconnect_options(const std::string& camera, const SourceOptions& options) {
  ReconnectOptions reconnect;
  reconnect.name = camera;
  reconnect.wait_for_first = options.wait;
  reconnect.give_up_after = options.give_up_after;
  if (options.frame_hint != nullptr) {
    reconnect.is_frozen = [hint = options.frame_hint] { return hint->take_frozen(); };
  }
  reconnect.wake = options.wake;
  return reconnect;
}

// Options of [camera] that do something for some sources alone.
enum OptionUse : unsigned {
  kMode = 1,  // width, height, framerate
  kLive = 2,  // live, or the source is live anyway
  kRecursive = 4,
  kNetwork = 8,   // credentials, rtsp-transport
  kControls = 16  // flicker, shutter, ...
};

// Warns of options that do nothing for a source for which those in `used` do something.
void warn_of_unused(const std::string& text, const SourceOptions& options, unsigned used) {
  if ((used & kMode) == 0 && (options.width || options.height || options.framerate)) {
    log_warn(
        "{}: camera.width, camera.height and camera.framerate are for cameras and test patterns",
        text);
  }
  if ((used & kLive) == 0 && options.live) {
    log_warn("{}: camera.live is for streams (- or a FIFO); every frame is classified", text);
  }
  if ((used & kRecursive) == 0 && options.recursive) {
    log_warn("{}: camera.recursive is for folders", text);
  }
  if ((used & kNetwork) == 0 && (!options.credentials.empty() || options.rtsp_udp)) {
    log_warn("{}: camera.credentials and camera.rtsp-transport are for cameras on the network",
             text);
  }
  const std::string control = first_key(options.controls);
  if ((used & kControls) == 0 && !control.empty()) {
    log_warn("{}: {} is for CSI cameras", text, control);
  }
}

using Open = ReconnectingSource::Open;

Open opening_camera(const std::string& path, const SourceOptions& options) {
  warn_of_unused(path, options, kMode | kLive | kControls);
  if (const std::string key = first_key(options.controls); !key.empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} is for CSI cameras (csi://0); v4l2-ctl sets the controls of {}",
                            key, path));
  }
  const auto camera = std::make_shared<KnownCamera>(path);
  return [=] {
    auto source = std::make_unique<V4l2Source>(camera->find(), options);
    camera->remember();
    return source;
  };
}

Open opening_csi(const std::string& camera, const SourceOptions& options) {
  warn_of_unused("csi://" + camera, options, kMode | kLive | kControls);
  return [=] { return open_csi_camera(camera, options); };
}

std::unique_ptr<Source> open_camera(const std::string& path, const SourceOptions& options) {
  return std::make_unique<ReconnectingSource>(
      opening_camera(path, options),
      reconnect_options(fs::path(path).filename().string(), options));
}

std::unique_ptr<Source> open_csi(const std::string& camera, const SourceOptions& options) {
  const bool is_number = camera.find_first_not_of("0123456789") == std::string::npos;
  return std::make_unique<ReconnectingSource>(
      opening_csi(camera, options),
      reconnect_options(is_number ? "csi" + camera : camera, options));
}

// A camera on the network may pause for longer than one on a cable.
constexpr std::chrono::seconds kNetworkStall{5};
constexpr std::chrono::seconds kNetworkMaxDelay{30};

std::unique_ptr<Source> open_network(const std::string& url, const SourceOptions& options) {
  warn_of_unused(shown_url(url), options, kLive | kNetwork);
  NetworkOptions network;
  network.url = url;
  network.credentials = options.credentials;
  network.udp = options.rtsp_udp;
  network.max_pixels = options.max_pixels;
  const auto open = [network] { return std::make_unique<NetworkSource>(network); };

  ReconnectOptions reconnect = reconnect_options(host_of(url), options);
  reconnect.min_stall = kNetworkStall;
  reconnect.max_delay = kNetworkMaxDelay;
  if (options.wait) return std::make_unique<ReconnectingSource>(open, reconnect);

  auto first = open();
  first->wait_until_connected();
  if (!first->info().live) return first;
  const auto connected = std::make_shared<std::unique_ptr<NetworkSource>>(std::move(first));
  const auto open_next = [connected, open]() -> std::unique_ptr<Source> {
    if (*connected) return std::move(*connected);
    return open();
  };
  return std::make_unique<ReconnectingSource>(open_next, reconnect);
}

// Chooses a camera at each attempt until one was opened, and stays with that one.
std::unique_ptr<Source> open_auto(const SourceOptions& options) {
  std::string chosen;  // the choice's text
  Open open;           // of the choice
  bool was_open = false;
  const auto open_chosen = [=]() mutable {
    if (!was_open) {
      const CameraChoice choice = choose_camera(find_cameras());
      if (choice.text != chosen) {
        if (!choice.warning.empty()) log_warn("{}", choice.warning);
        log_info("auto: {}", choice.text);
        const auto uri = parse_source_uri(choice.source, {});
        const auto* csi = std::get_if<CsiUri>(&uri);
        open = csi != nullptr ? opening_csi(csi->camera, options)
                              : opening_camera(choice.source, options);
        chosen = choice.text;
      }
    }
    auto source = open();
    was_open = true;
    return source;
  };
  return std::make_unique<ReconnectingSource>(open_chosen, reconnect_options("auto", options));
}

std::string start_of(const std::string& path) { return FileBytes(path).text(0, kFormatBytes); }

// Looks at as much of a JPEG as tells whether another one follows.
bool is_motion_jpeg_file(const std::string& path) {
  const std::size_t size = std::min<std::uint64_t>(FileBytes(path).size(), kMotionJpegBytes);
  std::string start(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return is_motion_jpeg(start);
}

bool is_picture(const std::string& path) {
  const PictureFormat format = picture_format(start_of(path));
  if (format == PictureFormat::kJpeg) return !is_motion_jpeg_file(path);
  return has_picture_extension(path) || format != PictureFormat::kOther;
}

// Whether `path` names a camera that is away: a missing node, or a link to one.
bool is_absent_camera(const fs::path& path) {
  std::error_code not_a_link;
  const fs::path target = path.parent_path() / fs::read_symlink(path, not_a_link);
  const auto in_dev = [](const fs::path& node) { return node.string().rfind("/dev/", 0) == 0; };
  return in_dev(path) || in_dev(target.lexically_normal());
}

std::unique_ptr<Source> open_stream(const std::string& path, const SourceOptions& options) {
  warn_of_unused(path.empty() ? "-" : path, options, kLive);
  return std::make_unique<StreamSource>(StreamOptions{path, options.live, options.max_pixels});
}

// The type and permissions of a file; empty: a camera that is away. Throws when nothing is there.
std::optional<mode_t> mode_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode;
  const int error = errno;
  if (is_absent_camera(path)) return std::nullopt;
  throw cannot_reach(path, error);
}

std::unique_ptr<Source> open_path(const std::string& path, const SourceOptions& options) {
  const std::optional<mode_t> mode = mode_of(path);
  if (!mode || S_ISCHR(*mode)) return open_camera(path, options);
  if (S_ISFIFO(*mode)) {
    check_readable(path);
    return open_stream(path, options);
  }
  if (!S_ISDIR(*mode) && !S_ISREG(*mode)) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is neither a camera, a file, a folder nor a FIFO", path));
  }
  check_readable(path);
  const bool is_folder = S_ISDIR(*mode);
  warn_of_unused(path, options, is_folder ? kRecursive : OptionUse{});
  if (is_folder || is_picture(path)) {
    return std::make_unique<PictureSource>(path,
                                           PictureOptions{options.recursive, options.max_pixels});
  }
  if (start_of(path).empty()) throw Error(ErrorKind::kNoInput, path + " is empty");
  // Before FFmpeg takes a part of it for a video.
  if (const auto format = unreadable_format(start_of(path))) {
    throw Error(ErrorKind::kNoInput, fmt::format("{} {}", path, *format));
  }
  return open_video(path, options.max_pixels);
}

// Opens the node of a camera that is not waited for, for a moment, if it does not seem to be there.
void require_camera(const std::string& path, const SourceOptions& options) {
  std::error_code unknown;
  if (!options.wait && !fs::exists(path, unknown)) V4l2Device{path};
}

// Throws when there are no pictures in a folder, or when no decoder reads a picture.
void check_pictures(const std::string& path, const SourceOptions& options) {
  const std::optional<mode_t> mode = mode_of(path);
  if (!mode || (!S_ISDIR(*mode) && !S_ISREG(*mode))) return;
  check_readable(path);
  if (S_ISDIR(*mode)) {
    require_pictures(path, options.recursive);
  } else if (has_picture_extension(path) &&
             picture_format(start_of(path)) == PictureFormat::kOther &&
             !cv::haveImageReader(path)) {
    const bool is_empty = start_of(path).empty();
    throw Error(ErrorKind::kNoInput,
                path + (is_empty ? " is empty"
                                 : " cannot be read as a picture: it is none of JPEG, PNG, WebP, "
                                   "TIFF and BMP"));
  }
}

std::unique_ptr<Source> open_stdin(const SourceOptions& options) {
  if (::isatty(STDIN_FILENO) != 0) {
    throw Error(ErrorKind::kNoInput,
                "stdin is a terminal; pipe a stream into it: "
                "ffmpeg -i VIDEO -f matroska - | lookout -");
  }
  if (is_stream("-")) return open_stream("", options);
  return open_path(kStdinPath, options);
}

void silence_libraries() {
  static const bool silenced = [] {
    if (std::getenv("OPENCV_LOG_LEVEL") == nullptr) {  // else the user has set it
      cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    }
    return true;
  }();
  static_cast<void>(silenced);
}

// What is done with each type of SourceUri.
template <typename... Cases>
struct ForEach : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
ForEach(Cases...) -> ForEach<Cases...>;

}  // namespace

bool is_stream(const std::string& text) {
  const SourceUri uri = parse_source_uri(text, {});
  struct stat status {};
  if (std::holds_alternative<Stdin>(uri)) {
    // A file or folder is opened again: it can be read from anywhere.
    return ::fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
  }
  const auto* local = std::get_if<LocalPath>(&uri);
  return local != nullptr && ::stat(local->path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

bool has_own_rate(const std::string& text) {
  const SourceUri uri = parse_source_uri(text, {});
  if (const auto* test = std::get_if<TestSourceOptions>(&uri)) return test->fps > 0;
  if (const auto* local = std::get_if<LocalPath>(&uri)) {
    const std::optional<mode_t> mode = mode_of(local->path);
    return !mode || S_ISCHR(*mode);
  }
  return std::holds_alternative<V4l2Uri>(uri) || std::holds_alternative<CsiUri>(uri) ||
         std::holds_alternative<AutoCamera>(uri);
}

std::unique_ptr<Source> open_pictures(const std::string& name, std::vector<std::string> paths) {
  silence_libraries();
  return std::make_unique<PictureSource>(name, std::move(paths));
}

void require_source(const std::string& text, const SourceOptions& options) {
  std::visit(ForEach{[&](const V4l2Uri& camera) { require_camera(camera.path, options); },
                     [&](const LocalPath& local) {
                       if (!mode_of(local.path)) require_camera(local.path, options);
                     },
                     [](const auto& /*other*/) {}},
             parse_source_uri(text, options));
}

void require_frames(const std::string& text, const SourceOptions& options) {
  std::visit(ForEach{[&](const LocalPath& local) { check_pictures(local.path, options); },
                     [&](const CsiUri& csi) {
                       // The source says best why there is none.
                       if (options.wait || find_camera(list_csi_cameras(), csi.camera)) return;
                       open_csi_camera(csi.camera, options);
                     },
                     [&](const AutoCamera& /*camera*/) {
                       if (!options.wait) choose_camera(find_cameras());
                     },
                     [](const auto& /*other*/) {}},
             parse_source_uri(text, options));
}

// A type of SourceUri that is missing here does not compile.
std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options) {
  using Opened = std::unique_ptr<Source>;
  silence_libraries();
  return std::visit(
      ForEach{[&](const TestSourceOptions& test) -> Opened {
                warn_of_unused(text, options, kMode | kLive);
                return std::make_unique<TestSource>(test);
              },
              [&](const V4l2Uri& camera) { return open_camera(camera.path, options); },
              [&](const CsiUri& csi) { return open_csi(csi.camera, options); },
              [&](const NetworkUri& network) { return open_network(network.url, options); },
              [&](const LocalPath& local) { return open_path(local.path, options); },
              [&](const Stdin& /*stream*/) { return open_stdin(options); },
              [&](const AutoCamera& /*camera*/) { return open_auto(options); },
              [&](const NoFrames& /*none*/) -> Opened {
                return std::make_unique<NoSource>(options.wake);
              }},
      parse_source_uri(text, options));
}

}  // namespace lookout
