#include "app/dataset/eval_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace lookout {

void EvalCounts::record(const std::string& file, std::size_t expected,
                        const std::vector<Prediction>& top, Clock::duration inference,
                        double weight) {
  EvaluatedPicture picture;
  picture.file = file;
  picture.expected = expected;
  picture.inference = inference;
  picture.weight = weight;
  weight_ += weight;
  for (std::size_t i = 0; i < std::min(kTop, top.size()); ++i) {
    picture.predicted.push_back(top[i].index);
    picture.scores.push_back(top[i].score);
  }
  if (picture.in_top()) ++top5_;
  if (picture.right()) ++top1_;
  pictures_.push_back(std::move(picture));
}

std::vector<Confusion> EvalCounts::confusions() const {
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> counts;
  for (const EvaluatedPicture& picture : pictures_) {
    if (picture.predicted.empty() || picture.right()) continue;
    ++counts[{picture.expected, picture.predicted.front()}];
  }
  std::vector<Confusion> found;
  found.reserve(counts.size());
  for (const auto& [pair, count] : counts) found.push_back({pair.first, pair.second, count});
  std::stable_sort(found.begin(), found.end(),
                   [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  return found;
}

std::vector<ClassCounts> EvalCounts::classes() const {
  std::map<std::size_t, ClassCounts> classes;
  for (const EvaluatedPicture& picture : pictures_) {
    ClassCounts& counts = classes[picture.expected];
    counts.index = picture.expected;
    ++counts.pictures;
    counts.weight += picture.weight;
    if (picture.right()) ++counts.top1;
    if (picture.in_top()) ++counts.top5;
  }
  for (const EvaluatedPicture& picture : pictures_) {
    const auto taken =
        picture.predicted.empty() ? classes.end() : classes.find(picture.predicted[0]);
    if (taken != classes.end()) ++taken->second.predicted;
  }
  std::vector<ClassCounts> found;
  found.reserve(classes.size());
  for (const auto& [index, counts] : classes) found.push_back(counts);
  return found;
}

ConfusionMatrix EvalCounts::matrix() const {
  std::set<std::size_t> classes;
  for (const EvaluatedPicture& picture : pictures_) {
    classes.insert(picture.expected);
    if (!picture.predicted.empty()) classes.insert(picture.predicted.front());
  }
  ConfusionMatrix matrix;
  matrix.classes.assign(classes.begin(), classes.end());
  matrix.counts.assign(matrix.classes.size(), std::vector<std::uint64_t>(matrix.classes.size(), 0));
  for (const EvaluatedPicture& picture : pictures_) {
    if (picture.predicted.empty()) continue;
    ++matrix.counts[matrix.place(picture.expected)][matrix.place(picture.predicted.front())];
  }
  return matrix;
}

Calibration EvalCounts::calibration() const {
  std::vector<ScoredPicture> scored;
  for (const EvaluatedPicture& picture : pictures_) {
    if (!picture.scores.empty()) scored.push_back({picture.scores.front(), picture.right()});
  }
  return calibration_of(scored);
}

std::optional<double> percent(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return std::nullopt;
  return 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::string share_text(std::uint64_t part, std::uint64_t all) {
  const auto share = percent(part, all);
  return fmt::format("{} of {}{}", part, all, share ? fmt::format(", {:.2f} %", *share) : "");
}

std::string interval_text(const ConfidenceInterval& interval) {
  return fmt::format("95 % interval {:.1f} to {:.1f} %", 100 * interval.low, 100 * interval.high);
}

std::optional<double> mean_class_percent(const std::vector<ClassCounts>& classes) {
  if (classes.empty()) return std::nullopt;
  double sum = 0;
  for (const ClassCounts& counts : classes) sum += *percent(counts.top1, counts.pictures);
  return sum / static_cast<double>(classes.size());
}

ConfidenceInterval mean_class_interval(const std::vector<ClassCounts>& classes) {
  std::vector<SeenShare> shares;
  shares.reserve(classes.size());
  for (const ClassCounts& counts : classes) {
    shares.push_back({*percent(counts.top1, counts.pictures) / 100, counts.weight});
  }
  return mean_interval(shares);
}

ConfidenceInterval top1_interval(const EvalCounts& counts) {
  return share_interval(percent(counts.top1(), counts.pictures().size()).value_or(0) / 100,
                        counts.weight());
}

std::vector<ClassCounts> worst_classes(const std::vector<ClassCounts>& classes) {
  std::vector<ClassCounts> worst;
  std::copy_if(classes.begin(), classes.end(), std::back_inserter(worst),
               [](const ClassCounts& counts) { return counts.top1 < counts.pictures; });
  std::stable_sort(worst.begin(), worst.end(), [](const ClassCounts& a, const ClassCounts& b) {
    const double share_a = *percent(a.top1, a.pictures);
    const double share_b = *percent(b.top1, b.pictures);
    return share_a != share_b ? share_a < share_b : a.pictures > b.pictures;
  });
  return worst;
}

}  // namespace lookout
