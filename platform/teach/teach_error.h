// Why something cannot be taught now.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace lookout {

enum class TeachProblem {
  // What is not there.
  kNoWatch,
  kNoClass,
  kNoPicture,
  kNoHold,
  kNoModel,
  kNoEvent,    // with a picture
  kNoTrainer,  // nothing is trained here
  // Names that are taken.
  kWatchExists,
  kFixedWatch,  // the run has one of that name, which is not taught
  kClassExists,
  kTitleExists,  // another watch is called so
  // What is not possible just now.
  kChanged,   // somebody else changed it meanwhile
  kHeld,      // another hold has not ended
  kAway,      // the camera is
  kTraining,  // another training has not ended
  // What cannot be.
  kInvalid,  // a request that no page sends
  kBadName,
  kBadTitle,
  kRegionOutside,
  kSmallRegion,
  kBadClass,
  kReservedClass,
  kSameClasses,
  kTooFewClasses,
  kTooManyClasses,
  kTooManyWatches,
  kClassHasPictures,
  kTooFewPictures,
  kDamagedPicture,
  kDamagedModel,
  // Where it is kept.
  kDiskFull,
  kLibraryFull,
  kStorage,  // the disk refuses otherwise, as one that is read-only does
  kHistory,  // it cannot be read
  // What ends a training or a preview.
  kNoBase,
  kNoMemory,
  kNoStart,   // of the process
  kEnded,     // it crashed or was killed
  kNoAnswer,  // it answers nothing, or nonsense
  kFailed,    // the sentence says what
};

struct TeachProblemRow {
  TeachProblem problem;
  const char* code;  // never changes, so that programs and translations may know it
  int status;        // of an HTTP answer
};

const TeachProblemRow& row_of(TeachProblem problem);

class TeachError : public std::runtime_error {
 public:
  // `sentence`: without a full stop, for the one who teaches. `about`: the name or number in it
  // that a translation needs; empty: none.
  TeachError(TeachProblem problem, const std::string& sentence, std::string about = {});

  TeachProblem problem() const { return problem_; }
  const std::string& about() const { return about_; }

 private:
  TeachProblem problem_;
  std::string about_;
};

// Throws TeachError(kWatchExists): the name of a new watch is taken.
[[noreturn]] void refuse_taken_name(const std::string& name);

// Why a training or a preview came to nothing, as a process tells it.
struct TeachFailure {
  TeachFailure() = default;
  TeachFailure(TeachProblem problem, std::string why)
      : code(row_of(problem).code), sentence(std::move(why)) {}

  bool empty() const { return sentence.empty(); }

  std::string code;
  std::string sentence;  // empty: nothing failed
};

}  // namespace lookout
