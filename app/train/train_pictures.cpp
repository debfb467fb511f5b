#include "app/train/train_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "app/eval/eval_set.h"
#include "pipeline/error.h"
#include "pipeline/log.h"
#include "pipeline/model/model_spec.h"
#include "pipeline/model/sha256.h"
#include "platform/system/csv.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// The labels in a CSV file; it is read and checked as a whole by read_eval_set().
std::set<std::string> labels_in(const std::string& csv) {
  std::set<std::string> labels;
  try {
    for (const CsvRow& row : parse_csv(read_input("labels", csv))) {
      const bool header = row.values == std::vector<std::string>{"file", "label"};
      if (row.values.size() == 2 && !header) labels.insert(row.values[1]);
    }
  } catch (const CsvError&) {
  }
  return labels;
}

std::set<std::string> names_of(const std::vector<fs::path>& folders) {
  std::set<std::string> names;
  for (const fs::path& folder : folders) names.insert(folder.filename().string());
  return names;
}

void check_label(const std::string& label) {
  if (label == kUnknownLabel) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("the class {} has the name of scenes that are none of the classes: call "
                    "it {} if it holds counter-examples",
                    label, kCounterExamples));
  }
  try {
    if (parse_labels(label).size() == 1 && parse_labels(label).front() == label) return;
  } catch (const Error&) {
  }
  throw Error(
      ErrorKind::kBadData,
      fmt::format("the name of class '{}' cannot be a label: it is not one line of UTF-8", label));
}

std::vector<std::string> checked_labels(const std::string& folder,
                                        const std::set<std::string>& names) {
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    if (name == kCounterExamples) continue;
    check_label(name);
    labels.push_back(name);
  }
  if (labels.size() < 2) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{} has {}: a model needs at least two, a folder of pictures for each", folder,
                    labels.empty() ? "no classes" : "one class only, " + labels.front()));
  }
  return labels;
}

// Evenly spread, so that every class and time is among them.
void take_a_part(TrainPictures& pictures) {
  const std::size_t all = pictures.files.size();
  if (all <= kMaxPictures) return;
  for (std::size_t i = 0; i < kMaxPictures; ++i) {
    const std::size_t from = i * all / kMaxPictures;
    pictures.files[i] = pictures.files[from];
    pictures.classes[i] = pictures.classes[from];
  }
  pictures.files.resize(kMaxPictures);
  pictures.classes.resize(kMaxPictures);
  pictures.left_out = all - kMaxPictures;
  log_warn(
      "{} pictures are more than the {} that a model is trained with: every class is "
      "thinned out evenly",
      all, kMaxPictures);
}

// Leaves out pictures that come twice in a class.
TrainPictures without_duplicates(TrainPictures all) {
  TrainPictures kept = all;
  kept.files.clear();
  kept.classes.clear();
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < all.files.size(); ++i) {
    const std::string hash = sha256(read_input("picture", all.files[i]));
    const auto [first, is_new] = seen.emplace(hash, i);
    const std::size_t other = first->second;
    if (is_new) {
      kept.files.push_back(all.files[i]);
      kept.classes.push_back(all.classes[i]);
      kept.hashes.push_back(hash);
    } else if (all.classes[other] == all.classes[i]) {
      ++kept.duplicates;
    } else {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the same picture is in two classes: {} of {} and {} of {}", all.files[other],
                      all.name_of(all.classes[other]), all.files[i], all.name_of(all.classes[i])));
    }
  }
  if (kept.duplicates > 0) {
    log_warn(
        "{} left out: the same as another picture of the class",
        kept.duplicates == 1 ? "1 picture is" : fmt::format("{} pictures are", kept.duplicates));
  }
  return kept;
}

void check_counts(const TrainPictures& pictures) {
  std::vector<std::size_t> counts(pictures.labels.size() + 1);
  for (const std::size_t index : pictures.classes) ++counts[index];
  counts.pop_back();
  require_enough(pictures.labels, counts);
}

}  // namespace

const std::string& TrainPictures::name_of(std::size_t index) const {
  static const std::string counter_examples = kCounterExamples;
  return index < labels.size() ? labels[index] : counter_examples;
}

void require_enough(const std::vector<std::string>& labels,
                    const std::vector<std::size_t>& counts) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (counts[i] >= kMinPictures) continue;
    const std::string have = counts[i] == 0   ? "no pictures"
                             : counts[i] == 1 ? "1 picture"
                                              : fmt::format("{} pictures", counts[i]);
    throw Error(ErrorKind::kBadData,
                fmt::format("class {} has {}: at least {} are needed, better 20 and more",
                            labels[i], have, kMinPictures));
  }
}

TrainPictures read_train_pictures(const std::string& folder, const std::string& csv) {
  const std::set<std::string> names =
      csv.empty() ? names_of(class_folders(folder)) : labels_in(csv);
  TrainPictures pictures;
  pictures.labels = checked_labels(csv.empty() ? folder : csv, names);
  std::vector<std::string> all_labels = pictures.labels;
  if (names.count(kCounterExamples) > 0) all_labels.emplace_back(kCounterExamples);
  const EvalSet set = read_eval_set(folder, csv, all_labels);
  for (std::size_t index = 0; index < all_labels.size(); ++index) {
    for (const std::string& file : set.pictures) {
      if (set.classes.at(file) != index) continue;
      pictures.files.push_back(file);
      pictures.classes.push_back(index);
    }
  }
  check_counts(pictures);
  take_a_part(pictures);
  pictures = without_duplicates(std::move(pictures));
  check_counts(pictures);
  return pictures;
}

std::string hash_of(const TrainPictures& pictures) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < pictures.files.size(); ++i) {
    lines.push_back(pictures.hashes[i] + " " + pictures.name_of(pictures.classes[i]) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return sha256(text);
}

}  // namespace lookout
