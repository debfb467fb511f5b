// What an owner taught: watches with their classes, and labelled pictures of whole frames.
//
// A database, kTeachFile, and the pictures beside it. What a function answered is on the disk: a
// crash or a power cut later loses none of it. A picture is written before its row, and removed
// before it, so that no row tells of half a picture. Numbers are never given twice.
//
// No clock is read: times are given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <opencv2/core/types.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/system/picture_files.h"
#include "platform/system/sqlite.h"
#include "platform/system/state_folder.h"
#include "platform/teach/teach_error.h"
#include "platform/teach/trash_clock.h"

namespace lookout {

// A moment on the wall clock, UTC, and on the clock of those who live there.
struct TeachTime {
  std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds> at;
  int minute = 0;  // of the local day, 0..1439
};

// The label of pictures that show none of a watch's classes, as `lookout train` names it.
inline constexpr const char* kNoneOfThem = "_other";

struct TaughtWatch {
  std::string name;   // as WatchInfo::name
  std::string title;  // as WatchInfo::title
  cv::Rect2d roi;     // as View::roi; kept to a millionth
  std::vector<std::string> classes;
  std::int64_t revision = 0;  // grows with each change
};

// How a picture came into the library.
enum class PictureOrigin {
  kHeld,    // a button was held
  kUnsure,  // the model was unsure of it
  kRandom,  // by chance
  kEvent,   // somebody said that its state was wrong
};

struct NewPicture {
  std::string watch;
  std::string label;      // a class, kNoneOfThem, or empty: nobody has told it
  std::int64_t hold = 0;  // begin_hold(); 0: none
  TeachTime time;
  float brightness = 0;  // mean, 0..255
  bool night = false;    // dark, or without colors, as a camera sees by infrared light
  PictureOrigin origin = PictureOrigin::kHeld;
  // The label that a model said, for a picture without one: as `label`; empty: none.
  std::string guess{};
};

struct TaughtPicture : NewPicture {
  std::int64_t number = 0;
  std::int64_t bytes = 0;     // of its file
  std::int64_t revision = 0;  // grows with each change
  bool trashed = false;
};

// What a change makes of a picture.
struct PictureMark {
  std::int64_t number = 0;
  std::string label;  // as NewPicture::label
  bool trashed = false;
  std::int64_t revision = 0;  // that the picture has; 0: any
};

struct PictureQuery {
  std::string watch;
  std::optional<std::string> label;  // nothing: any
  bool trashed = false;
  std::int64_t before = 0;  // numbers below it; 0: all
  std::size_t limit = 100;
  std::optional<PictureOrigin> origin{};  // nothing: any
};

struct TeachLimits {
  std::size_t watches = 8;
  std::size_t classes = 8;  // of a watch
  std::size_t pictures = 2000;
  std::int64_t bytes = std::int64_t{1} << 30;       // of all pictures
  std::size_t unlabelled = 200;                     // of a watch; the oldest ones make room
  std::chrono::hours trash{24 * 7};                 // what is thrown away is kept so long
  std::uintmax_t free = std::uintmax_t{200} << 20;  // bytes of the disk that stay free
};

struct TeachUsage {
  std::size_t pictures = 0;
  std::int64_t bytes = 0;
};

inline constexpr const char* kTeachFile = "library.db";
// The most pictures of a query or a change.
inline constexpr std::size_t kMaxMarks = 500;

// Used by one thread at a time; one in a folder, of all processes. Functions throw TeachError, and
// SqliteError for damage.
class TeachLibrary {
 public:
  // Makes the folder (not its parent) and the database unless they are there. Throws
  // std::system_error and SqliteError.
  explicit TeachLibrary(const std::filesystem::path& folder, const TeachLimits& limits = {});
  TeachLibrary(const TeachLibrary&) = delete;
  TeachLibrary& operator=(const TeachLibrary&) = delete;

