#include "platform/teach/watch_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>

#include "pipeline/archive/metadata.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxName = 32;
constexpr std::size_t kMaxTitle = 100;  // bytes
constexpr std::size_t kMinClasses = 2;
constexpr double kSmallestRoi = 0.01;

void check_name(const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  const bool ascii = std::all_of(name.begin(), name.end(), allowed);
  if (name.empty() || name.size() > kMaxName || !ascii) {
    throw TeachError(TeachProblem::kBadName,
                     fmt::format("a name has 1 to {} letters, digits, - and _", kMaxName),
                     printable(name));
  }
}

void check_roi(const cv::Rect2d& roi) {
  constexpr double kRounding = 1e-6;
  const bool inside = roi.x >= 0 && roi.y >= 0 && roi.x + roi.width <= 1 + kRounding &&
                      roi.y + roi.height <= 1 + kRounding;
  if (!inside) {
    throw TeachError(TeachProblem::kRegionOutside, "the region lies outside of the picture");
  }
  if (!(roi.width >= kSmallestRoi && roi.height >= kSmallestRoi)) {
    throw TeachError(TeachProblem::kSmallRegion, "the region is too small");
  }
}

}  // namespace

void check_class(const std::string& label) {
  const std::string shown = printable(label);
  if (label.empty() || label.size() > kMaxTitle || shown != label ||
      !problem_of_label(label).empty() || label.front() == ' ' || label.back() == ' ') {
    throw TeachError(TeachProblem::kBadClass,
                     fmt::format("'{}' cannot be the name of a class", shown), shown);
  }
  if (label == kNoneOfThem || label == "unknown") {
    throw TeachError(TeachProblem::kReservedClass,
                     fmt::format("'{}' is what no class is called: it means none of them", label),
                     label);
  }
}

void check_watch(const TaughtWatch& watch, const TeachLimits& limits) {
  check_name(watch.name);
  if (watch.title.size() > kMaxTitle || printable(watch.title) != watch.title) {
    throw TeachError(TeachProblem::kBadTitle, "the title is too long, or no text");
  }
  check_roi(watch.roi);
  for (const std::string& label : watch.classes) check_class(label);
  const std::set<std::string> different(watch.classes.begin(), watch.classes.end());
  if (different.size() < watch.classes.size()) {
    throw TeachError(TeachProblem::kSameClasses, "two classes have the same name");
  }
  if (different.size() < kMinClasses) {
    throw TeachError(TeachProblem::kTooFewClasses, "a watch has two classes at least");
  }
  if (different.size() > limits.classes) {
    throw TeachError(TeachProblem::kTooManyClasses,
                     fmt::format("a watch has {} classes at most", limits.classes),
                     std::to_string(limits.classes));
  }
}

}  // namespace lookout
