#include "platform/teach/teach_error.h"

#include <array>
#include <cstddef>

namespace lookout {
namespace {

constexpr std::size_t kCount = static_cast<std::size_t>(TeachProblem::kFailed) + 1;

constexpr std::array<TeachProblemRow, kCount> kRows{{
    {TeachProblem::kNoWatch, "no_such_watch", 404},
    {TeachProblem::kNoClass, "no_such_class", 404},
    {TeachProblem::kNoPicture, "no_such_picture", 404},
    {TeachProblem::kNoHold, "no_such_hold", 404},
    {TeachProblem::kNoModel, "no_trained_model", 404},
    {TeachProblem::kNoEvent, "no_such_event", 404},
    {TeachProblem::kNoTrainer, "no_trainer", 404},
    {TeachProblem::kWatchExists, "watch_exists", 409},
    {TeachProblem::kFixedWatch, "fixed_watch", 409},
    {TeachProblem::kClassExists, "class_exists", 409},
    {TeachProblem::kTitleExists, "title_exists", 409},
    {TeachProblem::kChanged, "changed", 409},
    {TeachProblem::kHeld, "held", 409},
    {TeachProblem::kAway, "camera_away", 409},
    {TeachProblem::kTraining, "training", 409},
    {TeachProblem::kInvalid, "invalid", 422},
    {TeachProblem::kBadName, "bad_name", 422},
    {TeachProblem::kBadTitle, "bad_title", 422},
    {TeachProblem::kRegionOutside, "region_outside", 422},
    {TeachProblem::kSmallRegion, "region_too_small", 422},
    {TeachProblem::kBadClass, "bad_class", 422},
    {TeachProblem::kReservedClass, "reserved_class", 422},
    {TeachProblem::kSameClasses, "same_classes", 422},
    {TeachProblem::kTooFewClasses, "too_few_classes", 422},
    {TeachProblem::kTooManyClasses, "too_many_classes", 422},
    {TeachProblem::kTooManyWatches, "too_many_watches", 422},
    {TeachProblem::kClassHasPictures, "class_has_pictures", 422},
    {TeachProblem::kTooFewPictures, "too_few", 422},
    {TeachProblem::kDamagedPicture, "damaged_picture", 422},
    {TeachProblem::kDamagedModel, "damaged_model", 422},
    {TeachProblem::kDiskFull, "disk_full", 507},
    {TeachProblem::kLibraryFull, "library_full", 507},
    {TeachProblem::kStorage, "storage", 503},
    {TeachProblem::kHistory, "no_history", 503},
    {TeachProblem::kNoBase, "no_base", 500},
    {TeachProblem::kNoMemory, "no_memory", 500},
    {TeachProblem::kNoStart, "no_start", 500},
    {TeachProblem::kEnded, "ended", 500},
    {TeachProblem::kNoAnswer, "no_answer", 500},
    {TeachProblem::kFailed, "failed", 500},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].problem) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "each problem has a row, in the order of TeachProblem");

}  // namespace

const TeachProblemRow& row_of(TeachProblem problem) {
  return kRows.at(static_cast<std::size_t>(problem));
}

TeachError::TeachError(TeachProblem problem, const std::string& sentence, std::string about)
    : std::runtime_error(sentence), problem_(problem), about_(std::move(about)) {}

void refuse_taken_name(const std::string& name) {
  throw TeachError(TeachProblem::kWatchExists, "there is a watch '" + name + "' already", name);
}

}  // namespace lookout
