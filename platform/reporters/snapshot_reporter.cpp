#include "platform/reporters/snapshot_reporter.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <exception>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/reporters/log_once.h"
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

// Different for each name: what plain() loses is told apart by a hash.
std::string file_name_of(const std::string& name) {
  const std::string readable = plain(name);
  if (readable == name && !name.empty()) return readable;
  return fmt::format("{}~{:08x}", readable, hash(name));
}

// Of a watch; empty for the only one.
std::string file_name_of_watch(const std::string& watch) {
  return watch.empty() ? watch : file_name_of(watch);
}

// The beginning of the names of a watch's pictures.
std::string prefix_of(const std::string& camera, const std::string& watch) {
  return camera + (watch.empty() ? "" : ".") + watch + "_";
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

[[noreturn]] void refuse(const fs::path& folder, const std::string& why,
                         ErrorKind kind = ErrorKind::kOutput) {
  throw Error(kind, fmt::format("snapshots cannot be written into {}: {}", folder.string(), why));
}

[[noreturn]] void refuse(const fs::path& folder, const std::error_code& why) {
  refuse(folder, why.message(),
         why == std::errc::permission_denied ? ErrorKind::kPermission : ErrorKind::kOutput);
}

bool group_reads(const fs::path& folder) {
  return (fs::status(folder).permissions() & fs::perms::group_read) != fs::perms::none;
}

// Throws for the usual mistakes: the path of a file, and a folder above that is missing.
void check_place(const fs::path& folder) {
  const fs::path named = without_slash(folder);
  const fs::path above = fs::absolute(named).parent_path();
  std::error_code ignored;
  const fs::file_status status = fs::status(named, ignored);
  if (fs::exists(status) && !fs::is_directory(status)) {
    refuse(folder, "it is a file, not a folder");
  }
  const fs::file_type type = fs::status(above, ignored).type();
  if (type == fs::file_type::not_found) {
    refuse(folder, above.string() + " does not exist; make it first");
  }
}

// No mistake of the user's: a card that fails, that was therefore mounted read-only, or that is
// full.
bool is_of_the_disk(const std::error_code& why) {
  constexpr std::array kErrors{EROFS, EIO, EUCLEAN, ENOSPC, EDQUOT};
  return std::find(kErrors.begin(), kErrors.end(), why.value()) != kErrors.end();
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
    if (!is_of_the_disk(error.code())) refuse(folder, error.code());
    log_warn("snapshots cannot be written into {} now: {}", folder.string(),
             error.code().message());
  }
}

// The number behind the label, which has no '_' itself; pictures of the first era have none.
std::uint64_t era_of(const std::string& name, std::size_t prefix) {
  const std::size_t label = prefix + kDateBytes + 1;
  const std::size_t before = name.rfind('_');
  if (before < label) return 0;
  std::uint64_t era = 0;
  const char* end = name.data() + name.size() - kEnding.size();
  const auto [rest, error] = std::from_chars(name.data() + before + 1, end, era);
  return rest == end && error == std::errc() ? era : 0;
}

// That of a picture of `date` behind the newest one: "_2", or nothing in the first era.
std::string number_after(std::uint64_t newest_era, const std::string& newest_date,
                         const std::string& date) {
  const std::uint64_t era = newest_era + (date < newest_date ? 1 : 0);
  return era == 0 ? std::string() : fmt::format("_{}", era);
}

constexpr std::chrono::seconds kPatience{2};        // at the end
constexpr std::chrono::seconds kMaxWriterWait{10};  // with SnapshotTrigger::waits

}  // namespace

void SnapshotWatches::set(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  files.reserve(names.size());
  for (const std::string& name : names) files.push_back(file_name_of_watch(name));
  if (files.empty()) files.emplace_back();
  const MutexLock lock(mutex_);
  files_ = std::move(files);
}

bool SnapshotWatches::has(const std::string& watch) const {
  const MutexLock lock(mutex_);
  return std::find(files_.begin(), files_.end(), watch) != files_.end();
}

SnapshotFolder::SnapshotFolder(fs::path folder, const std::string& camera, std::uint64_t limit,
                               SnapshotWatch watch)
    : folder_(std::move(folder)),
      camera_(file_name_of(camera)),
      watch_(file_name_of_watch(watch.name)),
      all_(std::move(watch.all)),
      limit_(limit) {
  if (!all_) {
    all_ = std::make_shared<SnapshotWatches>();
    all_->set({watch.name});
  }
  make(folder_, prefix_of(camera_, watch_));
}

void check_snapshot_folder(const fs::path& folder) {
  check_place(folder);
  const fs::path named = without_slash(folder);
  std::error_code ignored;
  const bool exists = fs::exists(named, ignored);
  const std::error_code why = why_not_writable(exists ? named : named.parent_path());
  if (why && !is_of_the_disk(why)) refuse(folder, why);
}

