#include "platform/reporters/snapshot_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <opencv2/imgcodecs.hpp>
#include <system_error>
#include <tuple>
#include <utility>

#include "pipeline/core/error.h"
#include "platform/system/atomic_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPartBytes = 60;  // a file's name takes 255
constexpr std::size_t kDateBytes = 20;     // 20271122T101500.123Z
constexpr std::string_view kEnding = ".jpg";

// ASCII only, whatever the locale.
bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-';
}

std::string plain(std::string_view text) {
  std::string result(text.substr(0, kMaxPartBytes));
  for (char& c : result) {
    if (!is_plain(c)) c = '-';
  }
  // Avoids hidden files, and names that a shell's * would pass as options.
  result.erase(0, std::min(result.find_first_not_of("-."), result.size()));
  return result;
}

// FNV-1a. Must stay the same: names of files have it.
std::uint32_t hash(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// Different for each camera: what plain() loses is told apart by a hash.
std::string prefix_of(const std::string& camera) {
  const std::string readable = plain(camera);
  if (readable == camera && !camera.empty()) return readable + "_";
  return fmt::format("{}~{:08x}_", readable, hash(camera));
}

std::string stamp(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return fmt::format("{:%Y%m%dT%H%M%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / 1000)),
                     ms % 1000);
}

// "new/" has an empty file name.
fs::path without_slash(const fs::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

[[noreturn]] void refuse(const fs::path& folder, const std::error_code& why) {
  throw Error(
      why == std::errc::permission_denied ? ErrorKind::kPermission : ErrorKind::kOutput,
      fmt::format("snapshots cannot be written into {}: {}", folder.string(), why.message()));
}

bool group_reads(const fs::path& folder) {
  return (fs::status(folder).permissions() & fs::perms::group_read) != fs::perms::none;
}

// Throws for the usual mistakes: the path of a file, and a folder above that is missing.
void check_place(const fs::path& folder) {
  const auto refuse_for = [&folder](const std::string& why) {
    throw Error(ErrorKind::kOutput,
                fmt::format("snapshots cannot be written into {}: {}", folder.string(), why));
  };
  const fs::path named = without_slash(folder);
  const fs::path above = fs::absolute(named).parent_path();
  std::error_code ignored;
  const fs::file_status status = fs::status(named, ignored);
  if (fs::exists(status) && !fs::is_directory(status)) refuse_for("it is a file, not a folder");
  const fs::file_type type = fs::status(above, ignored).type();
  if (type == fs::file_type::not_found) {
    refuse_for(above.string() + " does not exist; make it first");
  }
}

void make(const fs::path& folder, const std::string& prefix) {
  check_place(folder);
  try {
    const fs::path above = fs::absolute(without_slash(folder)).parent_path();
    if (fs::create_directory(folder) && group_reads(above)) {
      constexpr fs::perms kRead = fs::perms::group_read | fs::perms::group_exec;
      fs::permissions(folder, kRead, fs::perm_options::add);
    }
    remove_abandoned(folder / prefix);
    const TempFile can_be_made(folder / prefix);
  } catch (const std::system_error& error) {
    refuse(folder, error.code());
  }
}

}  // namespace

SnapshotFolder::SnapshotFolder(fs::path folder, const std::string& camera, std::uint64_t limit)
    : folder_(std::move(folder)), prefix_(prefix_of(camera)), limit_(limit) {
  make(folder_, prefix_);
}

void check_snapshot_folder(const fs::path& folder) {
  check_place(folder);
  const fs::path named = without_slash(folder);
  std::error_code ignored;
  const bool exists = fs::exists(named, ignored);
  const std::error_code why = why_not_writable(exists ? named : named.parent_path());
  if (why) refuse(folder, why);
}

bool SnapshotFolder::is_own(const std::string& name) const {
  // The prefix has no characters that are special in a pattern.
  return fnmatch((prefix_ + "????????T??????.???Z_*.jpg").c_str(), name.c_str(), 0) == 0;
}

std::string SnapshotFolder::date_of(const std::string& name) const {
  return name.substr(prefix_.size(), kDateBytes);
}

// The number behind the label, which has no '_' itself; pictures of the first era have none.
std::uint64_t SnapshotFolder::era_of(const std::string& name) const {
  const std::size_t label = prefix_.size() + kDateBytes + 1;
  const std::size_t before = name.rfind('_');
  if (before < label) return 0;
  std::uint64_t era = 0;
  const char* end = name.data() + name.size() - kEnding.size();
  const auto [rest, error] = std::from_chars(name.data() + before + 1, end, era);
  return rest == end && error == std::errc() ? era : 0;
}

// In the order in which they were written. Removes what programs that were killed left.
std::vector<SnapshotFolder::Picture> SnapshotFolder::pictures() const {
  std::vector<Picture> own;
  std::error_code error;
  fs::directory_iterator entries(folder_, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (is_own(final_name(name))) remove_if_abandoned(entries->path());
    std::error_code gone;  // another program removed it
    if (!is_own(name) || !fs::is_regular_file(entries->symlink_status(gone))) continue;
    const std::uintmax_t size = entries->file_size(gone);
    if (!gone) own.push_back({era_of(name), name, size});
  }
  if (error) throw std::system_error(error);
  std::sort(own.begin(), own.end(), [](const Picture& a, const Picture& b) {
    return std::tie(a.era, a.name) < std::tie(b.era, b.name);
  });
  return own;
}

// The number of a picture that is written now: "_2", or nothing in the first era.
std::string SnapshotFolder::number_after(const std::vector<Picture>& oldest_first,
                                         const std::string& date) const {
  if (oldest_first.empty()) return {};
  const Picture& newest = oldest_first.back();
  const std::uint64_t era = newest.era + (date < date_of(newest.name) ? 1 : 0);
  return era == 0 ? std::string() : fmt::format("_{}", era);
}

void SnapshotFolder::make_room(const std::vector<Picture>& oldest_first,
                               std::uint64_t bytes) const {
  std::uint64_t sum = bytes;
  for (const Picture& picture : oldest_first) sum += picture.bytes;
  for (auto oldest = oldest_first.begin(); sum > limit_ && oldest != oldest_first.end(); ++oldest) {
    fs::remove(folder_ / oldest->name);
    sum -= oldest->bytes;
  }
}

void SnapshotFolder::write_file(const fs::path& path) const {
  TempFile file(path);
  file.write({reinterpret_cast<const char*>(jpeg_.data()), jpeg_.size()});
  if (group_reads(folder_)) file.let_group_read();
  file.keep();
}

fs::path SnapshotFolder::write(const cv::Mat& bgr, std::string_view label,
                               std::chrono::system_clock::time_point time) {
  cv::imencode(".jpg", bgr, jpeg_);
  if (jpeg_.size() > limit_) {
    throw Error(ErrorKind::kOutput, folder_.string() + ": one snapshot is larger than the limit");
  }
  // Several files may be classified in a millisecond.
  if (time <= next_ && next_ - time < std::chrono::seconds(1)) time = next_;
  next_ = time + std::chrono::milliseconds(1);
  const std::string date = stamp(time);
  std::string name = prefix_ + date + "_" + plain(label);
  try {
    if (limit_ != kNoLimit) {
      const std::vector<Picture> oldest_first = pictures();
      name += number_after(oldest_first, date);
      make_room(oldest_first, jpeg_.size());
    }
    fs::path path = folder_ / name.append(kEnding);
    write_file(path);
    return path;
  } catch (const std::system_error& error) {
    // No file name: the same reason has the same sentence, which is logged once.
    throw Error(ErrorKind::kOutput, folder_.string() + ": " + error.code().message());
  }
}

}  // namespace lookout
