#include "app/train/train_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "app/dataset/class_folders.h"
#include "app/dataset/eval_set.h"
#include "pipeline/archive/metadata.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/core/sha256.h"
#include "platform/system/csv.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

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

const std::string& label_of(const TrainPictures& set, const TrainPicture& picture) {
  static const std::string counter_examples = kCounterExamples;
  return picture.label < set.labels.size() ? set.labels[picture.label] : counter_examples;
}

// Evenly spread, so that every class and time is among them.
void take_a_part(TrainPictures& set) {
  const std::size_t all = set.pictures.size();
  if (all <= kMaxPictures) return;
  for (std::size_t i = 0; i < kMaxPictures; ++i) {
    set.pictures[i] = set.pictures[i * all / kMaxPictures];
  }
  set.pictures.resize(kMaxPictures);
  log_warn(
      "{} pictures are more than the {} that a model is trained with: every class is "
      "thinned out evenly",
      all, kMaxPictures);
}

// By the SHA-256 of a picture: its file and label.
using KnownPictures = std::unordered_map<std::string, std::pair<std::string, std::string>>;

// Leaves out pictures that are known. Throws Error(kBadData) when one is of another class.
void leave_out_known(TrainPictures& set, KnownPictures& known) {
  std::vector<TrainPicture> kept;
  for (TrainPicture& picture : set.pictures) {
    picture.sha256 = sha256(read_input("picture", picture.file));
    const std::string& label = label_of(set, picture);
    const auto [entry, is_new] = known.emplace(picture.sha256, std::pair(picture.file, label));
    const auto& [other_file, other_label] = entry->second;
    if (other_label != label) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the same picture is in two classes: {} of {} and {} of {}",
                              other_file, other_label, picture.file, label));
    }
    if (is_new) kept.push_back(std::move(picture));
  }
  set.duplicates = set.pictures.size() - kept.size();
  set.pictures = std::move(kept);
  if (set.duplicates > 0) {
    log_warn("{} of {} left out: the same as another picture of the class",
             set.duplicates == 1 ? "1 picture is" : fmt::format("{} pictures are", set.duplicates),
             set.folder);
  }
}

// The parts of a set, of which only "train" is there when it is not split.
SplitFolders split_of(const std::string& folder) {
  const std::optional<SplitFolders> parts = find_splits(folder);
  if (!parts) return {folder, "", ""};
  if (parts->train.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("folder {} has parts of a set, but none to train with, {}/train",
                            folder, folder));
  }
  log_info("folder {} is split: training with {}{}{}", folder, parts->train,
           parts->val.empty() ? "" : fmt::format(", measuring on {}", parts->val),
           parts->test.empty() ? "" : fmt::format(", leaving {} for lookout eval", parts->test));
  return *parts;
}

TrainPictures pictures_of_folders(const std::string& folder) {
  const std::vector<ClassFolder> folders = read_class_folders(folder);
  std::set<std::string> names;
  for (const ClassFolder& entry : folders) names.insert(entry.name);
  TrainPictures set;
  set.folder = folder;
  set.labels = checked_labels(folder, names);
  for (const ClassFolder& entry : folders) {
    const auto place = std::find(set.labels.begin(), set.labels.end(), entry.name);
    const auto label = static_cast<std::size_t>(place - set.labels.begin());
    for (const std::string& file : entry.pictures) set.pictures.push_back({file, label, {}, {}, 0});
  }
  return set;
}

TrainPictures pictures_of_set(const EvalSet& set, const std::vector<std::string>& labels) {
  TrainPictures pictures;
  pictures.folder = set.folder;
  pictures.labels = labels;
  for (const auto& [file, label] : set.pictures)
    pictures.pictures.push_back({file, label, {}, {}, 0});
  return pictures;
}

TrainPictures pictures_of_csv(const std::string& folder, const std::string& csv) {
  const std::set<std::string> names = labels_in(csv);
  warn_of_names_that_look_alike({names.begin(), names.end()});
  const std::vector<std::string> labels = checked_labels(csv, names);
  std::vector<std::string> all_labels = labels;
  if (names.count(kCounterExamples) > 0) all_labels.emplace_back(kCounterExamples);
  return pictures_of_set(read_eval_set(folder, csv, all_labels), labels);
}

// So few are no class of their own: held out they would all be wrong, and weigh as much as a class.
void leave_out_few_counter_examples(TrainPictures& set) {
  const auto is_counter_example = [&set](const TrainPicture& picture) {
    return picture.label == set.labels.size();
  };
  const auto count = static_cast<std::size_t>(
      std::count_if(set.pictures.begin(), set.pictures.end(), is_counter_example));
  if (count == 0 || count >= kMinPictures) return;
  log_warn("{} has {} picture{}: fewer than {} are left out", kCounterExamples, count,
           count == 1 ? "" : "s", kMinPictures);
  set.pictures.erase(std::remove_if(set.pictures.begin(), set.pictures.end(), is_counter_example),
                     set.pictures.end());
}

void sort_by_label(TrainPictures& set) {
  std::stable_sort(set.pictures.begin(), set.pictures.end(),
                   [](const TrainPicture& a, const TrainPicture& b) { return a.label < b.label; });
}

}  // namespace

void require_enough(const TrainPictures& set) {
  std::vector<std::size_t> counts(set.labels.size() + 1);
  for (const TrainPicture& picture : set.pictures) ++counts[picture.label];
  for (std::size_t i = 0; i < set.labels.size(); ++i) {
    if (counts[i] >= kMinPictures) continue;
    const std::string have = counts[i] == 0   ? "no pictures"
                             : counts[i] == 1 ? "1 picture"
                                              : fmt::format("{} pictures", counts[i]);
    throw Error(ErrorKind::kBadData,
                fmt::format("class {} has {}: at least {} are needed, better 20 and more",
                            set.labels[i], have, kMinPictures));
  }
}

TrainFolder read_train_pictures(const std::string& folder, const std::string& csv) {
  const SplitFolders parts = csv.empty() ? split_of(folder) : SplitFolders{folder, "", ""};
  TrainFolder read;
  read.train = csv.empty() ? pictures_of_folders(parts.train) : pictures_of_csv(folder, csv);
  require_enough(read.train);
  KnownPictures known;
  const auto prepare = [&known](TrainPictures& set) {
    sort_by_label(set);
    take_a_part(set);
    leave_out_known(set, known);
  };
  prepare(read.train);
  require_enough(read.train);
  leave_out_few_counter_examples(read.train);
  if (!parts.val.empty()) {
    const std::vector<std::string>& labels = read.train.labels;
    read.val = pictures_of_set(read_eval_set(parts.val, "", labels, labels.size()), labels);
    prepare(read.val);
  }
  return read;
}

std::string hash_of(const TrainPictures& set) {
  std::set<std::string> lines;  // no two pictures are the same
  for (const TrainPicture& picture : set.pictures) {
    lines.insert(picture.sha256 + " " + label_of(set, picture) + "\n");
  }
  return sha256(joined(lines, ""));
}

}  // namespace lookout
