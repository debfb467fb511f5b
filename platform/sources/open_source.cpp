#include "platform/sources/open_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/error.h"
#include "platform/cameras/camera_nodes.h"
#include "platform/cameras/libcamera_loader.h"
#include "platform/cameras/reconnecting_source.h"
#include "platform/cameras/v4l2_source.h"
#include "platform/sources/picture_source.h"
#include "platform/sources/source_uri.h"
#include "platform/sources/test_source.h"
#include "platform/sources/video_loader.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

Error cannot_reach(const std::string& path, int error) {
  if (error == EACCES) {
    return {ErrorKind::kPermission, fmt::format("no permission to read {}", path)};
  }
  if (error == ENOENT || error == ENOTDIR) {
    return {ErrorKind::kNoInput, fmt::format("no such device, file or folder: {}", path)};
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
  return reconnect;
}

std::unique_ptr<Source> open_camera(const std::string& path, const SourceOptions& options) {
  const auto camera = std::make_shared<KnownCamera>(path);
  const auto open = [=] {
    auto source = std::make_unique<V4l2Source>(camera->find(), options);
    camera->remember();
    return source;
  };
  return std::make_unique<ReconnectingSource>(
      open, reconnect_options(fs::path(path).filename().string(), options));
}

std::unique_ptr<Source> open_csi(const std::string& camera, const SourceOptions& options) {
  const auto open = [=] { return open_csi_camera(camera, options); };
  const bool is_number = camera.find_first_not_of("0123456789") == std::string::npos;
  const std::string name = is_number ? "csi" + camera : camera;
  return std::make_unique<ReconnectingSource>(open, reconnect_options(name, options));
}

bool is_picture(const std::string& path) {
  try {
    return has_picture_extension(path) || cv::haveImageReader(path);
  } catch (const cv::Exception&) {
    return false;
  }
}

// Whether `path` names a camera that is away: a missing node, or a link to one.
bool is_absent_camera(const fs::path& path) {
  std::error_code not_a_link;
  const fs::path target = path.parent_path() / fs::read_symlink(path, not_a_link);
  const auto in_dev = [](const fs::path& node) { return node.string().rfind("/dev/", 0) == 0; };
  return in_dev(path) || in_dev(target.lexically_normal());
}

std::unique_ptr<Source> open_path(const std::string& path, const SourceOptions& options) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  const int error = errno;
  if (exists ? S_ISCHR(status.st_mode) : is_absent_camera(path)) {
    return open_camera(path, options);
  }
  if (!exists) throw cannot_reach(path, error);
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is neither a camera, a file nor a folder", path));
  }
  check_readable(path);
  if (S_ISDIR(status.st_mode) || is_picture(path)) return std::make_unique<PictureSource>(path);
  return open_video(path);
}

// Keeps the values that the user has set.
void silence() {
  if (std::getenv("OPENCV_LOG_LEVEL") == nullptr) {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  }
}

void silence_libraries() {
  static const bool silenced = (silence(), true);
  static_cast<void>(silenced);
}

}  // namespace

std::unique_ptr<Source> open_pictures(const std::string& name, std::vector<std::string> paths) {
  silence_libraries();
  return std::make_unique<PictureSource>(name, std::move(paths));
}

std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options) {
  silence_libraries();
  const SourceUri uri = parse_source_uri(text, options);
  if (const auto* test = std::get_if<TestSourceOptions>(&uri)) {
    return std::make_unique<TestSource>(*test);
  }
  if (const auto* v4l2 = std::get_if<V4l2Uri>(&uri)) return open_camera(v4l2->path, options);
  if (const auto* csi = std::get_if<CsiUri>(&uri)) return open_csi(csi->camera, options);
  return open_path(std::get<LocalPath>(uri).path, options);
}

}  // namespace lookout
