// The models that came of what was taught: a folder for each watch.
//
//   0004.head, 0004.json  a model, and what is told of it (taught_report.h)
//   current               which model is in use, and which one was before
//
// Each file is complete when it has its name, so that a run reads while somebody writes.
#pragma once

#include <filesystem>
#include <opencv2/core/types.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/teach/taught_report.h"
#include "platform/teach/teach_trainer.h"

namespace lookout {

// Where they are, beside a TeachLibrary in the folder `library`.
std::filesystem::path models_folder_of(const std::filesystem::path& library);

// A watch with a model in use.
struct TaughtRun {
  std::string watch;
  std::string title;
  cv::Rect2d roi;  // of the training: what the model knows
  std::filesystem::path head;
  std::string
      problem;  // why the model cannot be used, in words that follow its file; empty: it can
};

// Used by one thread at a time; several processes may read the folder. Functions throw TeachError
// for a name that no watch can have, and when the disk refuses.
class TaughtModelStore {
 public:
  // Of a watch, so many of the newest models stay, and the one in use and that before it.
  static constexpr std::size_t kKept = 5;

  // `folder`: it may be missing until a model is kept.
  explicit TaughtModelStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Removes the models of a former watch of that name: a new one has none. kWatchExists: one of
  // them is in use, as after the library was lost, or it cannot be read whether one is.
  void begin(const std::string& watch) const;
  // Where the next model of a watch is to be written, NUMBER.head. Makes the folders.
  std::filesystem::path next_head(const std::string& watch) const;
  // Keeps the model that was written there, and removes old ones.
  void keep(const std::string& watch, const std::filesystem::path& head,
            const TaughtReport& report) const;

  // A model whose report cannot be read is in no list, but told of when it is in use.
  TaughtModels models(const std::string& watch) const;
  // The head in use. Empty: none.
  std::filesystem::path used_head(const std::string& watch) const;

  // kNoModel: there is none of that SHA-256; kDamagedModel: it cannot be used.
  void use(const std::string& watch, const std::string& sha256) const;
  // The run gets this title from now on. Returns whether that changes what it has.
  bool rename(const std::string& watch, const std::string& title) const;
  // None is in use any more.
  void retire(const std::string& watch) const;
  // The one that was in use before retire() is in use again. Returns whether there was one.
  bool restore(const std::string& watch) const;

  // Removes the models of other watches, unless one is in use: a library that was lost does not end
  // what it taught.
  void keep_only(const std::set<std::string>& watches) const;

  // The watches with a model in use, by name. Throws nothing: what cannot be read is a problem.
  std::vector<TaughtRun> in_use() const;

 private:
  struct Choice;

  std::filesystem::path folder_of(const std::string& watch) const;
  void remove_old(const std::filesystem::path& folder) const;

  const std::filesystem::path folder_;
};

}  // namespace lookout
