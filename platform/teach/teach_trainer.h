// Trains what is taught, and knows the models that came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/teach/lesson.h"
#include "platform/teach/teach_library.h"
#include "platform/teach/teach_preview.h"

namespace lookout {

// A training that runs or was the last one.
struct TeachJob {
  enum class State { kRunning, kDone, kFailed, kCancelled };

  std::string watch;
  State state = State::kRunning;
  float done = 0;    // 0..1
  std::string step;  // "pictures", "folds" or "model"
  TeachFailure failure{};
  std::optional<std::chrono::seconds> left{};  // while it runs; nothing: it cannot be told yet
};

// What a picture of the camera looks like.
struct TeachLook {
  std::optional<Preview> preview{};  // nothing: it cannot be told yet
  std::size_t missing = 0;           // pictures of the watch that it does not yet know
  TeachFailure failure{};            // why it cannot be told at all
};

// A model of a taught watch, with what is told of it.
struct TaughtModel {
  std::string sha256;  // of its head file
  std::chrono::system_clock::time_point time;
  std::vector<std::string> classes;
  std::optional<cv::Rect2d> roi{};  // that it looks at; nothing: its report is lost
  bool can_tell = false;            // as LessonResult::can_tell
  RightShare all;
  RightShare day;
  RightShare night;
  std::optional<ConfidenceInterval> interval;
  std::int64_t newest = 0;  // the number of the newest picture that it knows; 0: not known
  std::optional<Comparison> comparison;     // with the model that was in use then
  std::vector<Mistake> mistakes;            // the surest ones first, at most 12
  std::vector<TaughtConfusion> confusions;  // of all mistakes, the most frequent ones first
};

struct TaughtModels {
  std::optional<TaughtModel> used;
  std::optional<TaughtModel> previous;  // which was used before
  std::optional<TaughtModel> trained;   // the newest one, used or not
  std::vector<TaughtModel> kept;        // all that can be used, the newest first
};

// TeachLibrary::file(), which waits for the library.
using PictureFile = std::function<std::filesystem::path(std::int64_t)>;

// For any threads. Functions throw TeachError.
class TeachTrainer {
 public:
  TeachTrainer() = default;
  virtual ~TeachTrainer() = default;
  TeachTrainer(const TeachTrainer&) = delete;
  TeachTrainer& operator=(const TeachTrainer&) = delete;

  // One training at a time: kTraining while another one runs. `pictures`: TeachLibrary::labelled().
  virtual void start(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                     const PictureFile& file) = 0;
  // Nothing happens when none runs, or when its model is just being kept. No model comes of one
  // that was cancelled.
  virtual void cancel() = 0;
  // The one that runs, or the last one.
  virtual std::optional<TeachJob> job() = 0;

  // Looks at a picture of the camera, and computes what a training would have to. `bgr`: the whole
  // frame, turned as people see it. Returns at once; newest_look() tells later. While a training
  // runs, nothing happens.
  virtual void look(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                    const PictureFile& file, cv::Mat bgr) = 0;
  // Nothing: nobody has looked at this watch lately.
  virtual std::optional<TeachLook> newest_look(const std::string& watch) = 0;

  virtual TaughtModels models(const std::string& watch) = 0;
  // The run takes the model between two frames. kNoModel: there is none of that SHA-256.
  virtual void use(const std::string& watch, const std::string& sha256) = 0;
  // The run calls the watch so from now on.
  virtual void rename(const std::string& watch, const std::string& title) = 0;
  // A watch is to be added: models of a former one of its name are not its own, and go.
  // kWatchExists: the run uses one of them. The library waits for this call, so this call must
  // wait for nobody who asks for a PictureFile.
  virtual void begin(const std::string& watch) = 0;
  // The run no longer has this watch; its models stay until keep_only(), or begin().
  virtual void retire(const std::string& watch) = 0;
  // Undoes retire(): the run has the watch again, if it had it.
  virtual void restore(const std::string& watch) = 0;

  // Removes what is kept of other pictures and watches, but no model in use. May take long.
  virtual void keep_only(const TeachLibrary::Contents& contents) = 0;
};

}  // namespace lookout