  // In the order in which they were added.
  std::vector<TaughtWatch> watches();
  TaughtWatch watch(const std::string& name);
  // Its revision is not used. Returns it as it is kept. People know a watch by its title, or else
  // its name: no two watches get the same (kTitleExists); one that is restored keeps its own.
  // `before` is called when nothing refuses the watch any more, and before it is there; when it
  // throws, there is none.
  TaughtWatch add_watch(const TaughtWatch& watch, const std::function<void()>& before = {});
  // Replaces title, region and classes, when the revision is the one it has. A class goes only when
  // no picture has it; no model's guess is it any more.
  TaughtWatch change_watch(const TaughtWatch& watch);
  // Pictures keep their class.
  TaughtWatch rename_class(const std::string& watch, const std::string& from,
                           const std::string& to);
  // The watch and its pictures can be restored until purge() removes them. `before` as for
  // add_watch(): when it throws, the watch stays.
  void remove_watch(const std::string& name, const TeachTime& now,
                    const std::function<void()>& before = {});
  TaughtWatch restore_watch(const std::string& name);

  // Returns the number of a press of the label's button.
  std::int64_t begin_hold(const std::string& watch, const std::string& label, const TeachTime& now);

  // Returns the picture's number.
  std::int64_t add_picture(const NewPicture& picture, std::string_view jpeg);
  // How many pictures nobody has told a label of, without those that were thrown away.
  std::size_t unlabelled(const std::string& watch);
  // Newest first.
  std::vector<TaughtPicture> pictures(const PictureQuery& query);
  TaughtPicture picture(std::int64_t number);
  // The picture of an event (kEvent) of that time, also one that was thrown away; nothing: there is
  // none.
  std::optional<TaughtPicture> event_picture(const std::string& watch, const TeachTime& time);
  // With a label and not thrown away, oldest first: what a model is trained with.
  std::vector<TaughtPicture> labelled(const std::string& watch);
  std::filesystem::path file(std::int64_t number) const { return pictures_.file(number); }

  // Changes all or none. Returns what undoes it: the marks that the pictures had, with the
  // revisions that they have now.
  std::vector<PictureMark> change(const std::vector<PictureMark>& marks, const TeachTime& now);

  // Removes what was thrown away long ago, a part at a time: to be called until it returns 0.
  // Returns how many pictures that were. On a full disk, too: removing comes before writing.
  //
  // The clock may be wrong, a year ahead or behind. So time counts only as far as the program was
  // seen to run, by this call at its start and once a day (TrashClock).
  std::size_t purge(const TeachTime& now);

  // What there is, with what was thrown away or removed and can be restored.
  struct Contents {
    std::set<std::int64_t> pictures;  // numbers
    std::set<std::string> watches;    // names
  };
  Contents contents();

  TeachUsage usage();
  const TeachLimits& limits() const { return limits_; }

 private:
  template <typename Use>
  auto guarded(Use use);
  void prepare();
  std::int64_t integer(const char* sql);
  std::int64_t watch_id(const std::string& name);
  std::optional<std::int64_t> class_id(std::int64_t watch, const std::string& label);
  TaughtWatch read_watch(std::int64_t id);
  void check_title(std::int64_t id, const TaughtWatch& watch);
  void write_watch(std::int64_t id, const TaughtWatch& watch);
  void write_classes(std::int64_t id, const std::vector<std::string>& classes);
  void make_room(const NewPicture& picture, std::int64_t bytes);
  std::size_t remove_pictures(SqliteStatement& numbers);
  bool remove_oldest(const std::string& condition);
  void insert(const NewPicture& picture, std::int64_t number, std::int64_t bytes);
  PictureMark apply(const PictureMark& mark, const TeachTime& now);

  const TeachLimits limits_;
  const std::filesystem::path folder_;
  const FolderLock lock_;
  const PictureFiles pictures_;
  SqliteDatabase database_;
  TrashClock trash_;
  std::int64_t next_number_ = 1;
};

}  // namespace lookout