// The watch of one of the camera's pictures; nothing for other files. The names have no '_'
// themselves, and that of a watch no '.'.
std::optional<std::string> SnapshotFolder::watch_of(const std::string& name) const {
  if (name.compare(0, camera_.size(), camera_) != 0) return std::nullopt;
  const std::size_t end = name.find('_');
  if (end == std::string::npos) return std::nullopt;
  std::string watch = name.substr(camera_.size(), end - camera_.size());
  if (!watch.empty()) {
    if (watch.front() != '.' || watch.size() == 1 || watch.rfind('.') > 0) return std::nullopt;
    watch.erase(0, 1);
  }
  const std::string rest = name.substr(end);
  if (fnmatch("_????????T??????.???Z_*.jpg", rest.c_str(), 0) != 0) return std::nullopt;
  return watch;
}

// Removes what programs that were killed left.
SnapshotFolder::AllPictures SnapshotFolder::pictures() const {
  AllPictures all;
  std::error_code error;
  fs::directory_iterator entries(folder_, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (watch_of(final_name(name))) remove_if_abandoned(entries->path());
    std::error_code gone;  // another program removed it
    const auto watch = watch_of(name);
    if (!watch || !fs::is_regular_file(entries->symlink_status(gone))) continue;
    const std::uintmax_t size = entries->file_size(gone);
    if (gone) continue;
    const std::size_t prefix = prefix_of(camera_, *watch).size();
    Pictures& of_watch = all[*watch];
    of_watch.oldest_first.push_back(
        {era_of(name, prefix), name.substr(prefix, kDateBytes), name, size});
    of_watch.bytes += size;
  }
  if (error) throw std::system_error(error);
  for (auto& [watch, own] : all) {
    std::sort(own.oldest_first.begin(), own.oldest_first.end(),
              [](const Picture& a, const Picture& b) {
                return std::tie(a.era, a.name) < std::tie(b.era, b.name);
              });
  }
  return all;
}

// Whose oldest picture makes room for one of `bytes`. The end: there is none any more.
SnapshotFolder::AllPictures::iterator SnapshotFolder::first_to_go(AllPictures& all,
                                                                  std::uint64_t bytes) const {
  // By whether it is needed, then how much it takes; of those that there are no more, how old it
  // is.
  const auto comes_first = [&](const AllPictures::value_type& one,
                               const AllPictures::value_type& other) {
    const bool has_one = all_->has(one.first);
    if (has_one != all_->has(other.first)) return !has_one;
    if (!has_one) {
      const Picture& a = one.second.oldest_first[one.second.removed];
      const Picture& b = other.second.oldest_first[other.second.removed];
      return std::tie(a.date, a.era) < std::tie(b.date, b.era);
    }
    const std::uint64_t mine = one.first == watch_ ? bytes : 0;
    const std::uint64_t others = other.first == watch_ ? bytes : 0;
    return one.second.bytes + mine > other.second.bytes + others;
  };
  auto first = all.end();
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (each->second.removed == each->second.oldest_first.size()) continue;
    if (first == all.end() || comes_first(*each, *first)) first = each;
  }
  return first;
}

// For a picture of `bytes`.
void SnapshotFolder::make_room(AllPictures& all, std::uint64_t bytes) const {
  std::uint64_t sum = bytes;
  for (const auto& [watch, own] : all) sum += own.bytes;
  while (sum > limit_) {
    const auto first = first_to_go(all, bytes);
    if (first == all.end()) return;
    Pictures& own = first->second;
    const Picture& oldest = own.oldest_first[own.removed++];
    fs::remove(folder_ / oldest.name);
    own.bytes -= oldest.bytes;
    sum -= oldest.bytes;
  }
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
  std::string name = prefix_of(camera_, watch_) + date + "_" + plain(label);
  const MutexLock lock(all_->writing_);
  try {
    if (limit_ != kNoLimit) {
      AllPictures all = pictures();
      const std::vector<Picture>& own = all[watch_].oldest_first;
      if (!own.empty()) name += number_after(own.back().era, own.back().date, date);
      make_room(all, jpeg_.size());
    }
    fs::path path = folder_ / name.append(kEnding);
    TempFile file(path);
    file.write({reinterpret_cast<const char*>(jpeg_.data()), jpeg_.size()});
    if (group_reads(folder_)) file.let_group_read();
    file.keep();
    return path;
  } catch (const std::system_error& error) {
    // No file name: the same reason has the same sentence, which is logged once.
    throw Error(ErrorKind::kOutput, folder_.string() + ": " + error.code().message());
  }
}

