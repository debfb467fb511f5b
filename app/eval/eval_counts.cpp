#include "app/eval/eval_counts.h"

#include <algorithm>
#include <cmath>
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
  std::map<std::size_t, ClassCounts> counts;
  std::map<std::size_t, std::uint64_t> predicted;
  for (const EvaluatedPicture& picture : pictures_) {
    ClassCounts& of_class = counts[picture.expected];
    ++of_class.pictures;
    of_class.weight += picture.weight;
    if (picture.right()) ++of_class.top1;
    if (picture.in_top()) ++of_class.top5;
    if (!picture.predicted.empty()) ++predicted[picture.predicted.front()];
  }
  std::vector<ClassCounts> found;
  for (auto& [index, of_class] : counts) {
    of_class.index = index;
    of_class.predicted = predicted[index];
    found.push_back(of_class);
  }
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
  Calibration calibration;
  calibration.bins.resize(kBins);
  std::uint64_t all = 0;
  for (const EvaluatedPicture& picture : pictures_) {
    if (picture.scores.empty()) continue;
    const auto score = static_cast<double>(picture.scores.front());
    const auto bin = static_cast<std::size_t>(std::max(0.0, score) * kBins);
    CalibrationBin& sums = calibration.bins[std::min(bin, kBins - 1)];
    ++sums.pictures;
    sums.mean_score += score;
    sums.accuracy += picture.right() ? 1 : 0;
    ++all;
  }
  double error = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    CalibrationBin& bin = calibration.bins[i];
    bin.from = static_cast<double>(i) / kBins;
    bin.to = static_cast<double>(i + 1) / kBins;
    error += std::abs(bin.mean_score - bin.accuracy);
    const auto pictures = static_cast<double>(std::max<std::uint64_t>(1, bin.pictures));
    bin.mean_score /= pictures;
    bin.accuracy /= pictures;
  }
  if (all > 0) calibration.error = error / static_cast<double>(all);
  return calibration;
}

std::optional<double> percent(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return std::nullopt;
  return 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::optional<double> mean_class_percent(const std::vector<ClassCounts>& classes) {
  if (classes.empty()) return std::nullopt;
  double sum = 0;
  for (const ClassCounts& of_class : classes) sum += *percent(of_class.top1, of_class.pictures);
  return sum / static_cast<double>(classes.size());
}

std::vector<ClassCounts> worst_classes(const std::vector<ClassCounts>& classes) {
  std::vector<ClassCounts> worst;
  std::copy_if(classes.begin(), classes.end(), std::back_inserter(worst),
               [](const ClassCounts& of_class) { return of_class.top1 < of_class.pictures; });
  std::stable_sort(worst.begin(), worst.end(), [](const ClassCounts& a, const ClassCounts& b) {
    const double share_a = *percent(a.top1, a.pictures);
    const double share_b = *percent(b.top1, b.pictures);
    return share_a != share_b ? share_a < share_b : a.pictures > b.pictures;
  });
  return worst;
}

}  // namespace lookout