class SnapshotReporter::Writer {
 public:
  enum class Turn { kTaken, kCoolDown, kBusy };

  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t failed = 0;
  };

  explicit Writer(Write write) : write_(std::move(write)) {}

  // Whether a picture of that time may be handed over, which is expected then. Waits until `end`
  // for the picture before.
  Turn begin(Clock::time_point captured, std::chrono::milliseconds cooldown,
             Clock::time_point end) {
    const auto is_cooling = [&](const std::optional<Clock::time_point>& before) {
      return before && captured - *before < cooldown;
    };
    const MutexLock lock(mutex_);
    while (writing_ && !is_cooling(writing_)) {
      if (Clock::now() >= end || !written_.wait_until(mutex_, end)) break;
    }
    if (is_cooling(writing_) || is_cooling(last_)) return Turn::kCoolDown;
    if (writing_) return Turn::kBusy;
    writing_ = captured;
    return Turn::kTaken;
  }

  // The thread's work.
  void write(Picture& picture, const AsyncWorker<Picture>::Task& task) {
    std::filesystem::path path;
    try {
      path = write_(picture.bgr, picture.label, picture.time);
    } catch (const std::exception& error) {
      // After the deadline the log may be gone.
      if (!task.expired()) failures_.warn(fmt::format("--snapshot-on-change {}", error.what()));
    }
    if (!path.empty() && !task.expired() && failures_.worked()) {
      log_info("--snapshot-on-change: pictures are written again; {} failed", counts().failed);
    }
    {
      const MutexLock lock(mutex_);
      ++(path.empty() ? counts_.failed : counts_.written);
      if (!path.empty()) last_ = picture.captured;
      writing_.reset();
    }
    written_.notify_all();
    picture.path.set_value(std::move(path));
  }

  Counts counts() const {
    const MutexLock lock(mutex_);
    return counts_;
  }

 private:
  const Write write_;
  LogOnce failures_;  // the thread's own
  mutable Mutex mutex_;
  ConditionVariable written_;
  // When these pictures were captured: the one that is handed over or being written, and the last
  // one that was written.
  std::optional<Clock::time_point> writing_ GUARDED_BY(mutex_);
  std::optional<Clock::time_point> last_ GUARDED_BY(mutex_);
  Counts counts_ GUARDED_BY(mutex_);
};

SnapshotReporter::SnapshotReporter(SnapshotFolder folder, std::chrono::milliseconds cooldown,
                                   const SnapshotTrigger& trigger)
    : SnapshotReporter([folder = std::move(folder)](
                           const cv::Mat& bgr, std::string_view label,
                           auto time) mutable { return folder.write(bgr, label, time); },
                       cooldown, trigger) {}

SnapshotReporter::SnapshotReporter(Write write, std::chrono::milliseconds cooldown,
                                   const SnapshotTrigger& trigger)
    : trigger_(trigger),
      cooldown_(cooldown),
      writer_(std::make_shared<Writer>(std::move(write))),
      pictures_("snapshots", [writer = writer_](Picture& picture, const auto& task) {
        writer->write(picture, task);
      }) {}

SnapshotReporter::~SnapshotReporter() { end_by(Clock::now() + kPatience); }

// Predictions below results.threshold are not among the best.
bool SnapshotReporter::is_unsure(const Result& result) const {
  if (!trigger_.unsure_below) return false;
  if (result.top.empty()) return true;
  const Prediction& best = result.top.front();
  return best.index == result.model->unknown || best.score < *trigger_.unsure_below;
}

std::future<std::filesystem::path> SnapshotReporter::take(const Result& result,
                                                          const Frame& frame) {
  const bool changed = trigger_.changes && result.state_changed;
  const bool unsure = !changed && is_unsure(result);
  if (!changed && !unsure) return {};
  const auto wait = trigger_.waits ? kMaxWriterWait : std::chrono::seconds(0);
  const Writer::Turn turn = writer_->begin(frame.captured, cooldown_, Clock::now() + wait);
  if (turn != Writer::Turn::kTaken) {
    ++(turn == Writer::Turn::kCoolDown ? in_cooldown_ : while_busy_);
    return {};
  }
  Picture picture;
  picture.bgr = whole_picture(frame).clone();
  // An unsure frame has the label that a person may confirm.
  picture.label = unsure ? std::string(result.top.empty() ? "unknown" : result.top.front().label)
                         : std::string(result.state.name());
  picture.time = result.timestamp;
  picture.captured = frame.captured;
  auto path = picture.path.get_future();
  pictures_.put(std::move(picture));
  return path;
}

void SnapshotReporter::end_by(Clock::time_point deadline) {
  if (std::exchange(ended_, true)) return;
  const bool in_time = pictures_.end_by(deadline);
  const Writer::Counts counts = writer_->counts();
  if (!in_time) {
    log_warn("--snapshot-on-change: the last picture is not complete: the storage is too slow");
  } else if (counts.written + counts.failed + in_cooldown_ + while_busy_ == 0) {
    return;
  }
  log_info(
      "--snapshot-on-change: {} written, {} failed, {} dropped by the cool-down, {} because "
      "another was being written",
      counts.written, counts.failed, in_cooldown_, while_busy_);
}

}  // namespace lookout
